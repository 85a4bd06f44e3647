#include "scheduler/rungs/room_search.h"

#include "base/check.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft {

RoomAnswer RoomSearch::find(const GangRequest& request, UnitRule& rule, RoomPlan& out) {
  Transaction txn(core_.state);  // rolled back when it goes out of scope
  txn_ = &txn;
  rule_ = &rule;
  request_ = &request;
  has_movers_ = 0;
  for (size_t unit = 0; unit < units_.size(); ++unit) has_movers_ |= units_[unit].must_land;
  steps_left_ = core_.config().search_steps_max;
  out = {};
  if (units_.size() == 0) return RoomAnswer::kImpossible;
  bool is_found = find_in_order();
  bool is_proven = false;
  if (!is_found) {
    // What does not fit when everything is gone fits never.
    start_anew();
    lift_all();
    is_proven = !place_taker(Lawful::kAnyway);
    if (!is_proven && units_.size() <= kAllSetsMax) {
      is_found = find_in_sets();
      is_proven = steps_left_ > 0;
    } else if (!is_proven) {
      is_found = find_over_all();
    }
  }
  if (!is_found) return is_proven ? RoomAnswer::kImpossible : RoomAnswer::kBudget;
  for (const size_t unit : order_) {
    const bool is_moved = std::ranges::find(landings_, unit, &Landing::unit) != landings_.end();
    if (is_lifted_[unit] != 0 && !is_moved) out.victims.push_back(unit);
  }
  out.landings = std::move(landings_);
  out.taker = placement_;
  return RoomAnswer::kFound;
}

bool RoomSearch::spend(size_t steps) {
  steps_left_ -= static_cast<int64_t>(steps);
  return steps_left_ > 0;
}

// ---- Lifting and placing

void RoomSearch::start_anew() {
  txn_->rollback(0);
  is_lifted_.assign(units_.size(), 0);
  order_.clear();
  taken_abroad_ = 0;
}

void RoomSearch::count_abroad(const Unit& unit, int change) {
  const QueueId queue = core_.state.shapes()[request_->shape_id].queue;
  if (unit.queue != queue && unit.must_land == 0) taken_abroad_ += static_cast<size_t>(change);
}

void RoomSearch::lift(size_t unit) {
  const Unit& u = units_[unit];
  const Shape& shape = core_.shape_of(u.job);
  const TaskTable& tasks = core_.state.tasks();
  ResourceVector charge;
  for (const TaskId task : units_.tasks(u)) {
    const TaskPlacement& at = tasks.placement[index(task)];
    txn_->give(shape.roles[tasks.role[index(task)]].demand, at);
    charge = charge + at.charge;
  }
  txn_->charge(u.queue, ResourceVector{} - charge, shape.is_preemptible ? 1 : 0);
  is_lifted_[unit] = 1;
  count_abroad(u, 1);
  order_.push_back(unit);
  spend(u.count);
}

void RoomSearch::lift_all() {
  for (size_t unit = 0; unit < units_.size(); ++unit) lift(unit);
}

void RoomSearch::lift_these(std::span<const size_t> units) {
  start_anew();
  for (const size_t unit : units) lift(unit);
}

bool RoomSearch::place_taker(Lawful lawful) {
  const Shape& shape = core_.state.shapes()[request_->shape_id];
  const int32_t new_jobs = core_.book[request_->job].holds() ? 0 : 1;
  const ResourceVector least = Quota::least_charge(core_.state, shape, request_->counts);
  if (!core_.quota.check(core_.state, shape, least, new_jobs).is_yes()) return false;
  const auto mark = txn_->mark();
  placement_.clear();
  core_.reservations.hide(*txn_, core_.now, core_.end_if_started(request_->job), request_->job);
  const bool is_placed = core_.placer.place_gang(*txn_, *request_, placement_).is_yes();
  core_.reservations.reveal(*txn_);
  spend(1 + placement_.tasks.size());
  if (!is_placed) {
    txn_->rollback(mark);
    return false;
  }
  ResourceVector charge;
  for (const TaskPlacement& at : placement_.tasks) charge = charge + at.charge;
  bool may_be = charge == least || core_.quota.check(core_.state, shape, charge, new_jobs).is_yes();
  txn_->charge(shape.queue, charge, shape.is_preemptible ? 1 : 0);
  may_be = may_be && (lawful == Lawful::kAnyway || is_lawful());
  if (!may_be) txn_->rollback(mark);
  return may_be;
}

/// Whether the taker fits with what is lifted, and whoever must go on elsewhere does. Leaves everything as it was.
bool RoomSearch::would_do() {
  const auto mark = txn_->mark();
  bool is_enough = place_taker(Lawful::kMustBe);
  if (is_enough && has_movers_ != 0) {
    const std::vector<uint8_t> lifted = is_lifted_;
    const size_t taken_abroad = taken_abroad_;
    put_back_free();
    is_enough = land_all();
    is_lifted_ = lifted;
    taken_abroad_ = taken_abroad;
  }
  txn_->rollback(mark);
  return is_enough;
}

bool RoomSearch::has_whole_lifted(JobId job) const {
  return std::ranges::any_of(order_, [&](size_t unit) {
    return is_lifted_[unit] != 0 && units_[unit].job == job && units_[unit].is_surplus == 0;
  });
}

/// The unit is again where it was, if nobody is there and its queue has room for it.
bool RoomSearch::put_back(size_t unit) {
  const Unit& u = units_[unit];
  if (u.is_surplus != 0 && has_whole_lifted(u.job)) return false;
  const Shape& shape = core_.shape_of(u.job);
  const TaskTable& tasks = core_.state.tasks();
  const auto mark = txn_->mark();
  ResourceVector charge;
  for (const TaskId task : units_.tasks(u)) {
    const TaskDemand& demand = shape.roles[tasks.role[index(task)]].demand;
    const TaskPlacement& at = tasks.placement[index(task)];
    if (!core_.state.has_room_at(demand, at)) {
      txn_->rollback(mark);
      return false;
    }
    txn_->take(demand, at);
    charge = charge + at.charge;
  }
  const bool may_stay = core_.quota.check(core_.state, shape, charge, 0).is_yes();
  txn_->charge(u.queue, charge, shape.is_preemptible ? 1 : 0);
  count_abroad(u, -1);
  if (!may_stay || !is_lawful()) {
    txn_->rollback(mark);
    count_abroad(u, 1);
    return false;
  }
  is_lifted_[unit] = 0;
  return true;
}

std::vector<size_t> RoomSearch::dearest_first() const {
  std::vector<size_t> out;
  for (const size_t unit : order_) {
    if (is_lifted_[unit] != 0) out.push_back(unit);
  }
  std::ranges::sort(out, [&](size_t a, size_t b) { return Units::goes_before(units_[b], units_[a]); });
  return out;
}

void RoomSearch::put_back_free() {
  for (const size_t unit : dearest_first()) put_back(unit);
}

/// Every gang that is lifted goes on elsewhere where it can. False when one that must cannot.
bool RoomSearch::land_all() {
  landings_.clear();
  for (const size_t unit : dearest_first()) {
    Landing landing;
    if (units_[unit].is_surplus == 0 && land(unit, landing)) {
      landings_.push_back(std::move(landing));
    } else if (units_[unit].must_land != 0) {
      return false;
    }
  }
  return true;
}

bool RoomSearch::land(size_t unit, Landing& out) {
  const Unit& u = units_[unit];
  const Shape& shape = core_.shape_of(u.job);
  if (!core_.is_movable(u.job)) return false;
  counts_.assign(shape.roles.size(), 0);
  for (const TaskId task : units_.tasks(u)) ++counts_[core_.state.tasks().role[index(task)]];
  const ResourceVector least = Quota::least_charge(core_.state, shape, counts_);
  if (!core_.quota.check(core_.state, shape, least, 0).is_yes()) return false;
  const auto mark = txn_->mark();
  const GangRequest request{.shape_id = core_.state.jobs().shape[index(u.job)], .counts = counts_};
  const bool is_placed = core_.placer.place_gang(*txn_, request, out.at).is_yes();
  spend(1 + out.at.tasks.size());
  if (!is_placed) return false;
  ResourceVector charge;
  for (const TaskPlacement& at : out.at.tasks) charge = charge + at.charge;
  txn_->charge(u.queue, charge, shape.is_preemptible ? 1 : 0);
  if (!is_lawful()) {
    txn_->rollback(mark);
    return false;
  }
  out.unit = unit;
  return true;
}

// ---- The search

/// Units in the order of the rule, at first a few, then twice as many, until the taker fits.
bool RoomSearch::find_in_order() {
  start_anew();
  size_t failed = 0;
  size_t next_try = 1;
  while (true) {
    const size_t unit = rule_->next(units_, is_lifted_);
    const bool is_last = unit == UnitRule::kNoUnit;
    if (!is_last) lift(unit);
    if (is_last && order_.size() == failed) return false;
    if (!is_last && order_.size() < next_try) continue;
    if (would_do()) return settle_for(shortest_prefix(failed));
    if (is_last || steps_left_ <= 0) return false;
    failed = order_.size();
    next_try = has_movers_ != 0 ? failed + 1 : 2 * failed;
  }
}

/// All that is lifted will do, and the first `failed` of them will not: how many of them must be.
std::vector<size_t> RoomSearch::shortest_prefix(size_t failed) {
  const std::vector<size_t> all = order_;
  size_t works = all.size();
  while (works - failed > 1) {
    const size_t middle = failed + (works - failed) / 2;
    lift_these(std::span(all).first(middle));
    (would_do() ? works : failed) = middle;
  }
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(works)};
}

/// Lifts the units, which will do, but for those that are not needed, and fills in what follows.
bool RoomSearch::settle_for(std::vector<size_t> units) {
  do_without(units);
  lift_these(units);
  if (!place_taker(Lawful::kMustBe)) return false;
  put_back_free();
  return land_all();
}

/// Leaves out of `units` what the taker can do without, the dearest first.
void RoomSearch::do_without(std::vector<size_t>& units) {
  lift_these(units);
  if (!place_taker(Lawful::kMustBe)) return;
  put_back_free();
  std::erase_if(units, [&](size_t unit) { return is_lifted_[unit] == 0; });
  for (const size_t unit : dearest_first()) {
    if (units.size() < 2 || steps_left_ <= 0) return;
    std::vector<size_t> fewer = units;
    std::erase(fewer, unit);
    const Unit& u = units_[unit];
    const bool is_broken = u.is_surplus != 0 && std::ranges::any_of(fewer, [&](size_t other) {
                             return units_[other].job == u.job && units_[other].is_surplus == 0;
                           });
    if (is_broken) continue;
    lift_these(fewer);
    if (would_do()) units = std::move(fewer);
  }
}

/// Lifts the units in an order that the rule allows: of those allowed the smallest first, which leave its queue above
/// for longest. False when there is none.
bool RoomSearch::lift_lawfully(std::vector<size_t> units) {
  start_anew();
  while (!units.empty()) {
    auto best = units.end();
    for (auto at = units.begin(); at != units.end(); ++at) {
      if (!rule_->allows(units_[*at])) continue;
      if (best == units.end() || units_[*at].count < units_[*best].count) best = at;
    }
    if (best == units.end()) return false;
    lift(*best);
    units.erase(best);
  }
  for (const size_t unit : order_) {  // a gang that goes takes its surplus along
    if (units_[unit].is_surplus != 0) continue;
    for (size_t other = 0; other < units_.size(); ++other) {
      if (units_[other].job == units_[unit].job && is_lifted_[other] == 0) return false;
    }
  }
  return true;
}

bool RoomSearch::find_in_sets() {
  std::vector<uint32_t> sets;
  for (uint32_t set = 1; set < (1U << units_.size()); ++set) sets.push_back(set);
  std::ranges::stable_sort(sets, {}, [](uint32_t set) { return std::popcount(set); });
  for (const uint32_t set : sets) {
    if (steps_left_ <= 0) return false;
    std::vector<size_t> units;
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      if ((set >> unit & 1U) != 0) units.push_back(unit);
    }
    if (lift_lawfully(units) && would_do()) return settle_for(order_);
  }
  return false;
}

/// With everything lifted the taker finds its place; those who are not in its way go back. Will the rest do?
bool RoomSearch::find_over_all() {
  start_anew();
  lift_all();
  if (!place_taker(Lawful::kAnyway)) return false;
  put_back_free();
  std::vector<size_t> in_the_way;
  for (const size_t unit : order_) {
    if (is_lifted_[unit] != 0) in_the_way.push_back(unit);
  }
  return lift_lawfully(in_the_way) && would_do() && settle_for(order_);
}

}  // namespace weft
