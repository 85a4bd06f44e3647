#pragma once

#include "base/ids.h"
#include "model/shape.h"
#include "placement/demand_table.h"
#include "placement/placer.h"
#include "placement/region.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/// One scope of a gang: a group, or a role as the leaf of the tree. Scope 0 is the whole job.
struct PlanScope {
  int32_t parent = -1;
  int32_t role = -1;  ///< of a leaf; -1: a group
  Height within = kNoHeight;
  Height prefer = kNoHeight;
  int32_t min_members = 0;         ///< of a group
  std::vector<uint32_t> members;   ///< of a group, as written: roles, then groups
  std::vector<uint32_t> in_order;  ///< the same, the most constrained first
};

struct PlanRole {
  DemandId demand{};
  uint32_t scope = 0;                                          ///< its leaf
  NodeScore::IndexOrder order = NodeScore::IndexOrder::kNone;  ///< of this request
};

/// A shape prepared for searches: its scopes as one tree and its demands interned. Made once per shape.
struct GangPlan {
  std::vector<PlanScope> scopes;
  std::vector<PlanRole> roles;
  size_t nodes_seen = ~size_t{0};  ///< the number of nodes for which `in_order` is right
  bool has_zones = false;          ///< some role needs one NUMA zone
  bool has_islands = false;        ///< some scope names nvlink
  bool has_constraints = false;    ///< some role bounds the device's model, memory or capability
  bool has_levels = false;         ///< some scope names a level above the node
  bool reads_anchors = false;      ///< where tasks of the job are already can matter
};

class GangPlans {
 public:
  /// Allocates only for a shape not seen before, and when nodes have arrived.
  GangPlan& get(const ClusterState& state, ShapeId id, DemandTable& demands);

 private:
  std::vector<std::unique_ptr<GangPlan>> plans_;  ///< by ShapeId
};

/// One running (or held) task of the gang's job.
struct Anchor {
  uint32_t role = 0;
  NodeId node = kNone<NodeId>;
  DeviceMask devices = 0;
};

/// What one request asks of a plan: how many tasks per scope, and where tasks of the job are already.
class GangTasks {
 public:
  /// Allocates only when a request is larger than all before it.
  void begin(const ClusterState& state, const GangPlan& plan, const Shape& shape, const GangRequest& request);

  const GangPlan& plan() const { return *plan_; }
  const Shape& shape() const { return *shape_; }
  int32_t count(size_t role) const { return counts_[role]; }
  int32_t total() const { return scope_tasks_[0]; }
  int32_t scope_tasks(size_t scope) const { return scope_tasks_[scope]; }
  int32_t scope_roles(size_t scope) const { return scope_roles_[scope]; }  ///< roles with tasks under it
  bool has_anchors(size_t scope) const { return scope_anchors_[scope] != 0; }
  /// How many of the group's members with tasks must be placed. Members that are running already count towards its
  /// minimum; a request for no more than surplus wants all of it.
  int32_t members_needed(size_t scope) const { return needed_[scope]; }
  int32_t members_asked(size_t scope) const { return asked_[scope]; }
  /// Some group under the scope (or it) needs fewer members than have tasks.
  bool has_choice(size_t scope) const { return has_choice_[scope] != 0; }
  JobId job() const { return job_; }

  /// The region of this height that holds every anchor of the scope. Requires: has_anchors(). False when they lie
  /// apart.
  bool anchor_region(const ClusterState& state, RegionMaker& regions, size_t scope, Height height, Region& out) const;
  std::span<const Anchor> anchors() const { return anchors_; }
  bool is_under(size_t role, size_t scope) const;

 private:
  void find_anchors(const ClusterState& state, JobId job);
  void sum_up(size_t id);

  const GangPlan* plan_ = nullptr;
  const Shape* shape_ = nullptr;
  JobId job_ = kNone<JobId>;
  std::vector<int32_t> counts_;
  std::vector<int32_t> scope_tasks_, scope_roles_, scope_anchors_, needed_, asked_;
  std::vector<uint8_t> has_choice_;
  std::vector<Anchor> anchors_;
};

}  // namespace weft
