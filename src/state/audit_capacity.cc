#include "model/catalogue.h"
#include "state/audit.h"

#include <algorithm>
#include <map>

namespace weft {

namespace {

/// The node's label of a level as text, or empty: read from the names, not from the ids that arrival worked with.
std::string label_of(const ClusterState& state, size_t node, const std::string& level) {
  const std::string start = level + "=";
  for (const LabelId label : state.nodes().labels[node]) {
    const std::string& text = state.names().labels.text(label);
    if (text.starts_with(start)) return text;
  }
  return {};
}

}  // namespace

void Auditor::domains() {
  const std::vector<std::string>& levels = state_.names_.levels;
  std::map<std::vector<std::string>, DomainId> seen;  // the path: the level, then its label and all wider ones
  std::map<DomainId, std::vector<std::string>> path_of;
  for (size_t n = 0; n < state_.nodes_.size(); ++n) {
    DomainId parent{0};
    for (size_t level = levels.size(); level-- > 0;) {
      const DomainId domain = state_.nodes_.domains[n][level];
      const std::string label = label_of(state_, n, levels[level]);
      expect(is_set(domain) == !label.empty(), "node {}: level {}: in a domain without the label, or the reverse", n,
             levels[level]);
      if (!is_set(domain)) continue;
      std::vector<std::string> path{levels[level]};
      for (size_t wider = level; wider < levels.size(); ++wider) path.push_back(label_of(state_, n, levels[wider]));
      expect(seen.emplace(path, domain).first->second == domain, "node {}: level {}: two domains have one path", n,
             levels[level]);
      expect(path_of.emplace(domain, path).first->second == path, "node {}: level {}: one domain has two paths", n,
             levels[level]);
      expect(state_.domains_[index(domain)].level == make_id<LevelId>(level), "domain {}: of another level",
             index(domain));
      expect(state_.domains_[index(domain)].parent == parent, "domain {}: of another parent", index(domain));
      parent = domain;
    }
  }
  domain_ranges();
}

void Auditor::domain_ranges() {
  size_t listed = 1;
  for (size_t level = 0; level < state_.domains_by_level_.size(); ++level)
    listed += state_.domains_by_level_[level].size();
  expect(listed == state_.domains_.size(), "domains_at() lists {} domains of {}", listed, state_.domains_.size());
  for (size_t d = 0; d < state_.domains_.size(); ++d) {
    std::vector<size_t> listed_nodes;
    for (const NodeRange& range : state_.domains_[d].ranges) {
      expect(range.count > 0, "domain {}: an empty range", d);
      for (uint32_t i = 0; i < range.count; ++i) listed_nodes.push_back(range.first + i);
    }
    expect(listed_nodes == nodes_of(make_id<DomainId>(d)), "domain {}: its ranges are not its nodes", d);
    expect(state_.domains_[d].node_count == listed_nodes.size(), "domain {}: node_count is off", d);
  }
}

/// By a look at every node.
std::vector<size_t> Auditor::nodes_of(DomainId domain) const {
  std::vector<size_t> nodes;
  for (size_t n = 0; n < state_.nodes_.size(); ++n) {
    const std::vector<DomainId>& domains = state_.nodes_.domains[n];
    if (index(domain) == 0 || std::ranges::find(domains, domain) != domains.end()) nodes.push_back(n);
  }
  return nodes;
}

void Auditor::capacity() {
  const NodeTable& nodes = state_.nodes_;
  const CapacityIndex& capacity = state_.capacity_;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const bool is_schedulable = nodes.is_up[n] == 1 && nodes.is_cordoned[n] == 0;
    bool has_room = false;
    bool has_mig = false;
    for (unsigned d = 0; d < nodes.device_count[n]; ++d) {
      const size_t row = nodes.first_device[n] + d;
      const bool is_usable = is_schedulable && ((nodes.healthy[n] & ~nodes.cordoned[n]) >> d & 1U) != 0;
      const bool is_open = state_.devices_.free_milli[row] > 0 &&
                           (state_.devices_.free_memory_bytes[row] > 0 || state_.devices_.memory_bytes[row] == 0);
      has_room = has_room || (is_usable && (nodes.shared[n] >> d & 1U) != 0 && is_open);
      has_mig = has_mig || (is_usable && (nodes.mig[n] >> d & 1U) != 0);
    }
    const CapacityIndex::NodeRow& row = capacity.rows_[n];
    expect(row.usable == state_.usable(make_id<NodeId>(n)) && row.pool == nodes.pool[n],
           "node {}: its row of the index is off", n);
    expect(capacity.schedulable().test(n) == is_schedulable, "node {}: schedulable() is off", n);
    expect(capacity.with_shared_room().test(n) == has_room, "node {}: with_shared_room() is off", n);
    expect(capacity.with_mig().test(n) == has_mig, "node {}: with_mig() is off", n);
  }
  pools();
  for (size_t d = 0; d < state_.domains_.size(); ++d) histograms(make_id<DomainId>(d), nodes_of(make_id<DomainId>(d)));
}

void Auditor::pools() {
  const NodeTable& nodes = state_.nodes_;
  const CapacityIndex& capacity = state_.capacity_;
  for (size_t p = 0; p < state_.pools_.size(); ++p) {
    const PoolId pool = make_id<PoolId>(p);
    const Pool& row = state_.pools_[p];
    expect(row.nodes.size() == nodes.size(), "pool {}: its set of nodes has another size", p);
    expect(row.nodes.count() == row.node_count, "pool {}: node_count is off", p);
    expect(capacity.free_max(pool) == row.devices_max, "pool {}: free_max() is not the most devices of a node", p);
    std::vector<BitSet> buckets(row.devices_max + 1, BitSet(nodes.size()));
    for (size_t n = 0; n < nodes.size(); ++n) {
      expect(row.nodes.test(n) == (nodes.pool[n] == pool), "pool {}: node {} is off", p, n);
      if (nodes.pool[n] != pool || nodes.is_up[n] == 0 || nodes.is_cordoned[n] != 0) continue;
      buckets[popcount(nodes.free[n] & nodes.healthy[n] & ~nodes.cordoned[n])].set(n);
    }
    for (unsigned free = 0; free < buckets.size(); ++free) {
      expect(capacity.bucket(pool, free) == buckets[free], "pool {}: the bucket of {} free is off", p, free);
    }
  }
}

void Auditor::histograms(DomainId domain, const std::vector<size_t>& nodes) {
  const CapacityIndex& capacity = state_.capacity_;
  std::map<PoolId, std::vector<uint32_t>> expected;
  int64_t free_devices = 0;
  for (const size_t n : nodes) {
    const PoolId pool = state_.nodes_.pool[n];
    if (!is_set(pool) || !state_.is_schedulable(make_id<NodeId>(n))) continue;
    std::vector<uint32_t>& histogram = expected[pool];
    if (histogram.empty()) histogram.resize(capacity.histogram(domain, pool).size(), 0);
    const unsigned free = popcount(state_.nodes_.free[n] & state_.nodes_.healthy[n] & ~state_.nodes_.cordoned[n]);
    ++histogram[free];
    free_devices += free;
  }
  expect(capacity.free_devices(domain) == free_devices, "domain {}: free_devices() is {}, not {}", index(domain),
         capacity.free_devices(domain), free_devices);
  for (size_t p = 0; p < state_.pools_.size(); ++p) {
    const auto histogram = capacity.histogram(domain, make_id<PoolId>(p));
    const auto found = expected.find(make_id<PoolId>(p));
    const bool is_equal = found == expected.end() ? std::ranges::all_of(histogram, [](uint32_t c) { return c == 0; })
                                                  : std::ranges::equal(histogram, found->second);
    expect(is_equal, "domain {}: the histogram of pool {} is off", index(domain), p);
  }
}

}  // namespace weft
