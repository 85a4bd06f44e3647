#pragma once

#include "base/ids.h"
#include "placement/gang_plan.h"
#include "placement/region.h"
#include "placement/task_placer.h"

#include <cstdint>

namespace weft {

/// What the tasks of one scope need together. Members that need not all be placed are left out of the sums.
struct ScopeNeedSum {
  size_t scope = 0;
  int64_t whole = 0;  ///< whole devices
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int32_t first_role = -1;  ///< in the order of placing
  int32_t only_role = -1;   ///< when there is but one
  bool has_fraction = false;
  bool has_mig = false;
  bool is_single = false;   ///< one task, and none of the scope runs
  bool has_choice = false;  ///< some members need not be placed
};

ScopeNeedSum sum_scope(const GangTasks& tasks, size_t scope);

// Quick tests that never turn away a place that would do.

/// By the histograms of the domain: every role that must be placed finds as many slots for whole devices, and there are
/// enough in sum.
bool could_hold(TaskPlacer& placer, const GangTasks& tasks, const ScopeNeedSum& need, DomainId domain);
/// By sums over the node.
bool could_hold(TaskPlacer& placer, const GangTasks& tasks, const ScopeNeedSum& need, NodeId node);
/// Enough whole devices and CPUs in sum for what must be placed. Cost: O(nodes of the region).
bool has_totals(TaskPlacer& placer, const ScopeNeedSum& need, const Region& region);
/// True when the domain lies wholly inside `outer`.
bool holds(const ClusterState& state, const Region& outer, DomainId domain);

/// Calls visit(node index) for the nodes of the region, ascending.
template <typename Visit>
void for_each_node(const Region& region, Visit&& visit) {
  for (size_t w = region.word_begin(); w < region.word_end(); ++w) {
    for_each_bit(region.word(w), [&](unsigned b) { visit(w * 64 + b); });
  }
}

}  // namespace weft
