#pragma once

#include "placement/gang_plan.h"
#include "placement/region.h"
#include "placement/scope_regions.h"
#include "placement/task_placer.h"

#include <cstdint>

namespace weft {

/// The first descent: scopes take their regions best first, members the most constrained first, tasks where the policy
/// wants them, and nothing but the choice of a region is ever taken back. Linear when it succeeds at once.
///
/// For a single role it is exact. For several it can miss a placement (a role took what another needed); has_doubt()
/// says so.
class GreedySearch {
 public:
  GreedySearch(const SearchParts& parts, TaskPlacer& placer, ScopeRegions& regions)
      : parts_(parts), placer_(placer), regions_(regions) {}

  /// True: all is placed. False: nothing is.
  bool run(const GangTasks& tasks);

  /// A failure on the way was not proven: an exact search may find a placement, or a better one.
  bool has_doubt() const { return has_doubt_; }
  /// The most tasks that were placed at once.
  size_t placed_most() const { return placed_most_; }

 private:
  bool place_scope(size_t scope, const Region& outer);
  bool place_in_one(size_t scope, const ScopeRegions::List& list);
  bool place_in(size_t scope, const Region& region);
  bool place_members(size_t id, const Region& region);
  bool place_some_members(size_t id, const Region& region);
  /// After a failure in `region`, with nothing of the scope placed: true when it is proven that the scope cannot lie
  /// there.
  bool is_proven(size_t id, const Region& region);

  SearchParts parts_;
  TaskPlacer& placer_;
  ScopeRegions& regions_;
  const GangTasks* tasks_ = nullptr;
  bool has_doubt_ = false;
  size_t placed_most_ = 0;
};

}  // namespace weft
