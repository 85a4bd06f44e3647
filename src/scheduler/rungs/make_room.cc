#include "scheduler/rungs/make_room.h"

#include "base/check.h"
#include "scheduler/gang_counts.h"
#include "scheduler/rungs/claim_rule.h"

#include <algorithm>

namespace weft {

std::string_view MakeRoomRung::name() const {
  switch (kind_) {
    case Kind::kConsolidate: return "consolidate";
    case Kind::kReclaim: return "reclaim";
    case Kind::kPreempt: return "preempt";
  }
  return "";
}

void MakeRoomRung::run() {
  if (core_.room.is_due == 0) return;
  core_.room.shares.refresh(core_);
  is_out_.clear();
  is_out_.resize(core_.lines.size());
  make_room(Lines::kMinimum);
  if (kind_ != Kind::kConsolidate) make_room(Lines::kSurplus);  // nobody is moved for more than a minimum
}

void MakeRoomRung::make_room(Lines which) {
  gather(which);
  while (!turns_.is_empty()) {
    const LineId id = turns_.next();
    if (try_line(id)) {
      gather(which);  // other queues hold less now
    } else {
      is_out_.set(index(id));
      turns_.remove(id);
    }
  }
}

void MakeRoomRung::gather(Lines which) {
  turns_.begin(core_.state, core_.lines, *core_.parts.job_order, *core_.parts.queue_order, core_.share_measure());
  for (size_t i = 0; i < is_out_.size(); ++i) {
    const Line& line = core_.lines[make_id<LineId>(i)];
    const bool is_refused = line.size > 0 && line.state == Line::State::kAsleep && may_be_helped(line);
    const bool is_asked = line.is_surplus == (which == Lines::kSurplus ? 1 : 0);
    if (is_refused && is_asked && !is_out_.test(i)) turns_.add(make_id<LineId>(i));
  }
  turns_.arrange();
}

/// It waits for room, or for its queue's limit; nothing else keeps it back.
bool MakeRoomRung::may_be_helped(const Line& line) const {
  const Verdict& verdict = line.verdict;
  return !verdict.is_never && verdict.reason != Reason::kGuarantee && verdict.reason != Reason::kUnavailable;
}

/// A quick look before the search: is there anybody who could give something?
bool MakeRoomRung::could_be_helped(const Line& line) {
  const Shape& shape = core_.state.shapes()[line.shape];
  switch (kind_) {
    case Kind::kPreempt: return core_.holders.could_give(shape.queue, shape.priority);
    case Kind::kReclaim: return is_anybody_above(shape.queue);
    case Kind::kConsolidate: break;
  }
  // Moves bring together what is free, and parts of devices too: they do not make more of it.
  int64_t needed = 0;
  for (size_t role = 0; role < counts_.size(); ++role) {
    const DeviceDemand& devices = shape.roles[role].demand.devices;
    if (devices.kind == DeviceNeedKind::kWhole) needed += int64_t{counts_[role]} * devices.count;
  }
  const CapacityIndex& capacity = core_.state.capacity();
  return needed <= capacity.free_devices(DomainId{0}) || capacity.with_shared_room().count() > 0;
}

/// Some other queue holds more than its guarantee.
bool MakeRoomRung::is_anybody_above(QueueId but) const {
  const QueueTable& queues = core_.state.queues();
  for (size_t q = 0; q < queues.size(); ++q) {
    const bool is_leaf = queues.has_children[q] == 0 && make_id<QueueId>(q) != but;
    if (is_leaf && !queues.usage[q].fits_in(queues.spec[q].guarantee)) return true;
  }
  return false;
}

/// It is not time yet to stop others for it.
bool MakeRoomRung::is_patient(JobId job) {
  const Instant until = core_.state.jobs().submitted[index(job)] + core_.book[job].patience;
  if (until <= core_.now) return false;
  core_.room.look = std::min(core_.room.look, until);
  return true;
}

/// What could be taken for the taker, or moved.
void MakeRoomRung::collect(const Taker& taker, QueueId queue) {
  units_.clear();
  const size_t queues = core_.state.queues().size();
  if (kind_ == Kind::kPreempt) units_.add_queue(queue, taker, Taking::kPreempt);
  for (size_t q = 0; q < queues && kind_ != Kind::kConsolidate; ++q) {
    if (make_id<QueueId>(q) != queue) units_.add_queue(make_id<QueueId>(q), taker, Taking::kReclaim);
  }
  const bool may_move = core_.config().rungs.consolidate != 0 && taker.is_surplus == 0;
  for (size_t q = 0; q < queues && may_move; ++q) units_.add_movable(make_id<QueueId>(q), taker);
  units_.sort();
  core_.room.look = std::min(core_.room.look, units_.first_protection_end());
}

/// Yes: the line's first job has been given room.
bool MakeRoomRung::try_line(LineId id) {
  const Line& line = core_.lines[id];
  const JobId job = core_.lines.head(id);
  if (is_patient(job)) return false;
  core_.fill_request(line, job, counts_);
  if (counts_.empty() || !could_be_helped(line)) return false;
  const Shape& shape = core_.state.shapes()[line.shape];
  const Taker taker{.job = job, .priority = shape.priority, .is_surplus = line.is_surplus};
  collect(taker, shape.queue);
  const bool gives_nobody = units_.size() == 0 || units_[0].must_land != 0;
  if (gives_nobody && kind_ != Kind::kConsolidate) return false;  // moves alone were tried before
  const ResourceVector least = Quota::least_charge(core_.state, shape, counts_);
  ClaimRule rule(core_.state, core_.room.shares, units_, {.queue = shape.queue, .charge = least, .taker = taker});
  const GangRequest request{.shape_id = line.shape, .job = job, .counts = counts_};
  if (RoomSearch(core_, units_).find(request, rule, plan_) != RoomAnswer::kFound) return false;
  carry_out(job, plan_);
  return true;
}

StopCause MakeRoomRung::cause_of(const Unit& unit, QueueId taker) const {
  return unit.queue == taker ? StopCause::kPreempted : StopCause::kReclaimed;
}

/// Everybody who must go is told; then what is free belongs to whom it was freed for.
void MakeRoomRung::carry_out(JobId job, const RoomPlan& plan) {
  const Shape& shape = core_.shape_of(job);
  stop_victims(plan, shape.queue);
  for (const Landing& landing : plan.landings) lifecycle_.evict(units_[landing.unit].job, StopCause::kMoved);
  {
    Transaction txn(core_.state);
    for (size_t i = 0; i < plan.taker.tasks.size(); ++i)
      txn.take(shape.roles[plan.taker.role[i]].demand, plan.taker.tasks[i]);
    lifecycle_.hold(txn, job, plan.taker);
    txn.commit();
  }
  for (const Landing& landing : plan.landings) lifecycle_.promise(units_[landing.unit].job, landing.at);
  lifecycle_.sync_lines(job);
}

void MakeRoomRung::stop_victims(const RoomPlan& plan, QueueId taker) {
  const auto is_whole = [&](const Unit& unit) {
    return unit.is_surplus == 0 && core_.shape_of(unit.job).gang != GangRule::kNone;
  };
  stopped_.clear();
  for (const Landing& landing : plan.landings) stopped_.push_back(units_[landing.unit].job);
  for (const size_t victim : plan.victims) {
    const Unit& unit = units_[victim];
    if (!is_whole(unit)) continue;
    lifecycle_.evict(unit.job, cause_of(unit, taker));
    stopped_.push_back(unit.job);
  }
  for (const size_t victim : plan.victims) {
    const Unit& unit = units_[victim];
    if (is_whole(unit) || std::ranges::find(stopped_, unit.job) != stopped_.end()) continue;
    lifecycle_.shrink(unit.job, units_.tasks(unit), cause_of(unit, taker));
  }
}

}  // namespace weft
