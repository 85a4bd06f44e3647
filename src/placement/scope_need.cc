#include "placement/scope_need.h"

#include "base/bits.h"
#include "state/cluster_state.h"

namespace weft {

namespace {

void add_up(const GangTasks& tasks, size_t id, ScopeNeedSum& need) {
  const PlanScope& scope = tasks.plan().scopes[id];
  if (tasks.scope_tasks(id) == 0) return;
  if (scope.role < 0) {
    if (tasks.members_needed(id) < tasks.members_asked(id)) {
      need.has_choice = true;
      for (const uint32_t member : scope.in_order) {
        if (need.first_role < 0 && tasks.scope_tasks(member) > 0) need.first_role = sum_scope(tasks, member).first_role;
      }
      return;
    }
    for (const uint32_t member : scope.in_order) add_up(tasks, member, need);
    return;
  }
  const auto role = static_cast<size_t>(scope.role);
  const int64_t count = tasks.count(role);
  const TaskDemand& demand = tasks.shape().roles[role].demand;
  if (need.first_role < 0) need.first_role = scope.role;
  need.cpu_milli += count * demand.cpu_milli;
  need.memory_bytes += count * demand.memory_bytes;
  switch (demand.devices.kind) {
    case DeviceNeedKind::kNone: break;
    case DeviceNeedKind::kWhole: need.whole += count * demand.devices.count; break;
    case DeviceNeedKind::kMilli:
    case DeviceNeedKind::kMemory: need.has_fraction = true; break;
    case DeviceNeedKind::kMig: need.has_mig = true; break;
  }
}

/// An upper bound of the tasks of a role with whole devices that the domain holds.
int64_t slots(TaskPlacer& placer, size_t role, DomainId domain, int64_t enough) {
  const KnownDemand& known = placer.demand(role);
  const auto each = static_cast<unsigned>(known.task.devices.count);
  int64_t total = 0;
  for (const PoolId pool : known.pools) {
    const std::span<const uint32_t> nodes_by_free = placer.state().capacity().histogram(domain, pool);
    for (unsigned free = each; free < nodes_by_free.size() && total < enough; ++free)
      total += int64_t{nodes_by_free[free]} * (free / each);
  }
  return total;
}

bool has_slots(TaskPlacer& placer, const GangTasks& tasks, size_t id, DomainId domain) {
  const PlanScope& scope = tasks.plan().scopes[id];
  if (tasks.scope_tasks(id) == 0) return true;
  if (scope.role >= 0) {
    const auto role = static_cast<size_t>(scope.role);
    if (tasks.shape().roles[role].demand.devices.kind != DeviceNeedKind::kWhole) return true;
    return slots(placer, role, domain, tasks.count(role)) >= tasks.count(role);
  }
  if (tasks.members_needed(id) < tasks.members_asked(id)) return true;
  for (const uint32_t member : scope.members) {
    if (!has_slots(placer, tasks, member, domain)) return false;
  }
  return true;
}

bool suits_all(TaskPlacer& placer, const GangTasks& tasks, size_t id, NodeId node) {
  const PlanScope& scope = tasks.plan().scopes[id];
  if (tasks.scope_tasks(id) == 0) return true;
  if (scope.role >= 0) return placer.demand(static_cast<size_t>(scope.role)).suits.test(index(node));
  if (tasks.members_needed(id) < tasks.members_asked(id)) return true;
  for (const uint32_t member : scope.members) {
    if (!suits_all(placer, tasks, member, node)) return false;
  }
  return true;
}

}  // namespace

ScopeNeedSum sum_scope(const GangTasks& tasks, size_t scope) {
  ScopeNeedSum need{.scope = scope};
  add_up(tasks, scope, need);
  if (tasks.scope_roles(scope) == 1) need.only_role = need.first_role;
  need.is_single = tasks.scope_tasks(scope) == 1 && !tasks.has_anchors(scope);
  return need;
}

bool could_hold(TaskPlacer& placer, const GangTasks& tasks, const ScopeNeedSum& need, DomainId domain) {
  const ClusterState& state = placer.state();
  if (state.domains()[index(domain)].node_count == 0) return false;
  if (state.capacity().free_devices(domain) < need.whole) return false;
  return has_slots(placer, tasks, need.scope, domain);
}

bool could_hold(TaskPlacer& placer, const GangTasks& tasks, const ScopeNeedSum& need, NodeId node) {
  const ClusterState& state = placer.state();
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  if (!state.is_schedulable(node) || popcount(state.available(node)) < need.whole) return false;
  if (nodes.free_cpu_milli[n] < need.cpu_milli || nodes.free_memory_bytes[n] < need.memory_bytes) return false;
  return suits_all(placer, tasks, need.scope, node);
}

bool has_totals(TaskPlacer& placer, const ScopeNeedSum& need, const Region& region) {
  const ClusterState& state = placer.state();
  int64_t whole = 0;
  int64_t cpus = 0;
  for_each_node(region, [&](size_t n) {
    if (!state.is_schedulable(make_id<NodeId>(n))) return;
    whole += popcount(state.available(make_id<NodeId>(n)) & region.devices);
    cpus += state.nodes().free_cpu_milli[n];
  });
  return whole >= need.whole && cpus >= need.cpu_milli;
}

bool holds(const ClusterState& state, const Region& outer, DomainId domain) {
  if (outer.height < kLevelHeight || !is_inside(state, domain, outer.domain)) return false;
  if (outer.is_partial == 0) return true;
  for (const NodeRange& range : state.domains()[index(domain)].ranges) {
    for (uint32_t n = range.first; n < range.first + range.count; ++n) {
      if (!outer.has_node(n)) return false;
    }
  }
  return true;
}

}  // namespace weft
