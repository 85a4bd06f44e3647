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
  if (core_.config().strict == StrictOrder::kNo) {
    for (const LineId line : core_.lines.awake()) add(line);
  } else {
    // Those who were refused and have not been woken keep their place: they hold back whoever comes after them.
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
  if (core_.lines.awake().empty()) return;
  if (core_.config().share == ShareBasis::kEntitlement && core_.state.queues().size() > 1)
    core_.room.shares.refresh(core_);
  if (gather(Lines::kMinimum)) pass();
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
    const JobId job = core_.lines.head(id);
    placement_.clear();
    const bool is_asleep = core_.lines[id].state == Line::State::kAsleep;  // in a strict order only
    const Verdict verdict = is_asleep ? standing_refusal(core_.lines[id], job) : try_head(txn, id);
    steps += 1 + placement_.tasks.size();
    if (verdict.is_yes()) {
      core_.lines[id].size > 0 ? turns_.update(id) : turns_.remove(id);
      continue;
    }
    refuse(id, job, verdict);
    if (core_.config().strict == StrictOrder::kYes && blocks(verdict)) {
      core_.strict_blocker = job;
      return;
    }
  }
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
    turns_.remove(id);
    core_.lines.sleep(id, verdict);
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

/// Tries the line's first job: yes when it got its hold (and left the line, if it lacks nothing more).
Verdict PlaceRung::try_head(Transaction& txn, LineId id) {
  Line& line = core_.lines[id];
  const JobId job = core_.lines.head(id);
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

/// On what is free, or else on what is being released.
Verdict PlaceRung::place_now_or_later(Transaction& txn, const GangRequest& request) {
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
  if (core_.ceiling.is_never(line)) {
    verdict = core_.ceiling.explain(line);
    verdict.wakes_on = wake_bit(WakeKind::kNodeAdded);
    return verdict;
  }
  verdict.wakes_on = wake_bit(WakeKind::kNodeAdded) | wake_bit(WakeKind::kCapacityFreed);
  return verdict;
}

}  // namespace weft
