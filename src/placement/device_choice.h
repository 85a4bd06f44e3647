#pragma once

#include "base/ids.h"
#include "model/placement.h"
#include "model/policy.h"
#include "model/shape.h"
#include "model/verdict.h"
#include "placement/link_choice.h"
#include "placement/mig_choice.h"

#include <cstdint>

namespace weft {

class ClusterState;

/// What of one device a fractional task takes. Rounded down, so that what fits on paper (ten tenths) fits on the
/// device.
struct Fraction {
  int32_t milli = 0;
  int64_t memory_bytes = 0;
};
/// Requires: kMilli or kMemory. A device of unknown memory (0) has no memory to share out.
Fraction fraction_of(const DeviceDemand& demand, int64_t device_memory_bytes);

enum class OneIsland : uint8_t { kNo, kYes };

/// What bounds the choice of devices on one node beyond the demand.
struct ChoiceRules {
  DeviceMask among = ~DeviceMask{0};  ///< only these devices
  OneIsland island = OneIsland::kNo;  ///< whole devices: all of one NVLink island
  int device = -1;                    ///< kMilli, kMemory: this device when it fits, -1: the chooser's own
};

/// Which of a node's devices a model, memory or compute capability constraint allows; `reason` is set when it allows
/// none.
struct SuitableDevices {
  DeviceMask devices = 0;
  Reason reason = Reason::kNone;
};
SuitableDevices suitable_devices(const ClusterState& state, NodeId node, const DeviceDemand& demand);
/// kNone when a device of this model and memory would do.
Reason device_obstacle(const DeviceModel& model, DeviceModelId id, int64_t memory_bytes, const DeviceDemand& demand);

/// Chooses what one task gets on a node by what is free there. Labels, taints and the pinned node are not looked at:
/// see DemandTable.
///
/// In the order of the filters: devices (kGpus, kGpuMemory, kMig), CPUs, memory, disk, NUMA zone, NVLink island.
/// Whole devices go by link_choice.h, after the NUMA zone where the least (pack) or most (spread) stays free.
/// Fractions: pack takes the shared device with the least left, a free one only if none fits; spread the emptiest.
/// MIG: a fixed instance before a cut; of the devices the one with the least (spread: most) left; the cut by
/// mig_choice.h. Cost: O(devices). Allocates only in prepare().
class DeviceChooser {
 public:
  explicit DeviceChooser(PackOrSpread mode) : mode_(mode), links_(mode) {}

  void prepare(const ClusterState& state);
  /// kNone and `out` filled, or the first filter that the node fails. Requires: prepare() since the last structural
  /// change.
  Reason choose(const ClusterState& state, NodeId node, const TaskDemand& demand, const ChoiceRules& rules,
                TaskPlacement& out);
  /// The same question without the choice: kNone and `room` filled with the devices to choose from, or the first filter
  /// that the node fails. With a NUMA zone or MIG `room` is what choose() would take.
  Reason fit(const ClusterState& state, NodeId node, const TaskDemand& demand, OneIsland island, DeviceMask& room);
  PackOrSpread mode() const { return mode_; }

 private:
  PackOrSpread mode_;
  LinkTables links_;
  MigTables migs_;
};

/// Chooses what one task gets on one node: devices (by link quality; a pair is left whole where a single one will do),
/// NUMA zone, share or MIG placement, and the queue's charge. `island` kNvlink: all whole devices in one island.
/// `device` >= 0 asks for that device (kMilli, kMemory).
/// Returns kNone and fills `out`, or the first reason for which the node cannot take the task; labels, taints and the
/// pinned node are looked at first. Writes nothing to the state. The same answers as a Placer's, without its tables:
/// for single questions. Cost: O(subsets of the free devices). No allocation.
Reason choose_devices(const ClusterState& state, NodeId node, const TaskDemand& demand, LevelNeed island,
                      PackOrSpread devices, int device, TaskPlacement& out);

/// The filters that never change while the node is there: pinned node, labels, taints. kNone when it passes.
Reason standing_obstacle(const ClusterState& state, NodeId node, const TaskDemand& demand);

}  // namespace weft
