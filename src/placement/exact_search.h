#pragma once

#include "placement/device_options.h"
#include "placement/gang_plan.h"
#include "placement/node_states.h"
#include "placement/region.h"
#include "placement/scope_regions.h"
#include "placement/task_placer.h"

#include <cstdint>
#include <vector>

namespace weft {

enum class SearchEnd : uint8_t { kFound, kImpossible, kBudget };

/// Backtracking over everything that can be chosen: regions of scopes, members of groups that need not all run, nodes
/// and devices of tasks. Finds a placement whenever there is one and the steps suffice; the first one found is the best
/// by the order in which scopes prefer their regions.
///
/// Symmetry is broken in three ways: equal tasks go to nodes in ascending order of one list; of nodes that are built
/// alike and in the same state no second one is tried for a task; of devices that are alike neither.
class ExactSearch {
 public:
  ExactSearch(const SearchParts& parts, TaskPlacer& placer, ScopeRegions& regions)
      : parts_(parts), placer_(placer), regions_(regions) {}

  /// kFound: all is placed. Else nothing is. Takes at most `steps_max` of the placer's steps.
  SearchEnd run(const GangTasks& tasks, uint32_t steps_max);

 private:
  enum class SlotKind : uint8_t { kRegion, kMembers, kTask };
  /// One choice to be made, in the order of a walk through the scopes.
  struct Slot {
    SlotKind kind = SlotKind::kTask;
    uint32_t scope = 0;  ///< kTask: the leaf
    uint32_t task = 0;   ///< kTask: its number in the role
    // While the search stands at it or behind it:
    TaskPlacer::Mark mark;
    ScopeRegions::List regions;
    size_t cursor = 0;                    ///< the next region, set of members or node to try
    size_t list_begin = 0, list_end = 0;  ///< kTask: candidates
    size_t first = 0;                     ///< kTask: the first node that this task may try
    uint32_t option = 0;                  ///< kTask: the next choice of devices on the node at `cursor`
    uint64_t last_state = 0;              ///< kRegion: of the last node tried
    uint8_t is_passed = 0;                ///< of a member that is not chosen: nothing to do
  };
  struct Candidate {
    NodeId node = kNone<NodeId>;
    uint64_t build = 0;  ///< how it is built and which roles and domains it can serve
    int64_t rank = 0;    ///< smaller first
  };

  void make_slots(size_t id);
  bool is_active(uint32_t id) const;
  const Region& region_of(uint32_t id) const;
  void open(size_t i);
  bool advance(size_t i);
  void close(size_t i);
  bool next_region(Slot& slot);
  bool next_members(Slot& slot);
  bool next_task(Slot& slot);
  bool is_twin(const Slot& slot, size_t cursor);
  uint64_t state_of(const Candidate& candidate);
  void list_candidates(Slot& slot);
  void drop_needless(size_t begin, size_t role);
  uint64_t build_of(NodeId node);

  SearchParts parts_;
  TaskPlacer& placer_;
  ScopeRegions& regions_;
  const GangTasks* tasks_ = nullptr;
  DeviceDistinctions distinctions_;
  std::vector<Slot> slots_;
  std::vector<Region> region_;       ///< by scope: where it is
  std::vector<uint8_t> has_region_;  ///< by scope: it has a slot of its own
  std::vector<uint64_t> chosen_;     ///< by group: members that are placed
  std::vector<Candidate> candidates_;
  std::vector<std::pair<uint64_t, int32_t>> seen_;  ///< scratch of drop_needless()
  uint32_t steps_end_ = 0;
};

}  // namespace weft
