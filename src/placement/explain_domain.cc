#include "base/bits.h"
#include "placement/explain.h"
#include "placement/scope_need.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

// The part of the Explainer that looks at domains, now and as if everything were free.

bool Explainer::lacks_domain(Verdict& verdict) {
  const std::vector<PlanScope>& scopes = tasks_->plan().scopes;
  for (size_t s = 0; s < scopes.size(); ++s) {
    if (!binds(s)) continue;
    const bool is_level = scopes[s].within >= kLevelHeight;
    if (is_level ? lacks_level(s, verdict) : lacks_one_node(s, verdict)) return true;
  }
  return false;
}

/// By the histograms: no domain of the level has the devices (or the slots of so many devices on one node) that the
/// scope needs.
bool Explainer::lacks_level(size_t id, Verdict& verdict) {
  const PlanScope& scope = tasks_->plan().scopes[id];
  const ScopeNeedSum need = sum_scope(*tasks_, id);
  if (need.whole == 0) return false;
  const LevelId level = level_at(scope.within);
  const CapacityIndex& capacity = state_->capacity();
  Region anchored;
  const bool has_anchors = tasks_->has_anchors(id);
  const bool is_apart = has_anchors && !tasks_->anchor_region(*state_, parts_.regions, id, scope.within, anchored);
  DomainId best = kNone<DomainId>;
  for (const DomainId domain : state_->domains_at(level)) {
    if (is_apart || (has_anchors && domain != anchored.domain)) continue;
    if (could_hold(*placer_, *tasks_, need, domain)) return false;
    if (!is_set(best) || capacity.free_devices(domain) > capacity.free_devices(best)) best = domain;
  }
  verdict.reason = Reason::kLevel;
  verdict.wakes_on = wake_bit(WakeKind::kCapacityFreed) | wake_bit(WakeKind::kNodeAdded);
  verdict.level = level;
  verdict.domain = best;
  verdict.have = is_set(best) ? capacity.free_devices(best) : 0;
  verdict.need = need.whole;
  if (verdict.have < verdict.need) return true;
  // Enough in sum, but not in pieces of the size of a task.
  const Region region = parts_.regions.domain(*state_, best);
  verdict.unit = CountUnit::kTasks;
  verdict.need = tasks_->scope_tasks(id);
  verdict.have = 0;
  for (size_t r = 0; r < tasks_->plan().roles.size(); ++r) {
    if (tasks_->count(r) == 0 || !tasks_->is_under(r, id)) continue;
    const KnownDemand& known = placer_->demand(r);
    int64_t fit = 0;
    for_each_node(region, [&](size_t n) {
      if (!known.suits.test(n)) return;
      fit +=
          count_room(PresentView{*state_}, make_id<NodeId>(n), known.task, {.island = island_of(r)}, tasks_->count(r))
              .tasks;
    });
    verdict.have += std::min<int64_t>(fit, tasks_->count(r));
  }
  return true;
}

/// All on one node, or in one island: by free whole devices.
bool Explainer::lacks_one_node(size_t id, Verdict& verdict) {
  const ScopeNeedSum need = sum_scope(*tasks_, id);
  if (need.whole == 0) return false;
  const bool is_island = tasks_->plan().scopes[id].within == kIslandHeight;
  int64_t most = 0;
  NodeId best = kNone<NodeId>;
  for (size_t n = 0; n < state_->nodes().size(); ++n) {
    const NodeId node = make_id<NodeId>(n);
    const DeviceMask free = state_->available(node);
    int64_t here = popcount(free);
    if (is_island) {
      here = 0;
      for (const DeviceMask island : state_->layouts()[state_->nodes().layout[n]].islands) {
        here = std::max<int64_t>(here, popcount(free & island));
      }
    }
    if (here <= most) continue;
    most = here;
    best = node;
  }
  if (most >= need.whole) return false;
  verdict.reason = is_island ? Reason::kNvlink : Reason::kNode;
  verdict.wakes_on = wake_bit(WakeKind::kCapacityFreed) | wake_bit(WakeKind::kNodeAdded);
  verdict.node = best;
  verdict.have = most;
  verdict.need = need.whole;
  return true;
}

/// Every count allows it, and yet the search has proven that it cannot be: the last rule that binds several tasks
/// together.
void Explainer::name_search(Verdict& verdict, size_t placed_most) const {
  const std::vector<PlanScope>& scopes = tasks_->plan().scopes;
  verdict.reason = Reason::kNode;
  verdict.wakes_on = wake_bit(WakeKind::kCapacityFreed) | wake_bit(WakeKind::kNodeAdded);
  for (size_t s = 0; s < scopes.size(); ++s) {
    if (!binds(s)) continue;
    if (scopes[s].within >= kLevelHeight) {
      verdict.reason = Reason::kLevel;
      verdict.level = level_at(scopes[s].within);
    } else if (verdict.reason != Reason::kLevel) {
      verdict.reason = scopes[s].within == kIslandHeight ? Reason::kNvlink : Reason::kNode;
    }
  }
  verdict.unit = CountUnit::kTasks;
  verdict.have = static_cast<int64_t>(placed_most);
  verdict.need = tasks_->total();
}

int64_t Explainer::count_in_empty(size_t role, const Region& region, int64_t enough) const {
  const KnownDemand& known = placer_->demand(role);
  const EmptyView view{*state_};
  const ChoiceRules rules{.among = region.devices, .island = island_of(role)};
  int64_t fit = 0;
  for (size_t w = region.word_begin(); w < region.word_end() && fit < enough; ++w) {
    for (uint64_t bits = region.word(w) & known.suits.word(w); bits != 0 && fit < enough; bits &= bits - 1) {
      const NodeId node = make_id<NodeId>(w * 64 + static_cast<unsigned>(std::countr_zero(bits)));
      fit += count_room(view, node, known.task, rules, enough).tasks;
    }
  }
  return fit;
}

/// Each role of the scope by itself, and whole devices in sum. The first nodes are enough to say yes in most cases.
bool Explainer::could_ever_hold(size_t scope, const Region& region) const {
  for (size_t r = 0; r < tasks_->plan().roles.size(); ++r) {
    if (tasks_->count(r) == 0 || is_optional(r) || !tasks_->is_under(r, scope)) continue;
    if (count_in_empty(r, region, tasks_->count(r)) < tasks_->count(r)) return false;
  }
  const ScopeNeedSum need = sum_scope(*tasks_, scope);
  if (tasks_->scope_roles(scope) == 1) return true;
  const EmptyView view{*state_};
  int64_t whole = 0;
  int64_t cpus = 0;
  int64_t memory = 0;
  for (size_t n = region.first; n < region.end; ++n) {
    if (whole >= need.whole && cpus >= need.cpu_milli && memory >= need.memory_bytes) return true;
    if (!region.has_node(n)) continue;
    whole += popcount(view.whole(make_id<NodeId>(n)) & region.devices);
    cpus += view.cpu_milli(n);
    memory += view.memory_bytes(n);
  }
  return whole >= need.whole && cpus >= need.cpu_milli && memory >= need.memory_bytes;
}

bool Explainer::could_ever() {
  if (!could_ever_hold(0, parts_.regions.cluster(*state_))) return false;
  const std::vector<PlanScope>& scopes = tasks_->plan().scopes;
  for (size_t s = 0; s < scopes.size(); ++s) {
    if (binds(s) && !could_ever_lie_in_domain(s)) return false;
  }
  return true;
}

bool Explainer::could_ever_lie_in_domain(size_t id) {
  const PlanScope& scope = tasks_->plan().scopes[id];
  if (scope.within >= kLevelHeight) {
    return std::ranges::any_of(state_->domains_at(level_at(scope.within)), [&](DomainId domain) {
      return could_ever_hold(id, parts_.regions.domain(*state_, domain));
    });
  }
  for (size_t n = 0; n < state_->nodes().size(); ++n) {
    const NodeId node = make_id<NodeId>(n);
    if (scope.within == kNodeHeight) {
      if (could_ever_hold(id, RegionMaker::node(node))) return true;
      continue;
    }
    const std::vector<DeviceMask>& islands = state_->layouts()[state_->nodes().layout[n]].islands;
    if (islands.empty() && could_ever_hold(id, RegionMaker::island(node, 0))) return true;
    for (const DeviceMask island : islands) {
      if (could_ever_hold(id, RegionMaker::island(node, island))) return true;
    }
  }
  return false;
}

/// The widest scope for which even an empty cluster has no domain, with the count of the best one.
void Explainer::name_never_domain(Verdict& verdict) {
  const EmptyView view{*state_};
  const std::vector<PlanScope>& scopes = tasks_->plan().scopes;
  verdict.reason = Reason::kNode;
  verdict.unit = CountUnit::kGpus;
  for (size_t s = 0; s < scopes.size(); ++s) {
    if (!binds(s) || could_ever_lie_in_domain(s)) continue;
    const ScopeNeedSum need = sum_scope(*tasks_, s);
    verdict.need = need.whole;
    if (scopes[s].within < kLevelHeight) {
      verdict.reason = scopes[s].within == kIslandHeight ? Reason::kNvlink : Reason::kNode;
      for (size_t n = 0; n < state_->nodes().size(); ++n) {
        const NodeId node = make_id<NodeId>(n);
        const bool is_island = scopes[s].within == kIslandHeight;
        int64_t most = is_island ? 0 : popcount(view.whole(node));
        for (const DeviceMask island : state_->layouts()[state_->nodes().layout[n]].islands) {
          if (is_island) most = std::max<int64_t>(most, popcount(view.whole(node) & island));
        }
        verdict.have = std::max(verdict.have, most);
      }
    } else {
      verdict.reason = Reason::kLevel;
      verdict.level = level_at(scopes[s].within);
      for (const DomainId domain : state_->domains_at(verdict.level)) {
        int64_t devices = 0;
        for_each_node(parts_.regions.domain(*state_, domain),
                      [&](size_t n) { devices += popcount(view.whole(make_id<NodeId>(n))); });
        if (is_set(verdict.domain) && devices <= verdict.have) continue;
        verdict.have = devices;
        verdict.domain = domain;
      }
    }
    if (verdict.have >= verdict.need)
      verdict.have = verdict.need = 0;  // something else than the number of devices binds
    return;
  }
}

}  // namespace weft
