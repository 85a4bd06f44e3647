#include "base/check.h"
#include "scheduler/lifecycle.h"

#include <algorithm>

namespace weft {
namespace {

int32_t& count_in(RoleCounts& counts, TaskState state) {
  switch (state) {
    case TaskState::kHeld: return counts.held;
    case TaskState::kRunning: return counts.running;
    case TaskState::kReleasing:
    case TaskState::kLeaving: return counts.releasing;
    case TaskState::kDone: return counts.done;
    default: check_failed("false", "only live and done tasks are counted");
  }
}

/// start + span, kNever where the span has no end.
Instant later(Instant start, Duration span) {
  if (span >= kEndless || start.ns > kNever.ns - span.ns) return kNever;
  return start + span;
}

HolderKind kind_of(const Shape& shape) {
  return {.priority = shape.priority, .is_elastic = static_cast<uint8_t>(is_elastic(shape) ? 1 : 0)};
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
  if (!record.holds()) begin_holding(job);
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
  const std::vector<TaskId> in_the_way = begin_hold(txn, job);
  if (core_.reserves() && core_.state_of(job) != JobState::kRunning)
    txn.set_job_times(job, core_.state.jobs().started[index(job)], core_.end_if_started(job));
  update_state(txn, job);
  if (in_the_way.empty()) core_.log.hold(job, number, core_.state.jobs().first_task[index(job)], placed_);
}

/// What is in placed_ becomes an attempt that holds, or waits until others have gone; returns who they are.
std::vector<TaskId> Lifecycle::begin_hold(Transaction& txn, JobId job) {
  begin_attempt(txn, job, placed_, AttemptPhase::kHolding);
  std::vector<TaskId> in_the_way = core_.leavers.find_in_the_way(core_.state, core_.shape_of(job), placed_, {});
  if (in_the_way.empty()) return in_the_way;
  const uint32_t number = core_.state.jobs().attempt[index(job)];
  const AttemptId id = core_.attempts.find(job, number);
  set_phase(id, AttemptPhase::kWaiting);
  core_.attempts[id].waits_for = static_cast<uint32_t>(in_the_way.size());
  for (const TaskId leaver : in_the_way) core_.leavers.wait_for(leaver, {.job = job, .number = number});
  return in_the_way;
}

/// The last of those in its way has gone.
void Lifecycle::hold_at_last(AttemptId id) {
  set_phase(id, AttemptPhase::kHolding);
  const Attempt attempt = core_.attempts[id];
  placed_.clear();
  for_each_task(attempt, [&](TaskId task) { placed_.push_back(core_.state.tasks().placement[index(task)]); });
  core_.log.hold(attempt.job, attempt.number, core_.state.jobs().first_task[index(attempt.job)], placed_);
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
  if (attempt.phase <= AttemptPhase::kHolding) --record.attempts_holding;
  if (attempt.phase == AttemptPhase::kStarting) --record.attempts_starting;
  if (to <= AttemptPhase::kHolding) ++record.attempts_holding;
  if (to == AttemptPhase::kStarting) ++record.attempts_starting;
  attempt.phase = to;
}

void Lifecycle::remove_attempt(AttemptId id) {
  set_phase(id, AttemptPhase::kRunning);  // takes it out of the counts of the other phases
  core_.attempts.remove(id);
}

void Lifecycle::begin_holding(JobId job) {
  const Shape& shape = core_.shape_of(job);
  core_.quota.add_jobs(core_.state.queues(), shape.queue, 1);
  core_.holders.add(shape.queue, job, kind_of(shape));
}

void Lifecycle::end_holding(JobId job) {
  const Shape& shape = core_.shape_of(job);
  core_.quota.add_jobs(core_.state.queues(), shape.queue, -1);
  core_.holders.remove(shape.queue, job, kind_of(shape));
}

/// The indices and the queue get back what the task holds.
void Lifecycle::give_back(Transaction& txn, TaskId task) {
  const TaskTable& tasks = core_.state.tasks();
  const Shape& shape = core_.shape_of(tasks.job[index(task)]);
  const TaskPlacement& at = tasks.placement[index(task)];
  txn.give(shape.roles[tasks.role[index(task)]].demand, at);
  txn.charge(shape.queue, ResourceVector{} - at.charge, shape.is_preemptible ? 1 : 0);
  core_.wake_ups.note_freed(at.node);
  core_.wake_ups.note_queue_freed(shape.queue, core_.state.queues());
}

/// The task is nowhere any more. The attempt is left to the caller, even when this was its last task.
void Lifecycle::let_go(Transaction& txn, TaskId task, TaskState to) {
  const TaskTable& tasks = core_.state.tasks();
  const JobId job = tasks.job[index(task)];
  JobRecord& record = core_.book[job];
  const bool held_something = record.holds();
  const bool has_left = tasks.state[index(task)] == TaskState::kLeaving;
  has_left ? forget_leaver(task) : give_back(txn, task);
  RoleCounts& counts = counts_of(task);
  --count_in(counts, tasks.state[index(task)]);
  txn.set_task_state(task, to);
  if (to == TaskState::kDone) ++counts.done;
  if (to == TaskState::kPending) counts.first_pending = 0;
  --core_.attempts[core_.attempts.find(job, core_.book.attempt_of(task))].live;
  --record.live;
  if (has_left) --record.leaving;
  if (held_something && !record.holds()) end_holding(job);
}

/// The leaver is gone: whoever waited for it waits for one less.
void Lifecycle::forget_leaver(TaskId task) {
  for (const AttemptName& name : core_.leavers.remove(core_.state.queues(), task)) {
    const AttemptId id = core_.attempts.find(name.job, name.number);
    if (!is_set(id) || core_.attempts[id].phase != AttemptPhase::kWaiting) continue;  // it was given up
    if (--core_.attempts[id].waits_for == 0) free_to_hold_.push_back(name);
  }
}

/// Those whose way is free get their holds.
void Lifecycle::hold_the_freed() {
  for (const AttemptName& name : free_to_hold_) {
    const AttemptId id = core_.attempts.find(name.job, name.number);
    if (is_set(id) && core_.attempts[id].phase == AttemptPhase::kWaiting) hold_at_last(id);
  }
  free_to_hold_.clear();
}

/// Everything the attempt holds comes back, and the attempt is over.
void Lifecycle::let_go_all(Transaction& txn, AttemptId id) {
  const Attempt attempt = core_.attempts[id];
  for_each_task(attempt, [&](TaskId task) { let_go(txn, task, TaskState::kPending); });
  remove_attempt(id);
}

/// A hold of which nothing was started.
void Lifecycle::give_up_hold(Transaction& txn, AttemptId id) {
  const Attempt& attempt = core_.attempts[id];
  if (attempt.phase == AttemptPhase::kHolding) core_.log.release(attempt.job, attempt.number);
  let_go_all(txn, id);
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

/// Whether others may be planned onto the place of a task that is told to stop, before it is gone. Not where the job
/// itself wants it back after a fault: it stands in no line until then. Nor in an election: it plans with what is free.
bool Lifecycle::is_planned_on(JobId job, StopCause cause) const {
  if (core_.elects() || cause == StopCause::kNodeFault) return false;
  return cause != StopCause::kGangBroken || core_.book[job].intent != Intent::kRestart;
}

void Lifecycle::set_stopping(Transaction& txn, TaskId task, StopCause cause) {
  const TaskTable& tasks = core_.state.tasks();
  const JobId job = tasks.job[index(task)];
  --count_in(counts_of(task), tasks.state[index(task)]);
  ++counts_of(task).releasing;
  if (!is_planned_on(job, cause)) {
    txn.set_task_state(task, TaskState::kReleasing);
    return;
  }
  const Shape& shape = core_.shape_of(job);
  JobRecord& record = core_.book[job];
  give_back(txn, task);
  core_.leavers.add(core_.state.queues(), shape, shape.roles[tasks.role[index(task)]].demand,
                    tasks.placement[index(task)],
                    record.intent == Intent::kRestart ? Leavers::Returns::kYes : Leavers::Returns::kNo);
  txn.set_task_state(task, TaskState::kLeaving);
  ++record.leaving;
  if (!record.holds()) end_holding(job);
}

void Lifecycle::stop_task(Transaction& txn, TaskId task, StopCause cause) {
  const JobId job = core_.state.tasks().job[index(task)];
  set_stopping(txn, task, cause);
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
  for_each_task(attempt, [&](TaskId task) { is_whole &= !is_stopping(core_.state.tasks().state[index(task)]); });
  for_each_task(attempt, [&](TaskId task) {
    if (is_stopping(core_.state.tasks().state[index(task)])) return;
    is_whole ? set_stopping(txn, task, cause) : stop_task(txn, task, cause);
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
  if (!is_set(id) || core_.attempts[id].phase <= AttemptPhase::kHolding) return false;
  bool was_told = true;
  {
    Transaction txn(core_.state);
    const Attempt attempt = core_.attempts[id];
    const TaskState to = event.outcome == TaskOutcome::kDone ? TaskState::kDone : TaskState::kPending;
    for_each_task(attempt, [&](TaskId task) {
      was_told &= is_stopping(core_.state.tasks().state[index(task)]);
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
