#include "placement/node_states.h"

#include "base/bits.h"
#include "base/hash.h"
#include "state/cluster_state.h"

namespace weft {

namespace {

/// Two multiplications of mix64() are more than a fingerprint that is compared node by node needs.
struct Fingerprint {
  uint64_t value = 0x57656674ULL;
  void add(uint64_t x) {
    value = (value ^ x) * 0x9e3779b97f4a7c15ULL;
    value ^= value >> 32;
  }
  void add(int64_t x) { add(static_cast<uint64_t>(x)); }
  uint64_t get() const { return mix64(value) | 1U; }
};

}  // namespace

uint64_t node_fingerprint(const ClusterState& state, NodeId node) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  Fingerprint print;
  print.add(nodes.free[n]);
  print.add(nodes.shared[n]);
  print.add(nodes.healthy[n]);
  print.add(nodes.cordoned[n] << 1 | (state.is_schedulable(node) ? 1U : 0U));
  print.add(nodes.free_cpu_milli[n]);
  print.add(nodes.free_memory_bytes[n]);
  print.add(nodes.free_disk_bytes[n]);
  print.add(nodes.whole_tasks[n]);
  print.add(static_cast<int64_t>(nodes.load_milli[n]));
  const DeviceTable& devices = state.devices();
  const size_t first = nodes.first_device[n];
  for_each_bit(nodes.shared[n], [&](unsigned d) {
    print.add(static_cast<uint64_t>(devices.free_milli[first + d]) << 16 | devices.share_count[first + d]);
    print.add(devices.free_memory_bytes[first + d]);
  });
  for_each_bit(nodes.mig[n], [&](unsigned d) {
    print.add(uint64_t{devices.mig_occupied[first + d]} << 32 | uint64_t{devices.mig_compute_used[first + d]} << 16 |
              devices.mig_fixed_busy[first + d]);
  });
  if (nodes.zone_count[n] > 1) {
    for (size_t z = 0; z < nodes.zone_count[n]; ++z) print.add(state.zones().free_cpu_milli[nodes.first_zone[n] + z]);
  }
  return print.get();
}

uint64_t build_fingerprint(const ClusterState& state, NodeId node) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  Fingerprint print;
  print.add(static_cast<uint64_t>(index(nodes.pool[n])));
  print.add(uint64_t{nodes.layout[n]} << 32 | nodes.zone_count[n]);
  print.add(nodes.total_cpu_milli[n]);
  print.add(nodes.total_memory_bytes[n]);
  print.add(nodes.total_disk_bytes[n]);
  for (size_t z = 0; z < nodes.zone_count[n]; ++z) print.add(state.zones().total_cpu_milli[nodes.first_zone[n] + z]);
  const DeviceTable& devices = state.devices();
  for (size_t row = nodes.first_device[n]; row < nodes.first_device[n] + nodes.device_count[n]; ++row) {
    print.add(uint64_t{index(devices.model[row])} << 8 | static_cast<uint64_t>(devices.mig_cut[row]));
    print.add(devices.memory_bytes[row]);
    for (const FixedInstance& fixed : devices.mig_fixed[row]) print.add(uint64_t{fixed.profile} << 8 | fixed.start);
  }
  return print.get();
}

void NodeStates::sync(const ClusterState& state) {
  const size_t nodes = state.nodes().size();
  const uint64_t changes = state.change_count();
  const bool is_behind =
      changes - seen_changes_ > state.changes_kept() || nodes < now_.size() || changes < seen_changes_;
  if (is_behind || now_.size() != nodes) {
    now_.resize(nodes);
    build_.resize(nodes, 0);
    for (size_t n = 0; n < nodes; ++n) now_[n] = node_fingerprint(state, make_id<NodeId>(n));
  } else {
    NodeId last = kNone<NodeId>;
    for (uint64_t i = seen_changes_; i < changes; ++i) {
      const NodeId node = state.changed_node(i);
      if (node != last) now_[index(node)] = node_fingerprint(state, node);
      last = node;
    }
  }
  seen_changes_ = changes;
}

uint64_t NodeStates::build(const ClusterState& state, size_t node) {
  uint64_t& known = build_[node];
  if (known == 0) known = build_fingerprint(state, make_id<NodeId>(node));
  return known;
}

}  // namespace weft
