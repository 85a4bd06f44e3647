#include "placement/greedy_search.h"

#include "placement/scope_need.h"

#include <algorithm>

namespace weft {

namespace {

/// Of single nodes the first few are listed first: mostly one of them will do, and a cluster has thousands that are
/// alike.
constexpr uint32_t kFirstNodes = 16;

}  // namespace

bool GreedySearch::run(const GangTasks& tasks) {
  tasks_ = &tasks;
  has_doubt_ = false;
  placed_most_ = 0;
  return place_scope(0, parts_.regions.cluster(placer_.state()));
}

bool GreedySearch::place_scope(size_t scope, const Region& outer) {
  if (tasks_->scope_tasks(scope) == 0) return true;
  if (regions_.is_plain(scope, outer)) return place_in(scope, outer);
  ScopeRegions::List list = regions_.list(scope, outer, kFirstNodes);
  bool is_placed = place_in_one(scope, list);
  regions_.release(list);
  if (is_placed || !list.is_cut || placer_.steps_left() == 0) return is_placed;
  list = regions_.list(scope, outer);
  is_placed = place_in_one(scope, list);
  regions_.release(list);
  return is_placed;
}

bool GreedySearch::place_in_one(size_t scope, const ScopeRegions::List& list) {
  for (size_t i = list.begin; i < list.end && placer_.steps_left() > 0; ++i) {
    if (place_in(scope, regions_.enter(scope, i))) return true;
  }
  return false;
}

/// All of the scope inside `region`, or nothing.
bool GreedySearch::place_in(size_t scope, const Region& region) {
  const TaskPlacer::Mark mark = placer_.mark();
  if (place_members(scope, region)) return true;
  placed_most_ = std::max(placed_most_, placer_.placed().tasks.size());
  placer_.rollback(mark);
  if (!has_doubt_ && !is_proven(scope, region)) has_doubt_ = true;
  return false;
}

bool GreedySearch::place_members(size_t id, const Region& region) {
  const PlanScope& scope = tasks_->plan().scopes[id];
  if (scope.role >= 0) {
    const auto role = static_cast<size_t>(scope.role);
    return placer_.place(role, region, tasks_->count(role)) == tasks_->count(role);
  }
  if (tasks_->members_needed(id) < tasks_->members_asked(id)) return place_some_members(id, region);
  for (const uint32_t member : scope.in_order) {
    if (!place_scope(member, region)) return false;
  }
  return true;
}

/// As many members as the group needs, in the order in which they are written, passing over those that do not fit.
bool GreedySearch::place_some_members(size_t id, const Region& region) {
  int32_t needed = tasks_->members_needed(id);
  for (const uint32_t member : tasks_->plan().scopes[id].members) {
    if (needed == 0) return true;
    if (tasks_->scope_tasks(member) > 0 && place_scope(member, region)) --needed;
  }
  return needed == 0;
}

bool GreedySearch::is_proven(size_t id, const Region& region) {
  if (placer_.steps_left() == 0) return false;
  if (tasks_->scope_roles(id) == 1 && !tasks_->has_choice(id)) return true;
  const PlanScope& scope = tasks_->plan().scopes[id];
  if (scope.role >= 0 || tasks_->members_needed(id) < tasks_->members_asked(id)) return false;
  if (!has_totals(placer_, sum_scope(*tasks_, id), region)) return true;
  // A member that does not fit by itself keeps the whole out.
  for (const uint32_t member : scope.in_order) {
    if (tasks_->scope_tasks(member) == 0) continue;
    const TaskPlacer::Mark mark = placer_.mark();
    const bool had_doubt = has_doubt_;
    has_doubt_ = false;
    const bool is_placed = place_scope(member, region);
    const bool is_sure = !has_doubt_;
    has_doubt_ = had_doubt;
    placer_.rollback(mark);
    if (!is_placed && is_sure) return true;
  }
  return false;
}

}  // namespace weft
