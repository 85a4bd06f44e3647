#pragma once

#include "model/placement.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Which value an Undo holds. The first group are writes to a node.
enum class UndoKind : uint8_t {
  kNodeFree,
  kNodeShared,
  kNodeCpu,
  kNodeMemory,
  kNodeDisk,
  kNodeWholeTasks,
  kZoneCpu,       ///< part: the zone's number on the node
  kDeviceShare,   ///< part: the device; old: free_milli, share_count << 32
  kDeviceMemory,  ///< part: the device
  kDeviceMig,     ///< part: the device; old: occupied slices, compute << 8, busy fixed instances << 16
  kUsageGpu,      ///< part: 0 the usage, 1 the firm usage
  kUsageCpu,
  kUsageMemory,
  kTask,  ///< old: the state; the placement stands on UndoLog::placements
  kTaskState,
  kJobState,
  kJobStarted,
  kJobExpectedEnd,
  kJobAttempt,
};
constexpr bool is_node_write(UndoKind kind) { return kind <= UndoKind::kDeviceMig; }

/// The value that one cell had before a write.
struct Undo {
  uint64_t old = 0;
  uint32_t id = 0;  ///< of the node, queue, task or job
  UndoKind kind = UndoKind::kNodeFree;
  uint8_t part = 0;  ///< what of it, see UndoKind
};
static_assert(sizeof(Undo) == 16);

/// Old values, oldest first. Kept by ClusterState from one transaction to the next, so that its memory is reused.
struct UndoLog {
  std::vector<Undo> entries;
  std::vector<TaskPlacement> placements;  ///< of the kTask entries, in their order
};

}  // namespace weft
