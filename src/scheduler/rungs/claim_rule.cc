#include "scheduler/rungs/claim_rule.h"

#include <algorithm>
#include <array>
#include <limits>

namespace weft {
namespace {

constexpr size_t kResources = 3;
using Amounts = std::array<int64_t, kResources>;

Amounts amounts(const ResourceVector& v) { return {v.gpu_units, v.cpu_milli, v.memory_bytes}; }

}  // namespace

ClaimRule::ClaimRule(const ClusterState& state, const Shares& shares, const Units& units, const Claim& claim)
    : state_(state),
      shares_(shares),
      units_(units),
      taker_(claim.queue),
      charge_(claim.charge),
      is_surplus_(claim.taker.is_surplus) {
  const QueueTable& queues = state.queues();
  is_on_path_.assign(queues.size(), 0);
  for (QueueId q = taker_; is_set(q); q = queues.parent[index(q)]) is_on_path_[index(q)] = 1;
  of_queue_.resize(queues.size());
  position_.resize(queues.size(), 0);
  for (size_t unit = 0; unit < units.size(); ++unit) {
    const QueueId queue = units[unit].queue;
    if (units[unit].must_land != 0) {
      movers_.push_back(unit);
      continue;
    }
    if (queue != taker_ && of_queue_[index(queue)].empty()) abroad_.push_back(queue);
    of_queue_[index(queue)].push_back(unit);
  }
  std::ranges::sort(abroad_);
}

ClaimRule::Right ClaimRule::present_right() const {
  const QueueTable& queues = state_.queues();
  const ResourceVector with_taker = queues.usage[index(taker_)] + charge_;
  const bool stays_within = is_surplus_ == 0 && with_taker.fits_in(queues.spec[index(taker_)].guarantee);
  return stays_within ? Right::kGuarantee : Right::kEntitlement;
}

bool ClaimRule::is_above(QueueId queue, const ResourceVector& unit, Right right) const {
  const QueueTable& queues = state_.queues();
  const Amounts usage = amounts(queues.usage[index(queue)]);
  const Amounts guarantee = amounts(queues.spec[index(queue)].guarantee);
  const Amounts entitlement = amounts(shares_.entitlement(queue));
  const Amounts taken = amounts(charge_);
  const Amounts given = amounts(unit);
  for (size_t r = 0; r < kResources; ++r) {
    if (taken[r] <= 0 || given[r] <= 0 || usage[r] <= guarantee[r]) continue;
    if (right == Right::kGuarantee || usage[r] > entitlement[r]) return true;
  }
  return false;
}

bool ClaimRule::may_give(QueueId queue, const ResourceVector& unit, Right right) const {
  for (QueueId q = queue; is_set(q) && is_on_path_[index(q)] == 0; q = state_.queues().parent[index(q)]) {
    if (!is_above(q, unit, right)) return false;
  }
  return true;
}

ResourceVector ClaimRule::charge_of(const Unit& unit) const {
  ResourceVector charge;
  for (const TaskId task : units_.tasks(unit)) charge = charge + state_.tasks().placement[index(task)].charge;
  return charge;
}

bool ClaimRule::allows(const Unit& unit) const {
  if (unit.must_land != 0 || unit.queue == taker_) return true;
  return may_give(unit.queue, charge_of(unit), present_right());
}

bool ClaimRule::is_lawful() const {
  const QueueTable& queues = state_.queues();
  for (QueueId q = taker_; is_set(q); q = queues.parent[index(q)]) {
    const Amounts usage = amounts(queues.usage[index(q)]);
    const Amounts guarantee = amounts(queues.spec[index(q)].guarantee);
    const Amounts entitlement = amounts(shares_.entitlement(q));
    for (size_t r = 0; r < kResources; ++r) {
      if (usage[r] > guarantee[r] && usage[r] > entitlement[r]) return false;
    }
  }
  return true;
}

// ---- Which comes next

ClaimRule::Excess ClaimRule::excess_of(QueueId queue) const {
  const Amounts usage = amounts(state_.queues().usage[index(queue)]);
  const Amounts entitlement = amounts(shares_.entitlement(queue));
  const Amounts taken = amounts(charge_);
  Excess out;
  for (size_t r = 0; r < kResources; ++r) {
    if (taken[r] <= 0 || usage[r] <= 0) continue;
    if (usage[r] > entitlement[r]) out.is_above_entitlement = 1;
    const double ratio = entitlement[r] > 0 ? static_cast<double>(usage[r]) / static_cast<double>(entitlement[r])
                                            : std::numeric_limits<double>::infinity();
    out.ratio = std::max(out.ratio, ratio);
  }
  return out;
}

/// Compares two queues at the level at which their paths part.
bool ClaimRule::gives_before(QueueId a, QueueId b) const {
  const QueueTable& queues = state_.queues();
  std::vector<QueueId> path_a;
  std::vector<QueueId> path_b;
  for (QueueId q = a; is_set(q); q = queues.parent[index(q)]) path_a.push_back(q);
  for (QueueId q = b; is_set(q); q = queues.parent[index(q)]) path_b.push_back(q);
  while (path_a.size() > 1 && path_b.size() > 1 && path_a.back() == path_b.back()) {
    path_a.pop_back();
    path_b.pop_back();
  }
  const Excess one = excess_of(path_a.back());
  const Excess other = excess_of(path_b.back());
  if (one.is_above_entitlement != other.is_above_entitlement) return one.is_above_entitlement != 0;
  return one.ratio > other.ratio;
}

/// The first unit of the queue that is not lifted and may be taken; kNoUnit: none.
size_t ClaimRule::first_of(QueueId queue, std::span<const uint8_t> is_lifted, Right right) {
  const std::vector<size_t>& list = of_queue_[index(queue)];
  size_t& position = position_[index(queue)];
  while (position < list.size() && is_lifted[list[position]] != 0) ++position;
  if (queue == taker_) return position < list.size() ? list[position] : kNoUnit;
  if (!may_give(queue, kUnlimitedResources, right)) return kNoUnit;
  for (size_t at = position; at < list.size(); ++at) {
    const bool is_there = is_lifted[list[at]] == 0;
    if (is_there && may_give(queue, charge_of(units_[list[at]]), right)) return list[at];
  }
  return kNoUnit;
}

size_t ClaimRule::next(const Units& units, std::span<const uint8_t> is_lifted) {
  const Right right = present_right();
  size_t best = kNoUnit;
  for (const QueueId queue : abroad_) {
    const size_t unit = first_of(queue, is_lifted, right);
    if (unit != kNoUnit && (best == kNoUnit || gives_before(queue, units[best].queue))) best = unit;
  }
  if (best != kNoUnit) return best;
  if (const size_t own = first_of(taker_, is_lifted, right); own != kNoUnit) return own;
  while (mover_ < movers_.size() && is_lifted[movers_[mover_]] != 0) ++mover_;
  return mover_ < movers_.size() ? movers_[mover_] : kNoUnit;
}

}  // namespace weft
