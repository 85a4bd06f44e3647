#pragma once

#include "base/ids.h"
#include "model/verdict.h"
#include "placement/demand_table.h"
#include "placement/room_count.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace weft {

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

  /// So many nodes would take so many tasks together.
  void take(uint32_t count, int64_t fit) {
    nodes[static_cast<size_t>(Reason::kNone)] += count;
    tasks += fit;
  }
  /// So many nodes fail here.
  void fail(FilterStage stage, Reason reason, uint32_t count);
  /// A node that failed the furthest filter. Of equal ones the first is kept, in whatever order they come.
  void offer_nearest(NodeId node, int64_t amount);
  /// So many nodes that pass the standing filters have so many devices free each.
  void add_free(unsigned free, uint32_t count) {
    free_devices += int64_t{free} * count;
    most_free = std::max(most_free, static_cast<int32_t>(free));
  }
};

/// At which filter a node fails that fails for this reason, once it passes the standing ones.
FilterStage stage_of(Reason reason);

struct CountQuestion {
  const KnownDemand& demand;
  const StandingCounts& standing;  ///< of the same demand
  int64_t limit = 1;               ///< tasks of the role
  OneIsland island = OneIsland::kNo;
  /// By node, what is known already of one task of this demand: kNone where it fits. For PresentView and a limit of 1;
  /// may be empty.
  std::span<const Reason> known;
};

/// Cost: O(nodes / 64) for whole devices alone; with CPUs, memory or disk O(1) more per node that passes the device
/// filter (fractions, MIG, zones and islands: O(devices) per node that passes the standing ones, unless `known` is
/// given).
template <typename View>
RoleNodeCounts count_role(const View& view, const CountQuestion& question);

extern template RoleNodeCounts count_role(const PresentView&, const CountQuestion&);
extern template RoleNodeCounts count_role(const EmptyView&, const CountQuestion&);

}  // namespace weft
