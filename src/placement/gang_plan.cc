#include "placement/gang_plan.h"

#include "base/check.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <tuple>

namespace weft {

namespace {

void add_scope_needs(const ScopeNeed& need, PlanScope& scope, GangPlan& plan) {
  scope.within = height_of(need.within);
  scope.prefer = height_of(need.prefer);
  plan.has_islands = plan.has_islands || scope.within == kIslandHeight || scope.prefer == kIslandHeight;
  plan.reads_anchors = plan.reads_anchors || scope.within != kNoHeight || scope.prefer != kNoHeight;
  plan.has_levels = plan.has_levels || scope.within >= kLevelHeight || scope.prefer >= kLevelHeight;
}

void add_roles(const Shape& shape, DemandTable& demands, GangPlan& plan) {
  for (size_t r = 0; r < shape.roles.size(); ++r) {
    const RoleShape& role = shape.roles[r];
    PlanScope& leaf = plan.scopes.emplace_back();
    leaf.parent = 0;
    leaf.role = static_cast<int32_t>(r);
    add_scope_needs(role.scope, leaf, plan);
    plan.roles.push_back(
        {.demand = demands.intern(role.demand), .scope = static_cast<uint32_t>(plan.scopes.size() - 1)});
    const DeviceDemand& devices = role.demand.devices;
    plan.has_zones = plan.has_zones || role.demand.numa == NumaNeed::kOneZone;
    plan.has_constraints = plan.has_constraints || !devices.models.empty() || devices.memory_bytes_min > 0 ||
                           devices.compute_capability_min > 0 || devices.kind == DeviceNeedKind::kMemory;
  }
}

std::unique_ptr<GangPlan> make_plan(const Shape& shape, DemandTable& demands) {
  auto plan = std::make_unique<GangPlan>();
  WEFT_CHECK(!shape.groups.empty(), "a shape has at least group 0, the job itself");
  plan->scopes.resize(shape.groups.size());
  add_roles(shape, demands, *plan);
  std::vector<uint8_t> has_group(shape.roles.size(), 0);
  for (size_t g = 0; g < shape.groups.size(); ++g) {
    const GroupShape& group = shape.groups[g];
    PlanScope& scope = plan->scopes[g];
    scope.parent = group.parent;
    scope.min_members = group.min;
    add_scope_needs(group.scope, scope, *plan);
    for (const int32_t role : group.roles) {
      const uint32_t leaf = plan->roles[static_cast<size_t>(role)].scope;
      plan->scopes[leaf].parent = static_cast<int32_t>(g);
      scope.members.push_back(leaf);
      has_group[static_cast<size_t>(role)] = 1;
    }
    for (const int32_t child : group.groups) scope.members.push_back(static_cast<uint32_t>(child));
  }
  for (size_t r = 0; r < shape.roles.size(); ++r) {
    if (has_group[r] == 0) plan->scopes[0].members.push_back(plan->roles[r].scope);
  }
  for (PlanScope& scope : plan->scopes) {
    scope.in_order = scope.members;
    if (scope.role < 0 && static_cast<size_t>(scope.min_members) < scope.members.size()) plan->reads_anchors = true;
  }
  return plan;
}

/// The order in which members are placed: those with the fewest possibilities first. Smaller goes first.
struct Constraint {
  Height within = 0;
  uint32_t nodes = 0;   ///< that suit its most particular role
  int64_t devices = 0;  ///< negative milli-GPU of its largest task
  int64_t cpus = 0;     ///< negative
  uint32_t scope = 0;
};

int64_t device_size(const DeviceDemand& devices) {
  switch (devices.kind) {
    case DeviceNeedKind::kNone: return 0;
    case DeviceNeedKind::kWhole: return int64_t{devices.count} * 1000;
    case DeviceNeedKind::kMilli: return devices.milli;
    case DeviceNeedKind::kMemory: return 500;  // its part depends on the device
    case DeviceNeedKind::kMig: return 999;     // only few devices are cut
  }
  return 0;
}

Constraint constraint_of(const ClusterState& state, const GangPlan& plan, const Shape& shape, DemandTable& demands,
                         uint32_t id) {
  const PlanScope& scope = plan.scopes[id];
  const Height none = cluster_height(state);
  Constraint own{.within = scope.within == kNoHeight ? none : scope.within, .nodes = ~uint32_t{0}, .scope = id};
  if (scope.role >= 0) {
    const TaskDemand& demand = shape.roles[static_cast<size_t>(scope.role)].demand;
    own.nodes = demands.get(state, plan.roles[static_cast<size_t>(scope.role)].demand).suits_count;
    own.devices = -device_size(demand.devices);
    own.cpus = -demand.cpu_milli;
    return own;
  }
  for (const uint32_t member : scope.members) {
    const Constraint of_member = constraint_of(state, plan, shape, demands, member);
    own.nodes = std::min(own.nodes, of_member.nodes);
    own.devices = std::min(own.devices, of_member.devices);
    own.cpus = std::min(own.cpus, of_member.cpus);
  }
  return own;
}

void order_members(const ClusterState& state, const Shape& shape, DemandTable& demands, GangPlan& plan) {
  for (PlanScope& scope : plan.scopes) {
    std::vector<Constraint> order;
    for (const uint32_t member : scope.members) order.push_back(constraint_of(state, plan, shape, demands, member));
    std::ranges::sort(order, [](const Constraint& a, const Constraint& b) {
      return std::tie(a.within, a.nodes, a.devices, a.cpus, a.scope) <
             std::tie(b.within, b.nodes, b.devices, b.cpus, b.scope);
    });
    for (size_t i = 0; i < order.size(); ++i) scope.in_order[i] = order[i].scope;
  }
}

}  // namespace

GangPlan& GangPlans::get(const ClusterState& state, ShapeId id, DemandTable& demands) {
  if (plans_.size() <= index(id)) plans_.resize(index(id) + 1);
  std::unique_ptr<GangPlan>& plan = plans_[index(id)];
  const Shape& shape = state.shapes()[id];
  if (plan == nullptr) plan = make_plan(shape, demands);
  if (plan->nodes_seen != state.nodes().size()) {
    order_members(state, shape, demands, *plan);
    plan->nodes_seen = state.nodes().size();
  }
  return *plan;
}

void GangTasks::begin(const ClusterState& state, const GangPlan& plan, const Shape& shape, const GangRequest& request) {
  plan_ = &plan;
  shape_ = &shape;
  job_ = request.job;
  WEFT_CHECK(request.counts.size() == shape.roles.size(), "a request says for each role how many");
  counts_.assign(request.counts.begin(), request.counts.end());
  const size_t scopes = plan.scopes.size();
  for (std::vector<int32_t>* column : {&scope_tasks_, &scope_roles_, &scope_anchors_, &needed_, &asked_})
    column->assign(scopes, 0);
  has_choice_.assign(scopes, 0);
  anchors_.clear();
  if (is_set(request.job) && plan.reads_anchors) find_anchors(state, request.job);
  sum_up(0);
}

void GangTasks::find_anchors(const ClusterState& state, JobId job) {
  const TaskTable& tasks = state.tasks();
  const JobTable& jobs = state.jobs();
  if (!is_set(jobs.first_task[index(job)])) return;
  const size_t first = index(jobs.first_task[index(job)]);
  for (size_t t = first; t < first + jobs.task_count[index(job)]; ++t) {
    if (tasks.state[t] != TaskState::kHeld && tasks.state[t] != TaskState::kRunning) continue;
    anchors_.push_back({.role = tasks.role[t], .node = tasks.placement[t].node, .devices = tasks.placement[t].devices});
    int32_t scope = static_cast<int32_t>(plan_->roles[tasks.role[t]].scope);
    for (; scope >= 0; scope = plan_->scopes[static_cast<size_t>(scope)].parent)
      ++scope_anchors_[static_cast<size_t>(scope)];
  }
}

void GangTasks::sum_up(size_t id) {
  const PlanScope& scope = plan_->scopes[id];
  if (scope.role >= 0) {
    scope_tasks_[id] = counts_[static_cast<size_t>(scope.role)];
    scope_roles_[id] = scope_tasks_[id] > 0 ? 1 : 0;
    return;
  }
  int32_t running = 0;
  for (const uint32_t member : scope.members) {
    sum_up(member);
    scope_tasks_[id] += scope_tasks_[member];
    scope_roles_[id] += scope_roles_[member];
    has_choice_[id] |= has_choice_[member];
    if (scope_tasks_[member] > 0) {
      ++asked_[id];
    } else if (scope_anchors_[member] > 0) {
      ++running;
    }
  }
  const int32_t needed = scope.min_members - running;
  needed_[id] = needed <= 0 ? asked_[id] : std::min(needed, asked_[id]);
  if (needed_[id] < asked_[id]) has_choice_[id] = 1;
}

bool GangTasks::is_under(size_t role, size_t scope) const {
  for (int32_t s = static_cast<int32_t>(plan_->roles[role].scope); s >= 0;
       s = plan_->scopes[static_cast<size_t>(s)].parent) {
    if (static_cast<size_t>(s) == scope) return true;
  }
  return false;
}

bool GangTasks::anchor_region(const ClusterState& state, RegionMaker& regions, size_t scope, Height height,
                              Region& out) const {
  const NodeTable& nodes = state.nodes();
  NodeId node = kNone<NodeId>;
  DomainId domain = kNone<DomainId>;
  DeviceMask devices = 0;
  for (const Anchor& anchor : anchors_) {
    if (!is_under(anchor.role, scope)) continue;
    const bool is_first = !is_set(node);
    if (height < kLevelHeight) {
      if (!is_first && anchor.node != node) return false;
      devices |= anchor.devices;
    } else if (height < cluster_height(state)) {
      const DomainId of_node = nodes.domains[index(anchor.node)][index(level_at(height))];
      if (!is_set(of_node) || (!is_first && of_node != domain)) return false;
      domain = of_node;
    }
    node = anchor.node;
  }
  if (height >= cluster_height(state)) {
    out = regions.cluster(state);
  } else if (height >= kLevelHeight) {
    out = regions.domain(state, domain);
  } else if (height == kNodeHeight) {
    out = RegionMaker::node(node);
  } else {
    DeviceMask island = devices == 0 ? ~DeviceMask{0} : 0;
    for (const DeviceMask of_layout : state.layouts()[nodes.layout[index(node)]].islands) {
      if (devices != 0 && (devices & ~of_layout) == 0) island = of_layout;
    }
    if (island == 0) return false;
    out = RegionMaker::island(node, island);
  }
  return true;
}

}  // namespace weft
