#include "placement/score_cache.h"

#include "base/check.h"
#include "base/hash.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

namespace {

constexpr uint32_t kNoTable = ~uint32_t{0};
constexpr int32_t kOpenDeviceBonus = 1 << 29;

bool is_fraction(const TaskDemand& demand) {
  return demand.devices.kind == DeviceNeedKind::kMilli || demand.devices.kind == DeviceNeedKind::kMemory;
}

int32_t clamp_score(int64_t score) {
  constexpr int64_t kLowest = ScoreCache::kUnfit + int64_t{1};
  return static_cast<int32_t>(std::clamp<int64_t>(score, kLowest, std::numeric_limits<int32_t>::max()));
}

int64_t data_bytes(std::span<const DataLocation> data, NodeId node) {
  const auto found = std::ranges::lower_bound(data, node, {}, &DataLocation::node);
  return found != data.end() && found->node == node ? found->bytes : 0;
}

}  // namespace

ScoreCache::ScoreCache(const PolicyConfig& config, std::vector<ActiveScore> scores)
    : config_(config), scores_(std::move(scores)) {
  for (const ActiveScore& active : scores_) {
    WEFT_CHECK(active.score != nullptr, "an active score is there");
    const bool is_of_node = active.score->depends_on() == NodeScore::DependsOn::kNode;
    (is_of_node ? node_scores_ : cluster_scores_).push_back(active);
  }
  one_device_.devices.kind = DeviceNeedKind::kWhole;
  one_device_.devices.count = 1;
}

NodeScore::IndexOrder ScoreCache::index_order(const ClusterState& state, const TaskDemand& demand) const {
  if (scores_.empty() && demand.devices.kind == DeviceNeedKind::kWhole) {
    return config_.nodes == PackOrSpread::kPack ? NodeScore::IndexOrder::kFewestFreeFirst
                                                : NodeScore::IndexOrder::kMostFreeFirst;
  }
  if (scores_.size() != 1 || scores_.front().weight <= 0) return NodeScore::IndexOrder::kNone;
  return scores_.front().score->index_order(state, demand);
}

void ScoreCache::set_workload(const TargetWorkload& workload) {
  workload_ = workload;
  ++workload_version_;
}

ScoreContext ScoreCache::context(const ClusterState& state, uint64_t draw) const {
  return {.state = state,
          .workload = workload_,
          .seed = config_.random_seed,
          .draw = draw,
          .workload_version = workload_version_};
}

int64_t ScoreCache::sum(std::span<const ActiveScore> scores, const ScoreContext& of, const TaskDemand& demand,
                        NodeId node, int& device) const {
  int64_t total = 0;
  for (const ActiveScore& active : scores) {
    int wish = -1;
    total += int64_t{active.weight} * active.score->score(of, node, demand, wish);
    if (device < 0) device = wish;
  }
  return total;
}

int32_t ScoreCache::compute(const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query, NodeId node,
                            int& device, Reason& obstacle) const {
  device = -1;
  obstacle = Reason::kModel;
  const TaskDemand& task = query.demand.task;
  if (!query.demand.suits.test(index(node))) return kUnfit;
  DeviceMask room = 0;
  obstacle = chooser.fit(state, node, task, query.region.island, room);
  if (obstacle != Reason::kNone) return kUnfit;
  if (scores_.empty()) {
    const auto free = static_cast<int32_t>(popcount(state.available(node)));
    return config_.nodes == PackOrSpread::kPack ? -free : free;
  }
  const int64_t score = sum(node_scores_, context(state, 0), task, node, device);
  const bool is_open = opens_last_ && is_fraction(task) && (room & state.nodes().shared[index(node)]) != 0;
  if (!is_open) return clamp_score(score);
  return clamp_score(std::clamp<int64_t>(score, -kOpenDeviceBonus, kOpenDeviceBonus) + int64_t{2} * kOpenDeviceBonus);
}

/// Where whole devices are packed by their number alone, a fraction opens a free device only when no shared one in
/// reach has room.
void ScoreCache::see_policy(const ClusterState& state, const DeviceChooser& chooser, const TaskDemand& demand) {
  if (!is_fraction(demand) || chooser.mode() != PackOrSpread::kPack) return;
  opens_last_ = index_order(state, one_device_) == NodeScore::IndexOrder::kFewestFreeFirst;
}

void ScoreCache::store(Table& table, size_t node, int32_t score) {
  const int32_t before = table.score[node];
  if (before == score) return;
  table.score[node] = score;
  int32_t& most = table.block_max[node / 64];
  if (score >= most) {
    most = score;
  } else if (before == most) {
    table.is_stale.set(node / 64);
  }
}

void ScoreCache::rescore(Table& table, const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query,
                         size_t node) {
  if (!query.demand.suits.test(node)) return;
  const uint64_t now = states_.fingerprint(node);
  if (table.fingerprint[node] == now) return;
  table.fingerprint[node] = now;
  int device = -1;
  const int32_t score = compute(state, chooser, query, make_id<NodeId>(node), device, table.obstacle[node]);
  table.device[node] = static_cast<int16_t>(device);
  store(table, node, score);
}

/// At first sight of a demand most nodes of a cluster are alike: each kind is scored once.
void ScoreCache::rescore_all(Table& table, const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query) {
  std::ranges::fill(alike_, Alike{});
  for (size_t n = 0; n < table.nodes; ++n) {
    if (!query.demand.suits.test(n)) continue;
    const uint64_t key = mix64(states_.fingerprint(n) ^ mix64(states_.build(state, n))) | 1U;
    Alike& known = alike_[(key >> 32) % kAlikeMax];
    if (known.key == key) {
      table.fingerprint[n] = states_.fingerprint(n);
      table.device[n] = known.device;
      table.obstacle[n] = known.obstacle;
      store(table, n, known.score);
      continue;
    }
    rescore(table, state, chooser, query, n);
    known = {.key = key, .score = table.score[n], .device = table.device[n], .obstacle = table.obstacle[n]};
  }
}

void ScoreCache::reset(Table& table, const ScoreQuery& query, size_t nodes) const {
  table.id = query.id;
  table.island = query.region.island;
  table.workload_version = workload_version_;
  table.nodes = 0;
  table.fingerprint.assign(nodes, 0);
  table.score.assign(nodes, kUnfit);
  table.device.assign(nodes, -1);
  table.obstacle.assign(nodes, Reason::kModel);
  table.block_max.assign((nodes + 63) / 64, kUnfit);
  table.is_stale.resize(table.block_max.size());
  table.is_stale.clear();
}

ScoreCache::Table& ScoreCache::table_for(const ClusterState& state, const ScoreQuery& query) {
  const size_t key = index(query.id) * 2 + (query.region.island == OneIsland::kYes ? 1 : 0);
  if (table_of_.size() <= key) table_of_.resize(key + 1, kNoTable);
  const size_t nodes = state.nodes().size();
  uint32_t& of_demand = table_of_[key];
  if (of_demand != kNoTable && tables_[of_demand].workload_version != workload_version_)
    reset(tables_[of_demand], query, nodes);
  if (of_demand == kNoTable) {
    const size_t bytes = nodes * (sizeof(uint64_t) + sizeof(int32_t) + sizeof(int16_t) + sizeof(Reason)) + 1;
    if (tables_.size() < std::max(kTablesMin, kTableBytesMax / bytes)) {
      of_demand = static_cast<uint32_t>(tables_.size());
      tables_.emplace_back();
    } else {
      const auto oldest = std::ranges::min_element(tables_, {}, &Table::last_used);
      of_demand = static_cast<uint32_t>(oldest - tables_.begin());
      table_of_[index(oldest->id) * 2 + (oldest->island == OneIsland::kYes ? 1 : 0)] = kNoTable;
    }
    reset(tables_[of_demand], query, nodes);
  }
  tables_[of_demand].last_used = ++uses_;
  return tables_[of_demand];
}

void ScoreCache::refresh(Table& table, const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query) {
  states_.sync(state);
  const size_t nodes = state.nodes().size();
  const uint64_t changes = state.change_count();
  const bool is_all =
      table.nodes != nodes || changes - table.seen_changes > std::min<uint64_t>(state.changes_kept(), nodes);
  if (table.nodes < nodes) {
    table.fingerprint.resize(nodes, 0);
    table.score.resize(nodes, kUnfit);
    table.device.resize(nodes, -1);
    table.obstacle.resize(nodes, Reason::kModel);
    table.block_max.resize((nodes + 63) / 64, kUnfit);
    table.is_stale.resize(table.block_max.size());
    table.nodes = nodes;
  }
  if (is_all) {
    rescore_all(table, state, chooser, query);
  } else {
    for (uint64_t i = table.seen_changes; i < changes; ++i)
      rescore(table, state, chooser, query, index(state.changed_node(i)));
  }
  table.seen_changes = changes;
}

int32_t ScoreCache::block_max(Table& table, size_t block) {
  if (!table.is_stale.test(block)) return table.block_max[block];
  table.is_stale.reset(block);
  const size_t end = std::min(table.score.size(), block * 64 + 64);
  int32_t most = kUnfit;
  for (size_t n = block * 64; n < end; ++n) most = std::max(most, table.score[n]);
  table.block_max[block] = most;
  return most;
}

ScoredNode ScoreCache::best_cached(Table& table, const ScoreQuery& query) const {
  const Region& region = query.region;
  int32_t best = kUnfit;
  size_t best_node = 0;
  for (size_t w = region.word_begin(); w < region.word_end(); ++w) {
    if (block_max(table, w) <= best) continue;
    for_each_bit(region.word(w), [&](unsigned b) {
      const size_t n = w * 64 + b;
      if (n >= table.score.size() || table.score[n] <= best) return;
      best = table.score[n];
      best_node = n;
    });
  }
  if (best == kUnfit) return {};
  int64_t most_bytes = data_bytes(query.data, make_id<NodeId>(best_node));
  for (const DataLocation& at : query.data) {
    const size_t n = index(at.node);
    if (at.bytes <= most_bytes || n >= table.score.size() || table.score[n] != best || !region.has_node(n)) continue;
    most_bytes = at.bytes;
    best_node = n;
  }
  return {.node = make_id<NodeId>(best_node), .device = table.device[best_node]};
}

ScoredNode ScoreCache::best_afresh(Table& table, const ClusterState& state, const ScoreQuery& query) const {
  const Region& region = query.region;
  const ScoreContext with = context(state, query.draw);
  ScoredNode best;
  int64_t best_score = 0;
  int64_t best_bytes = 0;
  for (size_t w = region.word_begin(); w < region.word_end(); ++w) {
    if (block_max(table, w) == kUnfit) continue;
    for_each_bit(region.word(w), [&](unsigned b) {
      const size_t n = w * 64 + b;
      if (n >= table.score.size() || table.score[n] == kUnfit) return;
      const NodeId node = make_id<NodeId>(n);
      int device = table.device[n];
      const int64_t score = table.score[n] + sum(cluster_scores_, with, query.demand.task, node, device);
      const int64_t bytes = query.data.empty() ? 0 : data_bytes(query.data, node);
      const bool is_better = !is_set(best.node) || score > best_score || (score == best_score && bytes > best_bytes);
      if (!is_better) return;
      best = {.node = node, .device = device};
      best_score = score;
      best_bytes = bytes;
    });
  }
  return best;
}

ScoredNode ScoreCache::best(const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query) {
  see_policy(state, chooser, query.demand.task);
  Table& table = table_for(state, query);
  refresh(table, state, chooser, query);
  return cluster_scores_.empty() ? best_cached(table, query) : best_afresh(table, state, query);
}

std::span<const Reason> ScoreCache::obstacles(const ClusterState& state, DeviceChooser& chooser,
                                              const ScoreQuery& query) {
  see_policy(state, chooser, query.demand.task);
  Table& table = table_for(state, query);
  refresh(table, state, chooser, query);
  return table.obstacle;
}

int32_t ScoreCache::score_of(const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query, NodeId node,
                             int& device) {
  see_policy(state, chooser, query.demand.task);
  Reason obstacle = Reason::kNone;
  const int32_t score = compute(state, chooser, query, node, device, obstacle);
  if (score == kUnfit || cluster_scores_.empty()) return score;
  return clamp_score(score + sum(cluster_scores_, context(state, query.draw), query.demand.task, node, device));
}

}  // namespace weft
