#include "scheduler/rungs/place.h"

#include "base/check.h"
#include "scheduler/gang_counts.h"

#include <algorithm>

namespace weft {

/// False where no line is to be tried.
bool PlaceRung::gather(Lines which) {
  const uint8_t is_surplus = which == Lines::kSurplus ? 1 : 0;
  bool has_any = false;
  const auto add = [&](LineId id) {
    if (core_.lines[id].is_surplus != is_surplus) return;
    turns_.add(id);
    has_any = true;
  };
  turns_.begin(core_.state, core_.lines, *core_.parts.job_order, *core_.parts.queue_order, core_.share_measure());
  const bool asks_all = core_.config().strict == StrictOrder::kYes || (core_.reserves() && which == Lines::kMinimum);
  if (!asks_all) {
    for (const LineId line : core_.lines.awake()) add(line);
  } else {
    // Those who were refused and have not been woken keep their place: they hold back whoever comes after them, or
    // have their reservation.
    for (size_t i = 0; i < core_.lines.size(); ++i) {
      if (core_.lines[make_id<LineId>(i)].size > 0) add(make_id<LineId>(i));
    }
  }
  turns_.arrange();
  return has_any;
}

void PlaceRung::run() {
  core_.strict_blocker = kNone<JobId>;
  core_.is_unfinished = 0;
  if (core_.lines.awake().empty() && core_.reservations.look() > core_.now) return;
  if (core_.config().share == ShareBasis::kEntitlement && core_.state.queues().size() > 1)
    core_.room.shares.refresh(core_);
  reserved_ = 0;
  if (core_.reserves()) core_.reservations.begin(core_.now);
  if (gather(Lines::kMinimum)) pass();
  if (core_.reserves()) core_.reservations.finish();
  // Every minimum comes before any surplus; and where somebody keeps all others back, before that too.
  if (core_.is_unfinished == 0 && !is_set(core_.strict_blocker) && gather(Lines::kSurplus)) pass();
}

void PlaceRung::pass() {
  Transaction txn(core_.state);
  uint64_t steps = 0;
  while (!turns_.is_empty()) {
    if (steps >= core_.config().pass_steps_max) {
      core_.is_unfinished = 1;
      return;
    }
    const LineId id = turns_.next();
    const JobId job = turns_.next_job();
    if (job != core_.lines.head(id)) {
      follow(txn, id, job);
      continue;
    }
    placement_.clear();
    const bool is_asleep = core_.lines[id].state == Line::State::kAsleep;
    const Verdict verdict = is_asleep ? standing_refusal(core_.lines[id], job) : try_job(txn, id, job);
    steps += 1 + placement_.tasks.size();
    if (verdict.is_yes()) {
      core_.lines[id].size > 0 ? turns_.update(id) : turns_.remove(id);
      continue;
    }
    if (may_reserve(core_.lines[id], verdict)) reserve(txn, core_.lines[id], job);
    refuse(id, job, verdict);
    if (core_.config().strict == StrictOrder::kYes && blocks(verdict)) {
      core_.strict_blocker = job;
      return;
    }
  }
}

/// Whoever waits for room reserves some, until as many have as the policy says.
bool PlaceRung::may_reserve(const Line& line, const Verdict& verdict) const {
  return core_.reserves() && blocks(verdict) && line.is_surplus == 0 &&
         reserved_ < core_.config().backfill.reservation_depth;
}

void PlaceRung::reserve(Transaction& txn, const Line& line, JobId job) {
  ++reserved_;
  core_.fill_request(line, job, counts_);
  if (counts_.empty()) return;
  const GangRequest request{.shape_id = line.shape, .job = job, .counts = counts_};
  const auto since = core_.wake_ups.has_freed() ? ReservationBook::Since::kFreed : ReservationBook::Since::kUnchanged;
  if (core_.reservations.reserve(core_, txn, request, since)) return;
  // No end is in sight: it keeps nobody back, until it has waited for too long.
  const Instant submitted = core_.state.jobs().submitted[index(job)];
  const Duration patience = core_.config().backfill.drain_after;
  if (patience >= kEndless) return;
  if (submitted + patience <= core_.now) {
    core_.reservations.drain(core_, txn, request);
  } else {
    core_.reservations.look_at(submitted + patience);
  }
}

/// The first of the line was refused. Where a reservation was in its way, one who comes after it can still be in
/// nobody's if it is shorter; and it can have a reservation of its own.
void PlaceRung::follow(Transaction& txn, LineId id, JobId job) {
  const Duration length = core_.state.jobs().estimate[index(job)];
  if (core_.lines[id].verdict.reason == Reason::kReservation && length < shortest_refused_[index(id)]) {
    const EntryId next = next_to_follow(id, job);
    placement_.clear();
    if (try_job(txn, id, job).is_yes()) {
      is_set(next) ? turns_.advance(id, next) : turns_.remove(id);
      return;
    }
    shortest_refused_[index(id)] = length;
  }
  if (may_reserve(core_.lines[id], core_.lines[id].verdict)) reserve(txn, core_.lines[id], job);
  leave_turn(id, job);
}

/// Of those behind the job in its line the first for whom something can still be done; kNone: nobody.
EntryId PlaceRung::next_to_follow(LineId id, JobId job) const {
  const Line& line = core_.lines[id];
  EntryId next = core_.lines.next_in_line(core_.lines.find(job, line.role));
  if (may_reserve(line, line.verdict)) return next;
  if (line.verdict.reason != Reason::kReservation) return kNone<EntryId>;
  for (int looked_at = 0; is_set(next) && looked_at < kFollowersMax; ++looked_at) {
    const Duration length = core_.state.jobs().estimate[index(core_.lines.job_of(next))];
    if (length < shortest_refused_[index(id)]) return next;
    next = core_.lines.next_in_line(next);
  }
  return kNone<EntryId>;
}

/// The line's job has had its turn: another one of the line goes on, or the line is out.
void PlaceRung::leave_turn(LineId id, JobId job) {
  const EntryId next = next_to_follow(id, job);
  is_set(next) ? turns_.advance(id, next) : turns_.remove(id);
}

/// Who waits for room (and not for its queue, or for ever) keeps its place in a strict order.
bool PlaceRung::blocks(const Verdict& verdict) const {
  return !verdict.is_never && verdict.reason != Reason::kLimit && verdict.reason != Reason::kGuarantee;
}

/// The answer of a line that has not been woken. Its queue may have filled up since: who is forbidden by it keeps
/// nobody back.
Verdict PlaceRung::standing_refusal(const Line& line, JobId job) {
  if (!blocks(line.verdict)) return line.verdict;
  core_.fill_request(line, job, counts_);
  const Shape& shape = core_.state.shapes()[line.shape];
  const Verdict quota = core_.quota.check(core_.state, shape, Quota::least_charge(core_.state, shape, counts_),
                                          core_.book[job].holds() ? 0 : 1);
  return quota.is_yes() ? line.verdict : quota;
}

/// What the first of a line cannot get, none of them can: the line is out of the pass. But a job that is bound to where
/// its other tasks run speaks for itself only; it goes on waiting in a line of its own.
void PlaceRung::refuse(LineId id, JobId job, const Verdict& verdict) {
  if (core_.lines[id].state == Line::State::kAsleep || is_set(core_.lines[id].owner) ||
      !is_bound(core_.lines[id], job)) {
    core_.lines.sleep(id, verdict);
    if (shortest_refused_.size() <= index(id)) shortest_refused_.resize(core_.lines.size());
    shortest_refused_[index(id)] = core_.state.jobs().estimate[index(job)];
    leave_turn(id, job);
    return;
  }
  const EntryId entry = core_.lines.find(job, core_.lines[id].role);
  const LineKey key = core_.lines.key_of(entry);
  core_.lines.leave(job, entry);
  const LineId own = core_.lines.open_own_line(job, core_.lines[id]);
  core_.lines.join(job, key, own);
  core_.lines.sleep(own, verdict);
  core_.lines[id].size > 0 ? turns_.update(id) : turns_.remove(id);
}

/// Whether the tasks that the job runs already have a say in where the next ones may be.
bool PlaceRung::is_bound(const Line& line, JobId job) const {
  if (core_.book[job].live == 0) return false;
  const Shape& shape = core_.state.shapes()[line.shape];
  if (is_set(line.owner) || line.role == kWholeGang || has_scope(shape)) return true;
  // A role that begins asks for more than one that goes on.
  return line.is_surplus != 0 && role_minimum(shape, static_cast<size_t>(line.role)) > 1;
}

/// Tries a job of the line: yes when it got its hold (and left the line, if it lacks nothing more).
Verdict PlaceRung::try_job(Transaction& txn, LineId id, JobId job) {
  Line& line = core_.lines[id];
  const Shape& shape = core_.state.shapes()[line.shape];
  core_.fill_request(line, job, counts_);
  WEFT_CHECK(!counts_.empty(), "a gang stands in a line of its own while it lacks something that it could be given");
  const int32_t new_jobs = core_.book[job].holds() ? 0 : 1;
  const ResourceVector least = Quota::least_charge(core_.state, shape, counts_);
  Verdict verdict = core_.quota.check(core_.state, shape, least, new_jobs);
  if (!verdict.is_yes()) return verdict;
  // Refused before, and nothing has changed but the nodes noted: that is quickly looked at, and the old answer stands.
  if (line.is_retry != 0 && !core_.wake_ups.could_help(line, core_.state)) return line.verdict;

  const auto mark = txn.mark();
  // Also where none of its tasks runs yet: the score "random" draws by the job.
  verdict = place_now_or_later(txn, {.shape_id = line.shape, .job = job, .counts = counts_});
  if (!verdict.is_yes()) return explain_refusal(line, verdict);
  ResourceVector charge;
  for (const TaskPlacement& p : placement_.tasks) charge = charge + p.charge;
  if (charge != least) verdict = core_.quota.check(core_.state, shape, charge, new_jobs);
  if (!verdict.is_yes()) {
    // On other devices it might cost its queue less, and any change can lead the placer to them.
    verdict.wakes_on = static_cast<WakeMask>(verdict.wakes_on | wake_bit(WakeKind::kJobChanged));
    txn.rollback(mark);
    placement_.clear();
    return verdict;
  }
  lifecycle_.hold(txn, job, placement_);
  txn.commit();
  lifecycle_.sync_lines(job);
  return verdict;
}

/// On what is free, or else on what is being released; not where it would be in the way of a reservation.
Verdict PlaceRung::place_now_or_later(Transaction& txn, const GangRequest& request) {
  if (core_.reservations.is_empty()) return place_beside_leavers(txn, request);
  const auto mark = txn.mark();
  core_.reservations.hide(txn, core_.now, core_.end_if_started(request.job), request.job);
  Verdict verdict = place_beside_leavers(txn, request);
  core_.reservations.reveal(txn);
  if (verdict.is_yes()) {
    core_.reservations.note_start(core_.state, request.shape_id, placement_, core_.end_if_started(request.job));
    return verdict;
  }
  txn.rollback(mark);
  if (!core_.placer.place_gang(txn, request, placement_).is_yes()) return verdict;
  txn.rollback(mark);
  placement_.clear();
  Verdict kept;
  kept.reason = Reason::kReservation;
  kept.blocker = core_.reservations.all().front().job;
  return kept;
}

Verdict PlaceRung::place_beside_leavers(Transaction& txn, const GangRequest& request) {
  const auto mark = txn.mark();
  const Verdict verdict = core_.placer.place_gang(txn, request, placement_);
  if (!verdict.is_yes() || core_.leavers.is_empty() || starts_at_once(request)) return verdict;
  txn.rollback(mark);
  core_.leavers.hide(txn);
  const bool is_free_now = core_.placer.place_gang(txn, request, placement_).is_yes();
  core_.leavers.reveal(txn);
  if (is_free_now && starts_at_once(request)) return Verdict{};
  txn.rollback(mark);
  return core_.placer.place_gang(txn, request, placement_);
}

/// Nobody must go before what placement_ says can be held.
bool PlaceRung::starts_at_once(const GangRequest& request) const {
  ResourceVector charge;
  for (const TaskPlacement& at : placement_.tasks) charge = charge + at.charge;
  const Shape& shape = core_.state.shapes()[request.shape_id];
  return core_.leavers.find_in_the_way(core_.state, shape, placement_.tasks, charge).empty();
}

/// Whether it could ever be placed, and what could change the answer.
Verdict PlaceRung::explain_refusal(Line& line, Verdict verdict) {
  if (verdict.reason == Reason::kReservation) {
    verdict.wakes_on = wake_bit(WakeKind::kJobChanged);  // anything can move or end a reservation
    return verdict;
  }
  if (core_.ceiling.is_never(line)) {
    verdict = core_.ceiling.explain(line);
    verdict.wakes_on = wake_bit(WakeKind::kNodeAdded);
    return verdict;
  }
  verdict.wakes_on = wake_bit(WakeKind::kNodeAdded) | wake_bit(WakeKind::kCapacityFreed);
  return verdict;
}

}  // namespace weft
