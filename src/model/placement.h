#pragma once

#include "base/ids.h"
#include "model/device.h"
#include "model/queue.h"

#include <cstdint>

namespace weft {

inline constexpr uint8_t kNoZone = 0xff;

/// Where one task is and what of the node's devices it owns: a lease. A plain value, the same for a plan and for the
/// running task.
struct TaskPlacement {
  TaskId task = kNone<TaskId>;  ///< kNone in a what-if of a shape without a job
  NodeId node = kNone<NodeId>;
  DeviceNeedKind kind = DeviceNeedKind::kNone;
  uint8_t numa_zone = kNoZone;               ///< set when the task is bound to one zone
  MigProfileIndex mig_profile = kNoProfile;  ///< kMig: in the device's own model
  uint8_t mig_start = 0;                     ///< kMig: first memory slice
  DeviceMask devices = 0;                    ///< kWhole: all of them; kMilli, kMemory, kMig: exactly one bit
  int32_t milli = 0;                         ///< kMilli, kMemory: thousandths of the device taken
  int64_t memory_bytes = 0;                  ///< kMilli, kMemory: of the device's memory taken
  ResourceVector charge;                     ///< what the queue is charged
  bool operator==(const TaskPlacement&) const = default;
};

}  // namespace weft
