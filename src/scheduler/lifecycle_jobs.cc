#include "base/check.h"
#include "scheduler/lifecycle.h"

#include <algorithm>

namespace weft {

// ---- The engine's answers

bool Lifecycle::on_hold_accepted(JobId job, uint32_t attempt) {
  const AttemptId id = core_.knows(job) ? core_.attempts.find(job, attempt) : kNone<AttemptId>;
  if (!is_set(id) || core_.attempts[id].phase != AttemptPhase::kHolding) return false;
  set_phase(id, AttemptPhase::kStarting);
  core_.log.start(job, attempt);
  refresh(job);
  return true;
}

bool Lifecycle::on_hold_refused(JobId job, uint32_t attempt, std::string_view reason) {
  const AttemptId id = core_.knows(job) ? core_.attempts.find(job, attempt) : kNone<AttemptId>;
  if (!is_set(id) || core_.attempts[id].phase != AttemptPhase::kHolding) return false;
  {
    Transaction txn(core_.state);
    let_go_all(txn, id);
    txn.commit();
  }
  refuse(job, reason);
  return true;
}

bool Lifecycle::on_gang_started(JobId job, uint32_t attempt) {
  const AttemptId id = core_.knows(job) ? core_.attempts.find(job, attempt) : kNone<AttemptId>;
  if (!is_set(id) || core_.attempts[id].phase != AttemptPhase::kStarting) return false;
  core_.book[job].refusals = 0;
  // Whoever runs already only gets more tasks: the rest of its time goes on.
  const bool is_growth = core_.shape_of(job).gang == GangRule::kAll && core_.state_of(job) == JobState::kRunning;
  {
    Transaction txn(core_.state);
    start_running(txn, id);
    if (core_.book[job].intent == Intent::kNone && !is_growth) set_clocks(txn, job, core_.now);
    txn.commit();
  }
  refresh(job);
  return true;
}

bool Lifecycle::on_start_failed(JobId job, uint32_t attempt, std::string_view reason) {
  const AttemptId id = core_.knows(job) ? core_.attempts.find(job, attempt) : kNone<AttemptId>;
  if (!is_set(id) || core_.attempts[id].phase != AttemptPhase::kStarting) return false;
  {
    Transaction txn(core_.state);
    let_go_all(txn, id);
    txn.commit();
  }
  if (core_.book[job].intent != Intent::kNone) {
    after_loss(job, StopCause::kGangBroken);
  } else {
    refuse(job, reason);
  }
  return true;
}

bool Lifecycle::on_task_ended(const TaskEnded& event) {
  if (!core_.knows(event.job) || event.task < 0) return false;
  if (static_cast<uint32_t>(event.task) >= core_.state.jobs().task_count[index(event.job)]) return false;
  const TaskId task = task_of(event.job, event.task);
  const TaskState before = core_.state.tasks().state[index(task)];
  if (!is_live(before) || core_.book.attempt_of(task) != event.attempt) return false;
  const AttemptId id = core_.attempts.find(event.job, event.attempt);
  if (core_.attempts[id].phase <= AttemptPhase::kHolding) return false;  // nothing of it was started
  {
    Transaction txn(core_.state);
    let_go(txn, task, event.outcome == TaskOutcome::kDone ? TaskState::kDone : TaskState::kPending);
    txn.commit();
  }
  if (core_.attempts[id].live == 0) remove_attempt(id);
  if (event.outcome == TaskOutcome::kFailed && !is_stopping(before)) {
    if (core_.book[event.job].exit_status == 0) core_.book[event.job].exit_status = event.exit_status;
    on_crash(event.job);
  } else {
    after_loss(event.job, event.outcome == TaskOutcome::kLost ? StopCause::kNodeFault : StopCause::kGangBroken);
  }
  return true;
}

bool Lifecycle::on_progress(const ProgressReported& event) {
  if (!core_.knows(event.job) || core_.has_ended(event.job) || event.remaining.ns < 0) return false;
  JobRecord& record = core_.book[event.job];
  const Duration remaining = std::min(event.remaining, kEndless);
  // What is known changes nobody's rank. A driver tells what is left whenever it stops a job: if two of equal rank took
  // turns for that alone, no instant would end.
  if (core_.job_key(event.job).remaining == remaining) return true;
  if (core_.elects()) core_.elect.is_due = 1;
  record.left = remaining;
  record.executed_then = record.executed_by(core_.now);
  if (!core_.elects()) return true;
  // Who waits stands by its rank.
  for (EntryId entry = core_.lines.first_entry(event.job); is_set(entry); entry = core_.lines.first_entry(event.job)) {
    const LineId line = core_.lines.line_of(entry);
    const LineKey key = core_.line_key(event.job);
    if (core_.lines.key_of(entry) == key) break;
    core_.lines.leave(event.job, entry);
    core_.lines.join(event.job, key, line);
  }
  return true;
}

// ---- What others do to a job

void Lifecycle::unelect(JobId job) {
  core_.book[job].is_unelected = 1;
  stop_all(job, Intent::kRestart, StopCause::kPreempted);
}

void Lifecycle::cancel(JobId job) {
  const Intent intent = core_.book[job].intent;
  if (intent == Intent::kRestart) {
    core_.book[job].intent = Intent::kCancel;  // its tasks have been told already
  } else if (intent == Intent::kNone) {
    stop_all(job, Intent::kCancel, StopCause::kCancelled);
  }
}

void Lifecycle::lose_node(NodeId node) {
  const TaskTable& tasks = core_.state.tasks();
  lost_.clear();
  for (size_t t = 0; t < tasks.size(); ++t) {
    if (is_live(tasks.state[t]) && tasks.placement[t].node == node) lost_.push_back(make_id<TaskId>(t));
  }
  lose(StopCause::kNodeFault, node);
}

void Lifecycle::lose_device(NodeId node, unsigned device) {
  const TaskTable& tasks = core_.state.tasks();
  lost_.clear();
  for (size_t t = 0; t < tasks.size(); ++t) {
    if (!is_live(tasks.state[t]) || tasks.placement[t].node != node) continue;
    if ((tasks.placement[t].devices >> device & 1U) != 0) lost_.push_back(make_id<TaskId>(t));
  }
  lose(StopCause::kNodeFault, kNone<NodeId>);
}

/// The tasks in lost_ are gone (where they are on `down`) or have to be stopped.
void Lifecycle::lose(StopCause cause, NodeId down) {
  hurt_.clear();
  {
    Transaction txn(core_.state);
    for (const TaskId task : lost_) {
      const TaskState state = core_.state.tasks().state[index(task)];
      if (!is_live(state)) continue;  // its hold was given up with another of its tasks
      const JobId job = core_.state.tasks().job[index(task)];
      if (hurt_.empty() || hurt_.back() != job) hurt_.push_back(job);
      const AttemptId id = core_.attempts.find(job, core_.book.attempt_of(task));
      if (core_.attempts[id].phase <= AttemptPhase::kHolding) {
        give_up_hold(txn, id);
      } else if (is_set(down)) {
        let_go(txn, task, TaskState::kPending);
        if (core_.attempts[id].live == 0) remove_attempt(id);
      } else if (!is_stopping(state)) {
        stop_task(txn, task, cause);
      }
    }
    txn.commit();
  }
  std::ranges::sort(hurt_);
  hurt_.erase(std::ranges::unique(hurt_).begin(), hurt_.end());
  for (const JobId job : hurt_) after_loss(job, cause);
}

void Lifecycle::on_stale(JobId job) {
  const StopCause cause = core_.book[job].loss_cause;
  core_.book[job].stale_due = kNever;
  stop_all(job, Intent::kRestart, cause);
}

void Lifecycle::on_time_limit(JobId job) { stop_all(job, Intent::kTimeLimit, StopCause::kTimeLimit); }

void Lifecycle::begin_adopted(JobId job, Instant started) {
  {
    Transaction txn(core_.state);
    set_clocks(txn, job, std::min(started, core_.now));
    txn.commit();
  }
  after_loss(job, StopCause::kGangBroken);
  if (core_.book[job].running_since != kNever) core_.book[job].running_since = std::min(started, core_.now);
}

// ---- What becomes of it

void Lifecycle::refresh(JobId job) {
  sync_lines(job);
  Transaction txn(core_.state);
  update_state(txn, job);
  txn.commit();
}

/// Whether its minimum runs, or, before it has run, is held.
bool Lifecycle::is_whole_enough(JobId job) {
  const auto counts = core_.book.counts(core_.book[job]);
  const bool runs = std::ranges::any_of(counts, [](const RoleCounts& c) { return c.running > 0; });
  return core_.gang_check.is_whole(core_.shape_of(job), counts,
                                   runs ? GangCheck::Count::kRunning : GangCheck::Count::kCounted);
}

/// Some of the job's tasks are gone, or have been told to go: is it done, whole all the same, tolerated, or to be
/// stopped?
void Lifecycle::after_loss(JobId job, StopCause cause) {
  JobRecord& record = core_.book[job];
  const Shape& shape = core_.shape_of(job);
  if (record.intent != Intent::kNone) {
    record.live == 0 ? finish_intent(job) : refresh(job);
    return;
  }
  const auto counts = core_.book.counts(record);
  if (record.live == 0 && core_.gang_check.is_done(shape, counts)) return end(job, JobState::kDone);
  if (shape.gang == GangRule::kNone) return refresh(job);
  if (record.live == 0) return wait_again(job);
  const bool is_over = core_.gang_check.is_done(shape, counts) && record.attempts_starting == 0 &&
                       std::ranges::all_of(counts, [](const RoleCounts& c) { return c.running == 0; });
  if (is_over) return stop_all(job, Intent::kRestart, cause);  // what was still to come is not needed any more
  if (is_whole_enough(job)) return refresh(job);
  const bool is_leaving =
      std::ranges::all_of(counts, [](const RoleCounts& c) { return c.held == 0 && c.running == 0; });
  if (is_leaving) {
    record.intent = Intent::kRestart;
    return refresh(job);
  }
  if (record.stale_due != kNever) return refresh(job);
  const bool has_run = std::ranges::any_of(counts, [](const RoleCounts& c) { return c.running > 0; });
  if (!has_run || record.stale_after.ns <= 0 || core_.elects()) return stop_all(job, Intent::kRestart, cause);
  tolerate(job, cause);
}

void Lifecycle::tolerate(JobId job, StopCause cause) {
  JobRecord& record = core_.book[job];
  record.loss_cause = cause;
  record.stale_due = core_.now + record.stale_after;
  core_.timers.add({.due = record.stale_due, .job = job, .kind = TimerKind::kStale});
  refresh(job);
}

void Lifecycle::on_crash(JobId job) {
  JobRecord& record = core_.book[job];
  if (record.intent != Intent::kNone) return after_loss(job, StopCause::kGangBroken);
  if (record.retries_left == 0) {
    return stop_all(job, Intent::kFail, StopCause::kGangBroken);
  }
  --record.retries_left;
  const bool goes_on = core_.shape_of(job).gang == GangRule::kNone || is_whole_enough(job);
  goes_on ? after_loss(job, StopCause::kGangBroken) : stop_all(job, Intent::kRestart, StopCause::kGangBroken);
}

/// The engine would not hold or start an attempt; it is over already.
void Lifecycle::refuse(JobId job, std::string_view reason) {
  JobRecord& record = core_.book[job];
  if (++record.refusals >= core_.config().attempts_max) {
    record.end_reason = Reason::kEngine;
    core_.book.set_remark(job, std::string(reason));
    return stop_all(job, Intent::kFail, StopCause::kGangBroken);
  }
  const bool is_whole_gang = core_.shape_of(job).gang == GangRule::kAll;
  is_whole_gang&& record.live == 0 ? wait_again(job) : refresh(job);
}

void Lifecycle::stop_all(JobId job, Intent intent, StopCause cause) {
  JobRecord& record = core_.book[job];
  record.intent = intent;
  record.stale_due = kNever;
  record.limit_due = kNever;
  {
    Transaction txn(core_.state);
    for (AttemptId id = core_.attempts.first(job); is_set(id);) {
      const AttemptId next = core_.attempts[id].next;
      core_.attempts[id].phase <= AttemptPhase::kHolding ? give_up_hold(txn, id) : stop_attempt(txn, id, cause);
      id = next;
    }
    txn.commit();
  }
  record.live == 0 ? finish_intent(job) : refresh(job);
}

void Lifecycle::finish_intent(JobId job) {
  JobRecord& record = core_.book[job];
  const Intent intent = record.intent;
  record.intent = Intent::kNone;
  if (intent == Intent::kCancel) return end(job, JobState::kCancelled);
  if (intent == Intent::kFail) return end(job, JobState::kFailed);
  // It was told to stop, but may have been faster.
  if (core_.gang_check.is_done(core_.shape_of(job), core_.book.counts(record))) return end(job, JobState::kDone);
  if (intent == Intent::kRestart) return wait_again(job);
  core_.book.set_remark(job, "it ran for as long as its time limit allows");
  end(job, JobState::kFailed);
}

/// A gang that holds nothing begins anew, with its place in line.
void Lifecycle::wait_again(JobId job) {
  JobRecord& record = core_.book[job];
  if (record.is_unelected == 0) core_.elect.is_due = core_.elect.has_returned = 1;
  record.is_unelected = 0;
  record.stale_due = kNever;
  record.limit_due = kNever;
  {
    Transaction txn(core_.state);
    const size_t first = index(core_.state.jobs().first_task[index(job)]);
    for (size_t t = first; t < first + core_.state.jobs().task_count[index(job)]; ++t) {
      if (core_.state.tasks().state[t] == TaskState::kDone) txn.set_task_state(make_id<TaskId>(t), TaskState::kPending);
    }
    txn.set_job_times(job, kNever, kNever);
    txn.commit();
  }
  std::ranges::fill(core_.book.counts(record), RoleCounts{});
  keep_promise(job);
  refresh(job);
}

void Lifecycle::end(JobId job, JobState end_state) {
  JobRecord& record = core_.book[job];
  core_.lines.leave_all(job);
  drop_promise(job);
  {
    Transaction txn(core_.state);
    txn.set_job_state(job, end_state);
    txn.set_job_times(job, core_.state.jobs().started[index(job)], kNever);
    txn.commit();
  }
  record.ended = core_.now;
  core_.elect.is_due = 1;
  record.stale_due = kNever;
  record.limit_due = kNever;
  core_.log.end(job, end_state);
  core_.state.retire_tasks(job);
  core_.book.retire(job);
  ended_.push_back(job);
}

void Lifecycle::settle() {
  for (size_t i = 0; i < ended_.size(); ++i) {
    const bool is_well = core_.state_of(ended_[i]) == JobState::kDone;
    core_.book.drain_dependents(ended_[i], [&](JobId dependent) {
      if (core_.has_ended(dependent)) return;
      JobRecord& record = core_.book[dependent];
      if (!is_well) return cancel(dependent);
      if (--record.dependencies_open > 0) return;
      record.gates = static_cast<uint8_t>(record.gates & ~gate_bit(Gate::kDependency));
      sync_lines(dependent);
    });
  }
  ended_.clear();
  hold_the_freed();
}

// ---- Lines

void Lifecycle::sync_lines(JobId job) {
  const JobRecord& record = core_.book[job];
  if (core_.has_ended(job) || record.intent != Intent::kNone || record.has_gate(Gate::kNotAdmitted))
    return core_.lines.leave_all(job);
  const Shape& shape = core_.shape_of(job);
  const auto counts = core_.book.counts(record);
  if (shape.gang == GangRule::kAll) {
    // A gang that runs in part looks for the rest whatever its gates say.
    const bool lacks = record.live == 0 ? record.gates == 0 : !core_.gang_check.missing(shape, counts).empty();
    sync_line(job, kWholeGang, lacks ? Lacks::kYes : Lacks::kNo);
    if (core_.config().rungs.elastic != 0 && is_elastic(shape)) sync_surplus(job);
    return;
  }
  for (size_t role = 0; role < counts.size(); ++role) {
    const RoleCounts& c = counts[role];
    const bool lacks = record.gates == 0 && role_minimum(shape, role) > c.held + c.running + c.releasing + c.done;
    sync_line(job, static_cast<int32_t>(role), lacks ? Lacks::kYes : Lacks::kNo);
  }
}

/// A gang that runs whole wants more tasks: it stands in the lines of the roles of which it has fewer than it wants.
void Lifecycle::sync_surplus(JobId job) {
  const JobRecord& record = core_.book[job];
  const Shape& shape = core_.shape_of(job);
  const auto counts = core_.book.counts(record);
  const bool is_whole = record.holds() && core_.gang_check.is_whole(shape, counts, GangCheck::Count::kRunning);
  fill_wanted(shape, record.wish, wanted_);
  for (size_t role = 0; role < counts.size(); ++role) {
    const RoleCounts& c = counts[role];
    const int32_t present = c.held + c.running + c.done;
    const int32_t next = std::max(1, role_minimum(shape, role) - present);  // see Core::fill_request()
    const bool wants_more = is_whole && present + c.releasing + next <= wanted_[role];
    sync_line(job, static_cast<int32_t>(role), wants_more ? Lacks::kYes : Lacks::kNo);
  }
}

/// A gang that runs in part stands in a line of its own: it lacks what no other job of its shape lacks. Tasks that
/// start one by one stand in their shape's line until where the job's other tasks are stands in their way (see
/// PlaceRung).
void Lifecycle::sync_line(JobId job, int32_t role, Lacks lacks) {
  const bool is_own = role == kWholeGang && core_.book[job].live > 0;
  if (const EntryId entry = core_.lines.find(job, role); is_set(entry)) {
    const LineId present = core_.lines.line_of(entry);
    const bool is_in_own = is_set(core_.lines[present].owner);
    if (lacks == Lacks::kYes && (role != kWholeGang || is_own == is_in_own)) {
      if (is_in_own) core_.lines.wake(present);  // what it lacks, or where it may be, can have changed
      return;
    }
    core_.lines.leave(job, entry);
  }
  if (lacks == Lacks::kNo) return;
  LineId line = core_.lines.line_of_shape(core_.state.jobs().shape[index(job)], core_.shape_of(job).queue, role);
  core_.lines[line].is_surplus = role != kWholeGang && core_.shape_of(job).gang == GangRule::kAll ? 1 : 0;
  if (is_own) line = core_.lines.open_own_line(job, core_.lines[line]);
  core_.lines.join(job, core_.line_key(job), line);
}

}  // namespace weft
