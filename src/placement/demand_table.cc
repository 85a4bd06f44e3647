#include "placement/demand_table.h"

#include "base/check.h"
#include "base/hash.h"
#include "placement/device_choice.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

namespace {

/// Equal demands have equal keys; only the fields that tell most demands apart are in it.
uint64_t key_of(const TaskDemand& demand) {
  RunningHash hash;
  hash.add(static_cast<uint64_t>(demand.cpu_milli));
  hash.add(static_cast<uint64_t>(demand.memory_bytes));
  hash.add(static_cast<uint64_t>(demand.devices.kind));
  hash.add(static_cast<uint64_t>(demand.devices.count) << 32 | static_cast<uint64_t>(demand.devices.milli));
  hash.add(static_cast<uint64_t>(demand.devices.memory_bytes));
  for (const DeviceModelId model : demand.devices.models) hash.add(index(model));
  for (const auto& [model, profile] : demand.devices.mig) hash.add(index(model) << 8 | profile);
  hash.add(index(demand.node));
  for (const LabelId label : demand.labels) hash.add(index(label));
  return hash.value();
}

/// Bits [first, size) of one word of a set that grew.
uint64_t new_bits(size_t word, size_t first, size_t size) {
  const size_t begin = word * 64;
  uint64_t bits = low_bits(static_cast<unsigned>(std::min<size_t>(size - begin, 64)));
  if (first > begin) bits &= ~low_bits(static_cast<unsigned>(std::min<size_t>(first - begin, 64)));
  return bits;
}

bool has_mig_of(const ClusterState& state, size_t n, const DeviceDemand& demand) {
  const size_t first = state.nodes().first_device[n];
  bool found = false;
  for_each_bit(state.nodes().mig[n], [&](unsigned d) {
    const DeviceModelId model = state.devices().model[first + d];
    const auto wanted =
        std::ranges::lower_bound(demand.mig, model, {}, &std::pair<DeviceModelId, MigProfileIndex>::first);
    found = found || (wanted != demand.mig.end() && wanted->first == model);
  });
  return found;
}

}  // namespace

Reason pool_obstacle(const ClusterState& state, const Pool& pool, const TaskDemand& demand) {
  const DeviceDemand& devices = demand.devices;
  const DeviceCatalogue& catalogue = state.names().devices;
  if (devices.kind == DeviceNeedKind::kNone) return Reason::kNone;
  Reason reason = Reason::kModel;
  bool is_suitable = false;
  for (const DeviceModelId id : pool.models) {
    const Reason obstacle = device_obstacle(catalogue.model(id), id, pool.device_memory_bytes_max, devices);
    is_suitable = is_suitable || obstacle == Reason::kNone;
    if (obstacle == Reason::kGpuMemory) reason = obstacle;
  }
  if (!is_suitable) return reason;
  const bool is_fraction = devices.kind == DeviceNeedKind::kMilli || devices.kind == DeviceNeedKind::kMemory;
  if (is_fraction && pool.share == ShareMode::kExclusive) return Reason::kGpus;
  return Reason::kNone;
}

DemandId DemandTable::intern(const TaskDemand& demand) {
  std::vector<DemandId>& same_key = by_key_[key_of(demand)];
  for (const DemandId id : same_key) {
    if (demands_[index(id)].task == demand) return id;
  }
  const DemandId id = make_id<DemandId>(demands_.size());
  demands_.emplace_back().task = demand;
  standing_.emplace_back();
  same_key.push_back(id);
  return id;
}

const KnownDemand& DemandTable::get(const ClusterState& state, DemandId id) {
  KnownDemand& demand = demands_[index(id)];
  if (demand.nodes_seen != state.nodes().size()) refresh(state, demand);
  return demand;
}

const BitSet& DemandTable::nodes_with_label(const ClusterState& state, LabelId label) {
  LabelNodes& known = label_nodes_[static_cast<uint32_t>(label)];
  const NodeTable& nodes = state.nodes();
  if (known.nodes_seen == nodes.size()) return known.nodes;
  known.nodes.resize(nodes.size());
  for (size_t n = known.nodes_seen; n < nodes.size(); ++n) {
    if (std::ranges::binary_search(nodes.labels[n], label)) known.nodes.set(n);
  }
  known.nodes_seen = nodes.size();
  return known.nodes;
}

void DemandTable::see_taints(const ClusterState& state) {
  const NodeTable& nodes = state.nodes();
  if (taint_nodes_seen_ == nodes.size()) return;
  for (auto& [taint, of_taint] : taint_nodes_) of_taint.resize(nodes.size());
  for (size_t n = taint_nodes_seen_; n < nodes.size(); ++n) {
    for (const LabelId taint : nodes.taints[n]) {
      auto found = std::ranges::find(taint_nodes_, taint, &std::pair<LabelId, BitSet>::first);
      if (found == taint_nodes_.end()) {
        taint_nodes_.emplace_back(taint, BitSet(nodes.size()));
        found = taint_nodes_.end() - 1;
      }
      found->second.set(n);
    }
  }
  taint_nodes_seen_ = nodes.size();
}

DemandTable::FilterWords DemandTable::filter_words(const ClusterState& state, const KnownDemand& demand, size_t word) {
  FilterWords words{.pinned = ~uint64_t{0}, .labels = ~uint64_t{0}, .taints = ~uint64_t{0}};
  if (is_set(demand.task.node)) {
    const size_t n = index(demand.task.node);
    words.pinned = n / 64 == word ? uint64_t{1} << (n % 64) : 0;
  }
  for (const LabelId label : demand.task.labels) words.labels &= nodes_with_label(state, label).word(word);
  for (const auto& [taint, nodes] : taint_nodes_) {
    if (!std::ranges::binary_search(demand.task.tolerations, taint)) words.taints &= ~nodes.word(word);
  }
  return words;
}

void DemandTable::refresh(const ClusterState& state, KnownDemand& demand) {
  see_taints(state);
  const NodeTable& nodes = state.nodes();
  const std::vector<Pool>& pools = state.pools();
  const DeviceDemand& devices = demand.task.devices;
  for (size_t p = demand.pool_obstacles.size(); p < pools.size(); ++p) {
    demand.pool_obstacles.push_back(pool_obstacle(state, pools[p], demand.task));
    if (demand.pool_obstacles.back() == Reason::kNone && devices.kind != DeviceNeedKind::kNone) {
      demand.pools.push_back(make_id<PoolId>(p));
    }
  }
  demand.suits.resize(nodes.size());
  for (size_t word = demand.nodes_seen / 64; word < demand.suits.word_count(); ++word) {
    const FilterWords filters = filter_words(state, demand, word);
    uint64_t suits = filters.pinned & filters.labels & filters.taints;
    if (devices.kind != DeviceNeedKind::kNone) {
      uint64_t of_pools = 0;
      for (const PoolId pool : demand.pools) of_pools |= pools[index(pool)].nodes.word(word);
      suits &= of_pools;
    }
    suits &= new_bits(word, demand.nodes_seen, nodes.size());
    if (devices.kind == DeviceNeedKind::kMig) {
      for_each_bit(suits, [&](unsigned b) {
        if (!has_mig_of(state, word * 64 + b, devices)) suits &= ~(uint64_t{1} << b);
      });
    }
    demand.suits.data()[word] |= suits;
    demand.suits_count += popcount(suits);
  }
  demand.nodes_seen = nodes.size();
}

const StandingCounts& DemandTable::standing(const ClusterState& state, DemandId id) {
  StandingCounts& counts = standing_[index(id)];
  const size_t nodes = state.nodes().size();
  if (counts.nodes_seen == nodes) return counts;
  const KnownDemand& demand = demands_[index(id)];
  WEFT_CHECK(demand.nodes_seen == nodes, "a demand is brought up to the present nodes before they are counted");
  count_standing(state, demand, counts);
  return counts;
}

/// From the first node on, whatever was counted before: of two reasons at one stage that of the first nodes is named,
/// and it must not depend on who asked how early.
void DemandTable::count_standing(const ClusterState& state, const KnownDemand& demand, StandingCounts& counts) {
  const DeviceDemand& devices = demand.task.devices;
  const bool is_mig = devices.kind == DeviceNeedKind::kMig;
  const Reason no_devices = is_mig ? Reason::kMig : devices.models.empty() ? Reason::kGpus : Reason::kModel;
  counts = {.nodes_seen = demand.nodes_seen};
  for (size_t w = 0; w < demand.suits.word_count(); ++w) {
    uint64_t pass = new_bits(w, 0, demand.nodes_seen);
    const auto filter = [&](FilterStage stage, Reason reason, uint64_t passes) {
      const uint64_t fail = pass & ~passes;
      pass &= passes;
      if (fail == 0) return;
      counts.nodes[static_cast<size_t>(reason)] += popcount(fail);
      if (stage <= counts.furthest) return;
      counts.furthest = stage;
      counts.furthest_reason = reason;
    };
    const FilterWords words = filter_words(state, demand, w);
    filter(FilterStage::kPinned, Reason::kNode, words.pinned);
    filter(FilterStage::kLabels, Reason::kLabel, words.labels);
    filter(FilterStage::kTaints, Reason::kTaint, words.taints);
    if (devices.kind == DeviceNeedKind::kNone) continue;
    for (size_t p = 0; p < demand.pool_obstacles.size() && pass != 0; ++p) {
      const Reason reason = demand.pool_obstacles[p];
      if (reason == Reason::kNone) continue;
      const FilterStage stage = reason == Reason::kModel       ? FilterStage::kModel
                                : reason == Reason::kGpuMemory ? FilterStage::kGpuMemory
                                                               : FilterStage::kSharing;
      filter(stage, reason, ~state.pools()[p].nodes.word(w));
    }
    // What is left over has no devices at all, or none in MIG mode.
    filter(is_mig ? FilterStage::kSharing : FilterStage::kModel, no_devices, demand.suits.word(w));
  }
}

}  // namespace weft
