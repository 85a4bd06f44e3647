#include "placement/device_choice.h"

#include "base/bits.h"
#include "base/check.h"
#include "placement/node_choice.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <limits>

namespace weft {

Fraction fraction_of(const DeviceDemand& demand, int64_t device_memory_bytes) {
  if (demand.kind == DeviceNeedKind::kMilli) {
    // memory * milli / 1000 without overflow for any memory
    const int64_t whole = device_memory_bytes / 1000 * demand.milli;
    return {.milli = demand.milli, .memory_bytes = whole + device_memory_bytes % 1000 * demand.milli / 1000};
  }
  if (device_memory_bytes <= 0) return {.milli = 1000, .memory_bytes = demand.memory_bytes};
  const int64_t memory = std::min(demand.memory_bytes, device_memory_bytes);
  const bool is_small = memory <= std::numeric_limits<int64_t>::max() / 1000;
  const int64_t milli =
      is_small ? memory * 1000 / device_memory_bytes : std::min<int64_t>(memory / (device_memory_bytes / 1000), 1000);
  return {.milli = static_cast<int32_t>(milli), .memory_bytes = demand.memory_bytes};
}

Reason device_obstacle(const DeviceModel& model, DeviceModelId id, int64_t memory_bytes, const DeviceDemand& demand) {
  if (!demand.models.empty() && !std::ranges::binary_search(demand.models, id)) return Reason::kModel;
  if (model.compute_capability < demand.compute_capability_min) return Reason::kModel;
  if (memory_bytes < demand.memory_bytes_min) return Reason::kGpuMemory;
  if (demand.kind == DeviceNeedKind::kMemory && memory_bytes < demand.memory_bytes) return Reason::kGpuMemory;
  return Reason::kNone;
}

SuitableDevices suitable_devices(const ClusterState& state, NodeId node, const DeviceDemand& demand) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  const DeviceMask all = low_bits(nodes.device_count[n]);
  const bool is_any = demand.models.empty() && demand.memory_bytes_min == 0 && demand.compute_capability_min == 0 &&
                      demand.kind != DeviceNeedKind::kMemory;
  if (is_any || all == 0) return {.devices = all};
  const DeviceTable& devices = state.devices();
  const DeviceCatalogue& catalogue = state.names().devices;
  const size_t first = nodes.first_device[n];
  const Pool& pool = state.pools()[index(nodes.pool[n])];
  if (!pool.is_mixed() && pool.device_memory_bytes_min == pool.device_memory_bytes_max) {
    const DeviceModelId id = devices.model[first];
    const Reason reason = device_obstacle(catalogue.model(id), id, devices.memory_bytes[first], demand);
    return {.devices = reason == Reason::kNone ? all : 0, .reason = reason};
  }
  SuitableDevices suitable;
  Reason last = Reason::kModel;
  for (unsigned d = 0; d < nodes.device_count[n]; ++d) {
    const DeviceModelId id = devices.model[first + d];
    const Reason reason = device_obstacle(catalogue.model(id), id, devices.memory_bytes[first + d], demand);
    if (reason == Reason::kNone) suitable.devices |= uint64_t{1} << d;
    if (reason == Reason::kGpuMemory) last = reason;
  }
  if (suitable.devices == 0) suitable.reason = last;
  return suitable;
}

void DeviceChooser::prepare(const ClusterState& state) {
  links_.prepare(state.layouts());
  migs_.prepare(state.names().devices);
}

Reason DeviceChooser::choose(const ClusterState& state, NodeId node, const TaskDemand& demand, const ChoiceRules& rules,
                             TaskPlacement& out) {
  return NodeChoice({.state = state, .mode = mode_, .links = &links_, .migs = &migs_}, node, demand, rules).run(out);
}

Reason DeviceChooser::fit(const ClusterState& state, NodeId node, const TaskDemand& demand, OneIsland island,
                          DeviceMask& room) {
  const ChoiceRules rules{.island = island};
  return NodeChoice({.state = state, .mode = mode_, .links = &links_, .migs = &migs_}, node, demand, rules).fit(room);
}

Reason standing_obstacle(const ClusterState& state, NodeId node, const TaskDemand& demand) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  if (is_set(demand.node) && demand.node != node) return Reason::kNode;
  if (!std::ranges::includes(nodes.labels[n], demand.labels)) return Reason::kLabel;
  if (!std::ranges::includes(demand.tolerations, nodes.taints[n])) return Reason::kTaint;
  return Reason::kNone;
}

Reason choose_devices(const ClusterState& state, NodeId node, const TaskDemand& demand, LevelNeed island,
                      PackOrSpread devices, int device, TaskPlacement& out) {
  WEFT_CHECK(index(node) < state.nodes().size(), "the node exists");
  const Reason standing = standing_obstacle(state, node, demand);
  if (standing != Reason::kNone) return standing;
  ChoiceRules rules;
  rules.island = island.kind == LevelNeed::Kind::kNvlink ? OneIsland::kYes : OneIsland::kNo;
  rules.device = device;
  if (device >= 0) {
    if (device >= static_cast<int>(kMaxDevicesPerNode)) return Reason::kGpus;
    rules.among = DeviceMask{1} << device;
  }
  return NodeChoice({.state = state, .mode = devices, .links = nullptr, .migs = nullptr}, node, demand, rules).run(out);
}

}  // namespace weft
