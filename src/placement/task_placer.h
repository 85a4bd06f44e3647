#pragma once

#include "base/ids.h"
#include "model/policy.h"
#include "placement/demand_table.h"
#include "placement/device_choice.h"
#include "placement/gang_plan.h"
#include "placement/placer.h"
#include "placement/region.h"
#include "placement/score_cache.h"
#include "state/transaction.h"

#include <cstdint>

namespace weft {

/// What every part of a search works with. Owned by the Placer.
struct SearchParts {
  const PolicyConfig& config;
  DeviceChooser& chooser;
  DemandTable& demands;
  ScoreCache& scores;
  RegionMaker& regions;
};

/// Places equal tasks one after the other where the policy wants them, within one region, and takes what they get in
/// the transaction.
///
/// Where the capacity index serves the policy's order, nodes come from its bitmaps in one sweep; else each task goes to
/// the node with the best score. For equal tasks both find room for as many as there is room for.
class TaskPlacer {
 public:
  explicit TaskPlacer(const SearchParts& parts) : parts_(parts) {}

  /// Without a transaction nothing can be placed, only counted.
  void begin(const ClusterState& state, Transaction* txn, GangTasks& tasks, GangPlan& plan, GangPlacement& out);

  struct Mark {
    Transaction::Mark txn = 0;
    size_t tasks = 0;
  };
  Mark mark() const { return {.txn = txn_->mark(), .tasks = out_->tasks.size()}; }
  void rollback(Mark mark);

  /// Places up to `count` tasks of `role` in `region`; returns how many. Fewer means that no further one fits, or no
  /// steps are left.
  int32_t place(size_t role, const Region& region, int32_t count);
  /// Takes what a choice made elsewhere gives to one task of `role`. False when no steps are left.
  bool take(size_t role, const TaskPlacement& at);

  const ClusterState& state() const { return *state_; }
  const KnownDemand& demand(size_t role) { return parts_.demands.get(state(), tasks_->plan().roles[role].demand); }
  NodeScore::IndexOrder order(size_t role) const { return tasks_->plan().roles[role].order; }
  ScoreQuery query(size_t role, const Region& region);
  const GangPlacement& placed() const { return *out_; }

  /// Of the nodes in the word those with `free` devices that suit.
  uint64_t bucket_word(const KnownDemand& demand, const Region& region, unsigned free, size_t word) const;
  bool has_bucket(const KnownDemand& demand, const Region& region, unsigned free) const;

  uint32_t steps() const { return steps_; }
  uint32_t steps_left() const { return steps_max_ > steps_ ? steps_max_ - steps_ : 0; }
  void spend(uint32_t steps) { steps_ += steps; }

 private:
  int32_t place_on_node(size_t role, const Region& region, int32_t count);
  int32_t place_by_score(size_t role, const Region& region, int32_t count);
  int32_t sweep(size_t role, const Region& region, int32_t count);
  int32_t sweep_bucket(size_t role, const Region& region, unsigned free, int32_t count);
  int32_t sweep_data(size_t role, const Region& region, unsigned free, int32_t count);
  int32_t fill_node(size_t role, const Region& region, NodeId node, int32_t count);
  uint64_t next_draw() const;

  SearchParts parts_;
  const ClusterState* state_ = nullptr;
  Transaction* txn_ = nullptr;
  GangTasks* tasks_ = nullptr;
  GangPlacement* out_ = nullptr;
  uint32_t steps_ = 0;
  uint32_t steps_max_ = 0;
};

}  // namespace weft
