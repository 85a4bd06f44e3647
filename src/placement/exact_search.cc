#include "placement/exact_search.h"

#include "base/bits.h"
#include "base/check.h"
#include "base/hash.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <tuple>

namespace weft {

namespace {

constexpr size_t kMembersMax = 63;      // a set of members is one word
constexpr uint32_t kNodesPerStep = 16;  // looked at while candidates are listed

/// The next larger number with as many bits set; sets of members in order.
uint64_t next_set(uint64_t set) {
  const uint64_t lowest = set & (~set + 1);
  const uint64_t carried = set + lowest;
  return carried | (((set ^ carried) / lowest) >> 2);
}

}  // namespace

void ExactSearch::make_slots(size_t id) {
  if (tasks_->scope_tasks(id) == 0) return;
  const PlanScope& scope = tasks_->plan().scopes[id];
  has_region_[id] = id == 0 || scope.within != kNoHeight || scope.prefer != kNoHeight ? 1 : 0;
  const auto scope_id = static_cast<uint32_t>(id);
  if (has_region_[id] != 0) slots_.push_back({.kind = SlotKind::kRegion, .scope = scope_id});
  if (scope.role >= 0) {
    const int32_t count = tasks_->count(static_cast<size_t>(scope.role));
    for (int32_t t = 0; t < count; ++t) slots_.push_back({.scope = scope_id, .task = static_cast<uint32_t>(t)});
    return;
  }
  if (tasks_->members_needed(id) < tasks_->members_asked(id))
    slots_.push_back({.kind = SlotKind::kMembers, .scope = scope_id});
  for (const uint32_t member : scope.in_order) make_slots(member);
}

SearchEnd ExactSearch::run(const GangTasks& tasks, uint32_t steps_max) {
  tasks_ = &tasks;
  const GangPlan& plan = tasks.plan();
  distinctions_ = {.zones = plan.has_zones, .islands = plan.has_islands, .models = plan.has_constraints};
  steps_end_ = placer_.steps() + std::min(steps_max, placer_.steps_left());
  slots_.clear();
  candidates_.clear();
  region_.assign(plan.scopes.size(), Region{});
  has_region_.assign(plan.scopes.size(), 0);
  chosen_.assign(plan.scopes.size(), ~uint64_t{0});
  for (const PlanScope& scope : plan.scopes) {
    if (scope.members.size() > kMembersMax && tasks.has_choice(0)) return SearchEnd::kBudget;
  }
  make_slots(0);
  parts_.scores.states().sync(placer_.state());

  const TaskPlacer::Mark start = placer_.mark();
  size_t at = 0;
  open(0);
  while (placer_.steps() < steps_end_) {
    if (advance(at)) {
      if (++at == slots_.size()) return SearchEnd::kFound;
      open(at);
      continue;
    }
    close(at);
    if (at == 0) return SearchEnd::kImpossible;
    --at;
  }
  placer_.rollback(start);
  for (size_t i = at + 1; i-- > 0;) close(i);
  return SearchEnd::kBudget;
}

/// Every group above the scope has chosen it.
bool ExactSearch::is_active(uint32_t id) const {
  const std::vector<PlanScope>& scopes = tasks_->plan().scopes;
  for (size_t s = id; scopes[s].parent >= 0; s = static_cast<size_t>(scopes[s].parent)) {
    const auto parent = static_cast<size_t>(scopes[s].parent);
    if (chosen_[parent] == ~uint64_t{0}) continue;
    const std::vector<uint32_t>& members = scopes[parent].members;
    const auto place = std::ranges::find(members, static_cast<uint32_t>(s)) - members.begin();
    if (((chosen_[parent] >> place) & 1U) == 0) return false;
  }
  return true;
}

const Region& ExactSearch::region_of(uint32_t id) const {
  size_t s = id;
  while (has_region_[s] == 0) s = static_cast<size_t>(tasks_->plan().scopes[s].parent);
  return region_[s];
}

void ExactSearch::open(size_t i) {
  Slot& slot = slots_[i];
  slot.mark = placer_.mark();
  slot.is_passed = is_active(slot.scope) ? 0 : 1;
  slot.cursor = 0;
  slot.option = 0;
  slot.last_state = 0;
  if (slot.is_passed != 0) return;
  const PlanScope& scope = tasks_->plan().scopes[slot.scope];
  if (slot.kind == SlotKind::kRegion) {
    const Region outer =
        scope.parent < 0 ? parts_.regions.cluster(placer_.state()) : region_of(static_cast<uint32_t>(scope.parent));
    slot.regions = regions_.list(slot.scope, outer);
    slot.cursor = slot.regions.begin;
  } else if (slot.kind == SlotKind::kTask) {
    if (slot.task == 0) {
      list_candidates(slot);
    } else {
      const Slot& before = slots_[i - 1];
      slot.list_begin = before.list_begin;
      slot.list_end = before.list_end;
      slot.first = before.cursor;
    }
    slot.cursor = slot.first;
  }
}

void ExactSearch::close(size_t i) {
  Slot& slot = slots_[i];
  if (slot.is_passed != 0) return;
  switch (slot.kind) {
    case SlotKind::kRegion: regions_.release(slot.regions); break;
    case SlotKind::kMembers: chosen_[slot.scope] = ~uint64_t{0}; break;
    case SlotKind::kTask:
      if (slot.task == 0) candidates_.resize(slot.list_begin);
      break;
  }
}

bool ExactSearch::advance(size_t i) {
  Slot& slot = slots_[i];
  placer_.rollback(slot.mark);
  if (slot.is_passed != 0) return slot.cursor++ == 0;
  switch (slot.kind) {
    case SlotKind::kRegion: return next_region(slot);
    case SlotKind::kMembers: return next_members(slot);
    case SlotKind::kTask: return next_task(slot);
  }
  return false;
}

bool ExactSearch::next_region(Slot& slot) {
  for (; slot.cursor < slot.regions.end; ++slot.cursor) {
    placer_.spend(1);
    const Region region = regions_.enter(slot.scope, slot.cursor);
    if (region.height == kNodeHeight) {  // of neighbours in the list that are alike the first was tried in vain
      const uint64_t rule = region.island == OneIsland::kYes ? 1 : 0;
      const uint64_t state = mix64(state_of({.node = region.node, .build = build_of(region.node)}) + rule);
      if (state == slot.last_state) continue;
      slot.last_state = state;
    }
    region_[slot.scope] = region;
    ++slot.cursor;
    return true;
  }
  return false;
}

/// Sets of `needed` members that have tasks, in ascending order.
bool ExactSearch::next_members(Slot& slot) {
  const PlanScope& scope = tasks_->plan().scopes[slot.scope];
  const auto needed = static_cast<unsigned>(tasks_->members_needed(slot.scope));
  uint64_t& set = chosen_[slot.scope];
  set = slot.cursor++ == 0 ? low_bits(needed) : next_set(set);
  uint64_t asked = 0;
  for (size_t m = 0; m < scope.members.size(); ++m)
    asked |= tasks_->scope_tasks(scope.members[m]) > 0 ? uint64_t{1} << m : 0;
  while ((set & ~asked) != 0 && set < (uint64_t{1} << scope.members.size())) set = next_set(set);
  placer_.spend(1);
  return set < (uint64_t{1} << scope.members.size());
}

uint64_t ExactSearch::state_of(const Candidate& candidate) {
  NodeStates& states = parts_.scores.states();
  states.sync(placer_.state());
  return mix64(candidate.build ^ states.fingerprint(index(candidate.node)));
}

/// A node like this one was tried before for this task, in vain.
bool ExactSearch::is_twin(const Slot& slot, size_t cursor) {
  if (cursor == slot.first) return false;
  const uint64_t state = state_of(candidates_[cursor]);
  for (size_t c = slot.first; c < cursor; ++c) {
    if (state_of(candidates_[c]) == state) return true;
  }
  return false;
}

bool ExactSearch::next_task(Slot& slot) {
  const auto role = static_cast<size_t>(tasks_->plan().scopes[slot.scope].role);
  const TaskDemand& task = placer_.demand(role).task;
  const Region& region = region_of(slot.scope);
  const ChoiceRules rules{.among = region.devices, .island = region.island};
  TaskPlacement at;
  while (slot.cursor < slot.list_end) {
    const NodeId node = candidates_[slot.cursor].node;
    const bool is_skipped = slot.option == 0 && is_twin(slot, slot.cursor);
    if (!is_skipped &&
        device_option(placer_.state(), parts_.chooser, node, task, rules, distinctions_, slot.option, at)) {
      ++slot.option;
      return placer_.take(role, at);
    }
    ++slot.cursor;
    slot.option = 0;
  }
  return false;
}

/// How a node is built, and which of the gang's roles and domains it can serve: equal for nodes that are
/// interchangeable when free.
uint64_t ExactSearch::build_of(NodeId node) {
  const ClusterState& state = placer_.state();
  RunningHash hash;
  hash.add(parts_.scores.states().build(state, index(node)));
  uint64_t suits = 0;
  for (size_t r = 0; r < tasks_->plan().roles.size(); ++r) {
    suits = suits << 1 | (placer_.demand(r).suits.test(index(node)) ? 1U : 0U);
    if (r % 64 == 63) hash.add(suits);
  }
  hash.add(suits);
  if (tasks_->plan().has_levels) {
    for (const DomainId domain : state.nodes().domains[index(node)]) hash.add(uint64_t{index(domain)});
  }
  // What later scopes are bound to by running tasks, or earlier ones by their unions, makes a node differ from its
  // like.
  for (const Anchor& anchor : tasks_->anchors()) {
    if (anchor.node == node) hash.add(uint64_t{index(node)} + 1);
  }
  for (size_t s = 0; s < region_.size(); ++s) {
    if (has_region_[s] != 0 && region_[s].height >= kNodeHeight && region_[s].members != nullptr) {
      hash.add(region_[s].has_node(index(node)) ? 1U : 0U);
    }
  }
  return hash.value();
}

void ExactSearch::list_candidates(Slot& slot) {
  const auto role = static_cast<size_t>(tasks_->plan().scopes[slot.scope].role);
  const Region& region = region_of(slot.scope);
  const ClusterState& state = placer_.state();
  const KnownDemand& known = placer_.demand(role);
  const ChoiceRules rules{.among = region.devices, .island = region.island};
  const NodeScore::IndexOrder order = placer_.order(role);
  parts_.scores.states().sync(state);
  slot.list_begin = candidates_.size();
  uint32_t looked_at = 0;
  for (size_t w = region.word_begin(); w < region.word_end(); ++w) {
    for_each_bit(region.word(w) & known.suits.word(w), [&](unsigned b) {
      const NodeId node = make_id<NodeId>(w * 64 + b);
      ++looked_at;
      TaskPlacement at;
      if (parts_.chooser.choose(state, node, known.task, rules, at) != Reason::kNone) return;
      Candidate candidate{.node = node, .build = build_of(node)};
      if (order != NodeScore::IndexOrder::kNone) {
        const auto free = static_cast<int64_t>(popcount(state.available(node)));
        candidate.rank = order == NodeScore::IndexOrder::kFewestFreeFirst ? free : -free;
      } else {
        int device = -1;
        candidate.rank =
            -int64_t{parts_.scores.score_of(state, parts_.chooser, placer_.query(role, region), node, device)};
      }
      candidates_.push_back(candidate);
    });
  }
  placer_.spend(looked_at / kNodesPerStep);
  std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(slot.list_begin), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return std::tie(a.rank, a.node) < std::tie(b.rank, b.node); });
  drop_needless(slot.list_begin, role);
  slot.list_end = candidates_.size();
  slot.first = slot.list_begin;
}

/// Of nodes that are alike as many are enough as there are tasks in the role.
void ExactSearch::drop_needless(size_t begin, size_t role) {
  const size_t size = std::bit_ceil((candidates_.size() - begin) * 2 + 1);
  seen_.assign(size, {0, 0});
  size_t kept = begin;
  for (size_t c = begin; c < candidates_.size(); ++c) {
    const uint64_t state = state_of(candidates_[c]) | 1U;
    size_t place = state & (size - 1);
    while (seen_[place].first != 0 && seen_[place].first != state) place = (place + 1) & (size - 1);
    seen_[place].first = state;
    if (seen_[place].second++ < tasks_->count(role)) candidates_[kept++] = candidates_[c];
  }
  candidates_.resize(kept);
}

}  // namespace weft
