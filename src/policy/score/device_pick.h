#pragma once

#include "base/ids.h"
#include "model/device.h"
#include "model/shape.h"

#include <cstdint>

namespace weft {

class ClusterState;

/// The devices of the node that a demand of one of the fractional kinds (kMilli, kMemory) fits on, whole or shared
/// already. No bits where the node's devices are not shared. Cost: O(devices).
DeviceMask fitting_devices(const ClusterState& state, NodeId node, const DeviceDemand& demand);

/// Free thousandths of one device: 1000 where nobody has it.
int32_t device_free_milli(const ClusterState& state, NodeId node, unsigned device);

/// The fitting device with the fewest free thousandths, lowest index first; -1 where none fits. The published scores
/// place fractions so.
int best_fit_device(const ClusterState& state, NodeId node, const DeviceDemand& demand);

constexpr bool is_fraction(DeviceNeedKind kind) {
  return kind == DeviceNeedKind::kMilli || kind == DeviceNeedKind::kMemory;
}

/// Thousandths of GPUs that are free on the node, on whole and on shared devices.
int64_t node_free_milli(const ClusterState& state, NodeId node);

/// Thousandths of GPUs that a task of this demand takes: 1000 per whole device. A share by memory counts by the largest
/// of the node's devices, a MIG instance nothing.
int64_t demand_milli(const ClusterState& state, NodeId node, const DeviceDemand& demand);

}  // namespace weft
