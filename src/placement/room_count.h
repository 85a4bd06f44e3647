#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "model/shape.h"
#include "model/verdict.h"
#include "placement/device_choice.h"
#include "placement/mig_choice.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// What is free at present.
struct PresentView {
  const ClusterState& state;
  bool is_there(NodeId node) const { return state.is_schedulable(node); }
  DeviceMask whole(NodeId node) const { return state.available(node); }
  DeviceMask shareable(NodeId node) const {
    return (state.nodes().free[index(node)] | state.nodes().shared[index(node)]) & state.usable(node);
  }
  DeviceMask mig(NodeId node) const { return state.nodes().mig[index(node)] & state.usable(node); }
  const std::vector<int64_t>& cpu_milli() const { return state.nodes().free_cpu_milli; }
  int64_t cpu_milli(size_t n) const { return cpu_milli()[n]; }
  const std::vector<int64_t>& memory_bytes() const { return state.nodes().free_memory_bytes; }
  int64_t memory_bytes(size_t n) const { return memory_bytes()[n]; }
  const std::vector<int64_t>& disk_bytes() const { return state.nodes().free_disk_bytes; }
  int64_t disk_bytes(size_t n) const { return disk_bytes()[n]; }
  int64_t zone_cpu_milli(size_t row) const { return state.zones().free_cpu_milli[row]; }
  int32_t device_milli(size_t row) const { return state.devices().free_milli[row]; }
  int64_t device_memory_bytes(size_t row) const { return state.devices().free_memory_bytes[row]; }
  MigUse mig_use(size_t row) const {
    return {.occupied = state.devices().mig_occupied[row], .compute_used = state.devices().mig_compute_used[row]};
  }
  uint32_t fixed_busy(size_t row) const { return state.devices().mig_fixed_busy[row]; }
};

/// What would be free if nothing ran and everything were up and healthy.
struct EmptyView {
  const ClusterState& state;
  bool is_there(NodeId) const { return true; }
  DeviceMask whole(NodeId node) const {
    return low_bits(state.nodes().device_count[index(node)]) & ~state.nodes().mig[index(node)];
  }
  DeviceMask shareable(NodeId node) const { return whole(node); }
  DeviceMask mig(NodeId node) const { return state.nodes().mig[index(node)]; }
  const std::vector<int64_t>& cpu_milli() const { return state.nodes().total_cpu_milli; }
  int64_t cpu_milli(size_t n) const { return cpu_milli()[n]; }
  const std::vector<int64_t>& memory_bytes() const { return state.nodes().total_memory_bytes; }
  int64_t memory_bytes(size_t n) const { return memory_bytes()[n]; }
  const std::vector<int64_t>& disk_bytes() const { return state.nodes().total_disk_bytes; }
  int64_t disk_bytes(size_t n) const { return disk_bytes()[n]; }
  int64_t zone_cpu_milli(size_t row) const { return state.zones().total_cpu_milli[row]; }
  int32_t device_milli(size_t) const { return 1000; }
  int64_t device_memory_bytes(size_t row) const { return state.devices().memory_bytes[row]; }
  MigUse mig_use(size_t) const { return {}; }
  uint32_t fixed_busy(size_t) const { return 0; }
};

/// The most n <= limit with n * each <= free. A few steps down are cheaper than a division where limits are small.
inline int64_t fit_count(int64_t free, int64_t each, int64_t limit) {
  if (each <= 0 || limit <= 0) return limit;
  if (limit > 8 || each > free) return std::min(limit, free / each);
  while (limit * each > free) --limit;
  return limit;
}

/// How many equal tasks a node takes together, and if none, the first filter that it fails (in the order of
/// DeviceChooser).
struct NodeRoomCount {
  Reason reason = Reason::kNone;
  int64_t tasks = 0;
};

/// Labels, taints and pinned nodes are not looked at; `limit` bounds the count. Cost: O(devices).
template <typename View>
NodeRoomCount count_room(const View& view, NodeId node, const TaskDemand& demand, const ChoiceRules& rules,
                         int64_t limit);

extern template NodeRoomCount count_room(const PresentView&, NodeId, const TaskDemand&, const ChoiceRules&, int64_t);
extern template NodeRoomCount count_room(const EmptyView&, NodeId, const TaskDemand&, const ChoiceRules&, int64_t);

}  // namespace weft
