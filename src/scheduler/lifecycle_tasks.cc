#include "base/check.h"
#include "scheduler/lifecycle.h"

#include <algorithm>

namespace weft {
namespace {

bool is_live(TaskState s) { return s == TaskState::kHeld || s == TaskState::kRunning || s == TaskState::kReleasing; }

int32_t& count_in(RoleCounts& counts, TaskState state) {
  switch (state) {
    case TaskState::kHeld: return counts.held;
    case TaskState::kRunning: return counts.running;
    case TaskState::kReleasing: return counts.releasing;
    case TaskState::kDone: return counts.done;
    default: check_failed("false", "only live and done tasks are counted");
  }
}

/// start + span, kNever where the span has no end.
Instant later(Instant start, Duration span) {
  if (span >= kEndless || start.ns > kNever.ns - span.ns) return kNever;
  return start + span;
}

}  // namespace

TaskId Lifecycle::task_of(JobId job, int32_t local) const {
  return make_id<TaskId>(index(core_.state.jobs().first_task[index(job)]) + static_cast<size_t>(local));
}

RoleCounts& Lifecycle::counts_of(TaskId task) {
  const TaskTable& tasks = core_.state.tasks();
  const JobRecord& record = core_.book[tasks.job[index(task)]];
  return core_.book.counts(record)[tasks.role[index(task)]];
}

/// Calls `visit(TaskId)` for the tasks of the attempt that hold something, lowest first.
template <typename Visit>
void Lifecycle::for_each_task(const Attempt& attempt, Visit&& visit) const {
  const TaskTable& tasks = core_.state.tasks();
  const auto visit_live = [&](TaskId task) {
    if (is_live(tasks.state[index(task)]) && core_.book.attempt_of(task) == attempt.number) visit(task);
  };
  const JobId job = attempt.job;
  if (attempt.only_task >= 0) {
    visit_live(task_of(job, attempt.only_task));
    return;
  }
  const auto count = static_cast<int32_t>(core_.state.jobs().task_count[index(job)]);
  for (int32_t local = 0; local < count; ++local) visit_live(task_of(job, local));
}

/// The first pending task of the role, job-local. Requires: there is one.
int32_t Lifecycle::next_pending(JobId job, size_t role) {
  const Shape& shape = core_.shape_of(job);
  int32_t first_of_role = 0;
  for (size_t r = 0; r < role; ++r) first_of_role += shape.roles[r].count;
  int32_t& hint = core_.book.counts(core_.book[job])[role].first_pending;
  for (; hint < shape.roles[role].count; ++hint) {
    if (core_.state.tasks().state[index(task_of(job, first_of_role + hint))] == TaskState::kPending)
      return first_of_role + hint;
  }
  check_failed("false", "only tasks that are pending are placed");
}

void Lifecycle::occupy(Transaction& txn, TaskId task, TaskState to, const TaskPlacement& at, uint32_t attempt) {
  txn.set_task(task, to, at);
  ++count_in(counts_of(task), to);
  core_.book.attempt_of(task) = attempt;
}

/// `placed` with their TaskIds set and their states written; charges them and makes them the job's next attempt.
void Lifecycle::begin_attempt(Transaction& txn, JobId job, std::span<const TaskPlacement> placed, AttemptPhase phase) {
  const Shape& shape = core_.shape_of(job);
  JobRecord& record = core_.book[job];
  ResourceVector charge;
  for (const TaskPlacement& p : placed) charge = charge + p.charge;
  txn.charge(shape.queue, charge, shape.is_preemptible ? 1 : 0);
  const uint32_t number = core_.state.jobs().attempt[index(job)] + 1;
  txn.set_job_attempt(job, number);
  const auto first_task =
      static_cast<int32_t>(index(placed[0].task) - index(core_.state.jobs().first_task[index(job)]));
  const AttemptId id =
      core_.attempts.add(job, number, placed.size() == 1 ? first_task : -1, static_cast<uint32_t>(placed.size()));
  if (record.live == 0) core_.quota.add_jobs(core_.state.queues(), shape.queue, 1);
  record.live += static_cast<uint32_t>(placed.size());
  ++record.attempts_holding;
  set_phase(id, phase);
}

void Lifecycle::hold(Transaction& txn, JobId job, const GangPlacement& placement) {
  placed_.assign(placement.tasks.begin(), placement.tasks.end());
  const uint32_t number = core_.state.jobs().attempt[index(job)] + 1;
  for (size_t i = 0; i < placed_.size(); ++i) {
    placed_[i].task = task_of(job, next_pending(job, placement.role[i]));
    occupy(txn, placed_[i].task, TaskState::kHeld, placed_[i], number);
  }
  begin_attempt(txn, job, placed_, AttemptPhase::kHolding);
  update_state(txn, job);
  core_.log.hold(job, number, core_.state.jobs().first_task[index(job)], placed_);
}

void Lifecycle::adopt(Transaction& txn, JobId job, std::span<const int32_t> tasks,
                      std::span<const TaskPlacement> placements) {
  placed_.assign(placements.begin(), placements.end());
  for (size_t i = 0; i < placed_.size(); ++i) {
    placed_[i].task = task_of(job, tasks[i]);
    occupy(txn, placed_[i].task, TaskState::kRunning, placed_[i], 1);
  }
  begin_attempt(txn, job, placed_, AttemptPhase::kRunning);
}

void Lifecycle::set_phase(AttemptId id, AttemptPhase to) {
  Attempt& attempt = core_.attempts[id];
  JobRecord& record = core_.book[attempt.job];
  if (attempt.phase == AttemptPhase::kHolding) --record.attempts_holding;
  if (attempt.phase == AttemptPhase::kStarting) --record.attempts_starting;
  if (to == AttemptPhase::kHolding) ++record.attempts_holding;
  if (to == AttemptPhase::kStarting) ++record.attempts_starting;
  attempt.phase = to;
}

void Lifecycle::remove_attempt(AttemptId id) {
  set_phase(id, AttemptPhase::kRunning);  // takes it out of the counts of the other phases
  core_.attempts.remove(id);
}

/// The task gives back what it holds. The attempt is left to the caller, even when this was its last task.
void Lifecycle::let_go(Transaction& txn, TaskId task, TaskState to) {
  const TaskTable& tasks = core_.state.tasks();
  const JobId job = tasks.job[index(task)];
  const Shape& shape = core_.shape_of(job);
  const TaskPlacement at = tasks.placement[index(task)];
  txn.give(shape.roles[tasks.role[index(task)]].demand, at);
  txn.charge(shape.queue, ResourceVector{} - at.charge, shape.is_preemptible ? 1 : 0);
  RoleCounts& counts = counts_of(task);
  --count_in(counts, tasks.state[index(task)]);
  txn.set_task_state(task, to);
  if (to == TaskState::kDone) ++counts.done;
  if (to == TaskState::kPending) counts.first_pending = 0;
  JobRecord& record = core_.book[job];
  --core_.attempts[core_.attempts.find(job, core_.book.attempt_of(task))].live;
  if (--record.live == 0) core_.quota.add_jobs(core_.state.queues(), shape.queue, -1);
  core_.wake_ups.note_freed(at.node);
  core_.wake_ups.note_queue_freed(shape.queue, core_.state.queues());
}

/// Everything the attempt holds comes back, and the attempt is over.
void Lifecycle::let_go_all(Transaction& txn, AttemptId id) {
  const Attempt attempt = core_.attempts[id];
  for_each_task(attempt, [&](TaskId task) { let_go(txn, task, TaskState::kPending); });
  remove_attempt(id);
}

void Lifecycle::start_running(Transaction& txn, AttemptId id) {
  const Attempt attempt = core_.attempts[id];
  for_each_task(attempt, [&](TaskId task) {
    if (core_.state.tasks().state[index(task)] != TaskState::kHeld) return;
    --counts_of(task).held;
    ++counts_of(task).running;
    txn.set_task_state(task, TaskState::kRunning);
  });
  set_phase(id, AttemptPhase::kRunning);
}

void Lifecycle::stop_task(Transaction& txn, TaskId task, StopCause cause) {
  const JobId job = core_.state.tasks().job[index(task)];
  --count_in(counts_of(task), core_.state.tasks().state[index(task)]);
  ++counts_of(task).releasing;
  txn.set_task_state(task, TaskState::kReleasing);
  const auto local = static_cast<int32_t>(index(task) - index(core_.state.jobs().first_task[index(job)]));
  core_.log.stop({.job = job,
                  .attempt = core_.book.attempt_of(task),
                  .task = local,
                  .cause = cause,
                  .grace = core_.book[job].grace});
}

/// Stops what has not been told yet: in one command when that is the whole attempt.
void Lifecycle::stop_attempt(Transaction& txn, AttemptId id, StopCause cause) {
  const Attempt attempt = core_.attempts[id];
  bool is_whole = true;
  for_each_task(attempt,
                [&](TaskId task) { is_whole &= core_.state.tasks().state[index(task)] != TaskState::kReleasing; });
  for_each_task(attempt, [&](TaskId task) {
    if (core_.state.tasks().state[index(task)] == TaskState::kReleasing) return;
    if (!is_whole) {
      stop_task(txn, task, cause);
      return;
    }
    --count_in(counts_of(task), core_.state.tasks().state[index(task)]);
    ++counts_of(task).releasing;
    txn.set_task_state(task, TaskState::kReleasing);
  });
  if (!is_whole) return;
  core_.log.stop(
      {.job = attempt.job, .attempt = attempt.number, .cause = cause, .grace = core_.book[attempt.job].grace});
}

void Lifecycle::set_clocks(Transaction& txn, JobId job, Instant started) {
  JobRecord& record = core_.book[job];
  const Instant first = core_.state.jobs().started[index(job)];
  const Instant begin = first == kNever ? started : first;
  txn.set_job_times(job, begin, later(started, core_.state.jobs().estimate[index(job)]));
  if (record.limit_due != kNever) return;
  record.limit_due = later(begin, record.time_limit);
  if (record.limit_due != kNever)
    core_.timers.add({.due = record.limit_due, .job = job, .kind = TimerKind::kTimeLimit});
}

bool Lifecycle::on_gang_ended(const GangEnded& event) {
  const AttemptId id = core_.knows(event.job) ? core_.attempts.find(event.job, event.attempt) : kNone<AttemptId>;
  if (!is_set(id) || core_.attempts[id].phase == AttemptPhase::kHolding) return false;
  bool was_told = true;
  {
    Transaction txn(core_.state);
    const Attempt attempt = core_.attempts[id];
    const TaskState to = event.outcome == TaskOutcome::kDone ? TaskState::kDone : TaskState::kPending;
    for_each_task(attempt, [&](TaskId task) {
      was_told &= core_.state.tasks().state[index(task)] == TaskState::kReleasing;
      let_go(txn, task, to);
    });
    txn.commit();
  }
  remove_attempt(id);
  if (event.outcome == TaskOutcome::kFailed && !was_told) {
    if (core_.book[event.job].exit_status == 0) core_.book[event.job].exit_status = event.exit_status;
    on_crash(event.job);
  } else {
    after_loss(event.job, event.outcome == TaskOutcome::kLost ? StopCause::kNodeFault : StopCause::kGangBroken);
  }
  return true;
}

JobState Lifecycle::derived_state(JobId job) {
  const JobRecord& record = core_.book[job];
  if (record.live > 0 && record.intent != Intent::kNone) return JobState::kReleasing;
  const auto counts = core_.book.counts(record);
  if (record.live > 0 && core_.gang_check.is_whole(core_.shape_of(job), counts, GangCheck::Count::kRunning))
    return JobState::kRunning;
  if (record.attempts_holding > 0) return JobState::kHolding;
  if (record.attempts_starting > 0) return JobState::kStarting;
  const bool is_leaving =
      record.live > 0 && std::ranges::all_of(counts, [](const RoleCounts& c) { return c.held == 0 && c.running == 0; });
  return is_leaving ? JobState::kReleasing : JobState::kPending;
}

void Lifecycle::update_state(Transaction& txn, JobId job) {
  const JobState state = derived_state(job);
  const JobState before = core_.state_of(job);
  JobRecord& record = core_.book[job];
  if (state == JobState::kRunning) record.stale_due = kNever;
  if (state == before) return;
  txn.set_job_state(job, state);
  if (state == JobState::kRunning) record.running_since = core_.now;
  if (before == JobState::kRunning) {
    record.executed = record.executed_by(core_.now);
    record.running_since = kNever;
  }
}

}  // namespace weft
