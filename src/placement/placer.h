#pragma once

#include "base/ids.h"
#include "model/placement.h"
#include "model/policy.h"
#include "model/shape.h"
#include "model/verdict.h"
#include "placement/node_score.h"
#include "state/transaction.h"

#include <memory>
#include <span>
#include <vector>

namespace weft {

/// A score of the policy with its weight; owned by the registry's caller.
struct ActiveScore {
  const NodeScore* score = nullptr;
  int32_t weight = 1;
};

/// Which tasks of a shape are to be placed together.
struct GangRequest {
  ShapeId shape_id = kNone<ShapeId>;
  JobId job = kNone<JobId>;         ///< its running tasks count for `prefer` and `within`; kNone in a what-if
  std::span<const int32_t> counts;  ///< per role, how many
};

/// Reused between calls. Tasks stand role by role; `role[i]` is the role of `tasks[i]`. TaskIds are left kNone.
struct GangPlacement {
  std::vector<TaskPlacement> tasks;
  std::vector<uint16_t> role;
  void clear() {
    tasks.clear();
    role.clear();
  }
};

/// Filter, score, choose: finds nodes and devices for a gang. Holds caches (static filters per demand, scores per
/// demand and node), no facts.
class Placer {
 public:
  Placer(const PolicyConfig& config, std::vector<ActiveScore> scores);
  ~Placer();

  /// Places the tasks of `request` in the tightest domains that fit: for every scope the narrowest preferred level that
  /// holds it whole, inside the required one. All or nothing. Requires: `txn` is open. Ensures: yes => every task has a
  /// node and devices in `out` and has been taken in `txn` (not charged); no => `txn` is as before, `out` is empty and
  /// the verdict says why, with counts over all nodes. Complete within PolicyConfig::search_steps_max: when a placement
  /// exists and the search ends within its steps, it is found; when the steps run out the reason is kBudget. Cost:
  /// O(domains at the level + tasks) when the first descent succeeds.
  Verdict place_gang(Transaction& txn, const GangRequest& request, GangPlacement& out);

  /// Only the verdict for a request that cannot be placed now, by counting; cheaper than a search and never a yes
  /// unless every single task fits somewhere. Cost: O(nodes / 64) per filter plus O(nodes that pass the device filter).
  Verdict explain(const ClusterState& state, const GangRequest& request);

  void set_workload(const TargetWorkload& workload);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft
