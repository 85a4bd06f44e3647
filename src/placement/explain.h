#pragma once

#include "base/ids.h"
#include "model/verdict.h"
#include "placement/gang_plan.h"
#include "placement/role_counts.h"
#include "placement/room_count.h"
#include "placement/task_placer.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weft {

/// How the search for a placement ended, if there was one.
enum class SearchFailure : uint8_t { kNotSearched, kImpossible, kBudget };

/// Says why a gang cannot be placed, by counting. Reasons are looked for in this order, and the first one found is
/// named: the cluster's totals, one node's, a domain's. When the gang could not run even if nothing else did, the
/// counts are of what there is instead of what is free.
///
/// Cost: that of role_counts.h for one role, and O(nodes) until the sums of CPUs, memory and disk are enough, where
/// they are asked for.
class Explainer {
 public:
  explicit Explainer(const SearchParts& parts) : parts_(parts) {}

  /// `placed_most`: the most tasks that a search placed at once. A yes when counting finds no obstacle and nothing was
  /// searched.
  Verdict explain(TaskPlacer& placer, const GangTasks& tasks, ShapeId shape, SearchFailure failure, size_t placed_most);

 private:
  struct Totals {
    int64_t whole = 0, milli = 0, cpu_milli = 0, memory_bytes = 0, disk_bytes = 0;
  };
  enum class Optional : uint8_t { kLeaveOut, kInclude };

  template <typename View>
  bool lacks_totals(const View& view, Verdict& verdict);
  /// Sums until everything that is needed is there.
  template <typename View>
  Totals totals_of(const View& view, const Totals& needed) const;
  Totals totals_needed() const;
  template <typename View>
  bool lacks_nodes(const View& view, Optional optional, Verdict& verdict);
  template <typename View>
  RoleNodeCounts counts_of(const View& view, size_t role);
  template <typename View>
  void fill_nodes(const View& view, size_t role, Verdict& verdict) {
    fill_nodes(role, counts_of(view, role), verdict);
  }
  void fill_nodes(size_t role, const RoleNodeCounts& counts, Verdict& verdict);

  void name_obstacle(size_t role, const RoleNodeCounts& counts, Verdict& verdict) const;
  bool name_total(size_t role, const RoleNodeCounts& counts, Verdict& verdict) const;
  void name_standing(size_t role, const RoleNodeCounts& counts, Verdict& verdict) const;
  void name_amount(size_t role, const RoleNodeCounts& counts, Verdict& verdict) const;

  bool lacks_domain(Verdict& verdict);
  bool lacks_level(size_t id, Verdict& verdict);
  bool lacks_one_node(size_t id, Verdict& verdict);
  void name_search(Verdict& verdict, size_t placed_most) const;

  /// False when counting proves that the gang would not fit even if everything were free and healthy.
  bool could_ever();
  bool could_ever(uint64_t key);  ///< the same, remembered by question_key()
  bool could_ever_lie_in_domain(size_t id);
  bool could_ever_hold(size_t scope, const Region& region) const;
  Verdict why_never();
  uint64_t question_key() const;
  void name_never_domain(Verdict& verdict);

  bool is_optional(size_t role) const { return is_optional_scope(tasks_->plan().roles[role].scope); }
  bool is_optional_scope(size_t scope) const;
  /// The scope bounds where its tasks lie, and cannot be left out.
  bool binds(size_t scope) const;
  OneIsland island_of(size_t role) const;
  int64_t count_in_empty(size_t role, const Region& region, int64_t enough) const;

  SearchParts parts_;
  TaskPlacer* placer_ = nullptr;
  const GangTasks* tasks_ = nullptr;
  const ClusterState* state_ = nullptr;
  ShapeId shape_ = kNone<ShapeId>;

  /// What can never run is asked about again and again; only new nodes could change the answer.
  struct Never {
    size_t nodes = 0;
    Verdict verdict;
  };
  std::unordered_map<uint64_t, Never> nevers_;  ///< by question_key(); looked up, never iterated
  /// Questions that could be answered with yes in an empty cluster. More nodes cannot change that.
  std::unordered_set<uint64_t> possible_;  ///< by question_key(); looked up, never iterated
};

}  // namespace weft
