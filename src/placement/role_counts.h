#pragma once

#include "base/ids.h"
#include "model/verdict.h"
#include "placement/demand_table.h"
#include "placement/room_count.h"

#include <array>
#include <cstdint>
#include <span>

namespace weft {

/// The filters in their order. Those up to kSharing never change while a node is there.
enum class FilterStage : int8_t {
  kNothing = -1,
  kPinned,
  kLabels,
  kTaints,
  kModel,
  kGpuMemory,
  kSharing,  ///< MIG or the sharing mode
  kAvailable,
  kDevices,
  kCpus,
  kMemory,
  kDisk,
  kNuma,
  kNvlink,
};

/// What counting all nodes for one role gives.
struct RoleNodeCounts {
  std::array<uint32_t, kReasonCount> nodes{};  ///< by the first filter that they fail; kNone: would take a task
  uint32_t down = 0, cordoned = 0;             ///< of kUnavailable
  int64_t tasks = 0;                           ///< that fit together, each node up to the role's count
  int64_t free_devices = 0;                    ///< whole ones on nodes that pass the standing filters
  int64_t free_milli = 0;                      ///< for fractions, the same
  int64_t free_slices = 0;                     ///< compute slices for MIG, the same
  int32_t most_free = 0;                       ///< whole devices on one node of these
  FilterStage furthest = FilterStage::kNothing;
  Reason furthest_reason = Reason::kNone;
  int64_t nearest = 0;  ///< the most of what the furthest filter asks for on one node
  NodeId nearest_node = kNone<NodeId>;
};

struct CountQuestion {
  const KnownDemand& demand;
  int64_t limit = 1;  ///< tasks of the role
  OneIsland island = OneIsland::kNo;
  /// By node, what is known already of one task of this demand: kNone where it fits. For PresentView and a limit of 1;
  /// may be empty.
  std::span<const Reason> known;
};

/// Cost: O(nodes / 64) per filter, O(1) per node that passes the device filter (fractions, MIG, zones and islands:
/// O(devices) per node that passes the standing ones, unless `known` is given).
template <typename View>
RoleNodeCounts count_role(const View& view, DemandTable& demands, const CountQuestion& question);

extern template RoleNodeCounts count_role(const PresentView&, DemandTable&, const CountQuestion&);
extern template RoleNodeCounts count_role(const EmptyView&, DemandTable&, const CountQuestion&);

}  // namespace weft
