#include "base/check.h"
#include "base/hash.h"
#include "state/cluster_state.h"
#include "state/node_arrival.h"
#include "state/spec_text.h"

#include <algorithm>
#include <bit>

namespace weft {

namespace {

uint64_t layout_key(const LinkLayout& layout) {
  RunningHash hash;
  hash.add(layout.device_count);
  for (const DeviceMask island : layout.islands) hash.add(island);
  for (const uint8_t quality : layout.quality) hash.add(quality);
  for (const DeviceMask zone : layout.zone_devices) hash.add(zone);
  return hash.value();
}

std::vector<DeviceModelId> distinct_models(const NodeArrival& arrival) {
  std::vector<DeviceModelId> models;
  for (const NodeArrival::Device& device : arrival.devices) models.push_back(device.model);
  std::ranges::sort(models);
  models.erase(std::unique(models.begin(), models.end()), models.end());
  return models;
}

std::vector<LabelId> sorted_unique(std::vector<LabelId> labels) {
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

}  // namespace

Result<NodeId> ClusterState::add_node(const NodeSpec& spec) {
  WEFT_CHECK(!has_open_transaction_, "structure does not change inside a transaction");
  auto arrival = check_node(spec, names_);
  if (!arrival) return std::unexpected(std::move(arrival.error()));
  if (capacity_total_.cpu_milli + spec.cpu_milli > kQuantityMax || disk_total_ + spec.disk_bytes > kQuantityMax ||
      capacity_total_.memory_bytes + spec.memory_bytes > kQuantityMax) {
    return invalid("node " + quoted(spec.name) + ": the cluster's CPUs, memory or disk add up to too large a number");
  }
  capacity_total_.cpu_milli += spec.cpu_milli;
  capacity_total_.memory_bytes += spec.memory_bytes;
  disk_total_ += spec.disk_bytes;

  const NodeId node = names_.nodes.intern(spec.name);
  WEFT_CHECK(index(node) == nodes_.size(), "nodes are interned here only");
  append_node_row(spec, *arrival);
  append_devices(spec, *arrival);
  join_domains(node);
  const size_t n = index(node);
  const DeviceMask all = low_bits(nodes_.device_count[n]);
  capacity_.add_node(nodes_.domains[n], nodes_.pool[n], all);
  for (Pool& pool : pools_) pool.nodes.resize(nodes_.size());
  if (is_set(nodes_.pool[n])) {
    Pool& pool = pools_[index(nodes_.pool[n])];
    pool.nodes.set(n);
    ++pool.node_count;
    pool.devices_max = std::max<unsigned>(pool.devices_max, nodes_.device_count[n]);
    capacity_.grow_pool(nodes_.pool[n], pool.devices_max);
  }
  reindex_node(n);
  grow_change_ring();
  write_structure(node);
  return node;
}

void ClusterState::append_node_row(const NodeSpec& spec, NodeArrival& arrival) {
  const DeviceMask all = low_bits(static_cast<unsigned>(spec.devices.size()));
  DeviceMask mig = 0;
  for (size_t d = 0; d < spec.devices.size(); ++d) {
    if (spec.devices[d].mig_mode == MigMode::kOn) mig |= uint64_t{1} << d;
  }
  std::vector<LabelId> labels;
  for (const auto& [key, value] : spec.labels) labels.push_back(names_.labels.intern(label_text(key, value)));
  std::vector<LabelId> taints;
  for (const TaintSpec& taint : spec.taints) taints.push_back(names_.labels.intern(taint.key));

  nodes_.pool.push_back(find_or_add_pool(arrival, spec.share));
  nodes_.device_count.push_back(static_cast<uint16_t>(spec.devices.size()));
  nodes_.layout.push_back(find_or_add_layout(std::move(arrival.layout)));
  nodes_.first_device.push_back(static_cast<uint32_t>(devices_.size()));
  nodes_.first_zone.push_back(static_cast<uint32_t>(zones_.total_cpu_milli.size()));
  nodes_.zone_count.push_back(static_cast<uint16_t>(arrival.zones.size()));
  nodes_.total_cpu_milli.push_back(spec.cpu_milli);
  nodes_.total_memory_bytes.push_back(spec.memory_bytes);
  nodes_.total_disk_bytes.push_back(spec.disk_bytes);
  nodes_.labels.push_back(sorted_unique(std::move(labels)));
  nodes_.taints.push_back(sorted_unique(std::move(taints)));
  nodes_.domains.push_back(domains_of(spec.labels));
  nodes_.is_up.push_back(1);
  nodes_.is_cordoned.push_back(0);
  nodes_.free.push_back(all & ~mig);
  nodes_.healthy.push_back(all);
  nodes_.cordoned.push_back(0);
  nodes_.shared.push_back(0);
  nodes_.mig.push_back(mig);
  nodes_.free_cpu_milli.push_back(spec.cpu_milli);
  nodes_.free_memory_bytes.push_back(spec.memory_bytes);
  nodes_.free_disk_bytes.push_back(spec.disk_bytes);
  nodes_.whole_tasks.push_back(0);
  nodes_.load_milli.push_back(-1);
  for (const NodeArrival::Zone& zone : arrival.zones) {
    zones_.total_cpu_milli.push_back(zone.cpu_milli);
    zones_.free_cpu_milli.push_back(zone.cpu_milli);
    zones_.devices.push_back(zone.devices);
  }
}

void ClusterState::append_devices(const NodeSpec& spec, NodeArrival& arrival) {
  for (size_t d = 0; d < arrival.devices.size(); ++d) {
    NodeArrival::Device& device = arrival.devices[d];
    devices_.model.push_back(device.model);
    devices_.memory_bytes.push_back(device.memory_bytes);
    devices_.free_milli.push_back(1000);
    devices_.free_memory_bytes.push_back(device.memory_bytes);
    devices_.share_count.push_back(0);
    devices_.mig_occupied.push_back(0);
    devices_.mig_compute_used.push_back(0);
    devices_.mig_fixed_busy.push_back(0);
    devices_.mig_cut.push_back(spec.devices[d].mig_cut);
    devices_.mig_fixed.push_back(std::move(device.instances));
  }
}

std::vector<DomainId> ClusterState::domains_of(const std::vector<std::pair<std::string, std::string>>& labels) {
  const size_t levels = names_.levels.size();
  std::vector<LabelId> path(levels, kNone<LabelId>);  // by level
  for (const auto& [key, value] : labels) {
    const LevelId level = names_.find_level(key);
    if (is_set(level)) path[index(level)] = names_.labels.find(label_text(key, value));
  }
  std::vector<DomainId> domains(levels, kNone<DomainId>);
  for (size_t level = levels; level-- > 0;) {  // wide to narrow: parents first
    if (is_set(path[level])) domains[level] = find_or_add_domain(path, level);
  }
  return domains;
}

DomainId ClusterState::find_or_add_domain(std::span<const LabelId> path, size_t level) {
  std::vector<uint32_t> key{static_cast<uint32_t>(level)};
  for (const LabelId label : path.subspan(level)) key.push_back(static_cast<uint32_t>(label));
  const DomainId next = make_id<DomainId>(domains_.size());
  const auto [found, is_new] = domain_of_path_.emplace(std::move(key), next);
  if (!is_new) return found->second;

  Domain domain{.level = make_id<LevelId>(level), .parent = DomainId{0}, .ranges = {}, .node_count = 0};
  for (size_t wider = level + 1; wider < path.size(); ++wider) {
    if (!is_set(path[wider])) continue;
    domain.parent = find_or_add_domain(path, wider);
    break;
  }
  std::string text;
  for (size_t wide = path.size(); wide-- > level;) {
    if (!is_set(path[wide])) continue;
    const std::string& label = names_.labels.text(path[wide]);
    text += (text.empty() ? "" : "/") + label.substr(names_.levels[wide].size() + 1);
  }
  WEFT_CHECK(domains_.size() == index(next), "the parent stood before its child");
  domains_.push_back(std::move(domain));
  domains_by_level_[level].push_back(next);
  names_.domains.push_back(std::move(text));
  capacity_.add_domain();
  return next;
}

void ClusterState::join_domains(NodeId node) {
  const auto join = [&](DomainId id) {
    Domain& domain = domains_[index(id)];
    const auto n = static_cast<uint32_t>(node);
    if (!domain.ranges.empty() && domain.ranges.back().first + domain.ranges.back().count == n) {
      ++domain.ranges.back().count;
    } else {
      domain.ranges.push_back({.first = n, .count = 1});
    }
    ++domain.node_count;
  };
  join(DomainId{0});
  for (const DomainId domain : nodes_.domains[index(node)]) {
    if (is_set(domain)) join(domain);
  }
}

PoolId ClusterState::find_or_add_pool(const NodeArrival& arrival, ShareMode share) {
  if (arrival.devices.empty()) return kNone<PoolId>;
  Pool pool{.models = distinct_models(arrival), .share = share, .nodes = {}};
  const auto [low, high] = std::ranges::minmax(arrival.devices, {}, &NodeArrival::Device::memory_bytes);
  pool.device_memory_bytes_min = low.memory_bytes;
  pool.device_memory_bytes_max = high.memory_bytes;
  for (size_t i = 0; i < pools_.size(); ++i) {
    const Pool& known = pools_[i];
    if (known.models == pool.models && known.share == share &&
        known.device_memory_bytes_min == pool.device_memory_bytes_min &&
        known.device_memory_bytes_max == pool.device_memory_bytes_max) {
      return make_id<PoolId>(i);
    }
  }
  pools_.push_back(std::move(pool));
  capacity_.add_pool();
  return make_id<PoolId>(pools_.size() - 1);
}

uint32_t ClusterState::find_or_add_layout(LinkLayout layout) {
  std::vector<uint32_t>& same_key = layouts_by_key_[layout_key(layout)];
  for (const uint32_t i : same_key) {
    if (layouts_[i] == layout) return i;
  }
  layouts_.push_back(std::move(layout));
  same_key.push_back(static_cast<uint32_t>(layouts_.size() - 1));
  return same_key.back();
}

/// One entry a node, so that a cache may fall behind by as many changes as it would read to start anew.
void ClusterState::grow_change_ring() {
  const size_t size = std::bit_ceil(nodes_.size());
  if (size <= change_ring_.size()) return;
  std::vector<NodeId> ring(size, NodeId{0});
  const uint64_t kept = changes_kept();
  for (uint64_t i = change_count_ - kept; i < change_count_; ++i) ring[i & (size - 1)] = changed_node(i);
  change_ring_ = std::move(ring);
  first_change_ = change_count_ - kept;
}

}  // namespace weft
