#pragma once

#include "model/event.h"
#include "placement/placer.h"
#include "scheduler/core.h"
#include "state/transaction.h"

#include <span>
#include <string_view>
#include <vector>

namespace weft {

/// The life of jobs and their attempts: hold, start, run, end, and everything that can go wrong in between. Turns the
/// engine's answers and faults into state and decisions.
///
/// Rules:
/// 1. Capacity belongs to a task from the hold until its TaskEnded (at once where its node is down or its hold is given
/// up).
/// 2. A job is kRunning while every minimum runs. A gang below its minimum is tolerated for `stale_after` while the
/// missing tasks look for
///    a place; then it is stopped whole and waits again with its place in line. A gang that has not run yet is not
///    tolerated. Faults cost no retry, a crash of its own does.
/// 3. What is told to stop is told once. A job whose fate is sealed (Intent) ends, or waits again, when its last task
/// has let go.
/// 4. An answer to another attempt, in another phase, or given twice changes nothing.
///
/// Every public function opens and commits its own transactions, but for those that are given one.
class Lifecycle {
 public:
  explicit Lifecycle(Core& core) : core_(core) {}

  /// Gives the job what `placement` says, taken in `txn` and not charged yet, as its next attempt. Commits nothing.
  void hold(Transaction& txn, JobId job, const GangPlacement& placement);
  /// Tasks that run already, taken in `txn` and not charged yet, as attempt 1. `tasks` are job-local. Commits nothing.
  void adopt(Transaction& txn, JobId job, std::span<const int32_t> tasks, std::span<const TaskPlacement> placements);
  /// What follows from adopt(), once committed: clocks, and how long a gang with missing tasks is tolerated.
  void begin_adopted(JobId job, Instant started);

  // The engine's answers. False: stale, a duplicate, or malformed.
  bool on_hold_accepted(JobId job, uint32_t attempt);
  bool on_hold_refused(JobId job, uint32_t attempt, std::string_view reason);
  bool on_gang_started(JobId job, uint32_t attempt);
  bool on_start_failed(JobId job, uint32_t attempt, std::string_view reason);
  bool on_task_ended(const TaskEnded& event);
  bool on_gang_ended(const GangEnded& event);
  bool on_progress(const ProgressReported& event);

  /// Stops or drops a job that has not ended.
  void cancel(JobId job);
  /// Others were chosen to run (elect mode): the job is stopped and waits again, with the turn that the caller gave it.
  void unelect(JobId job);
  /// The node is down: what was on it is gone. Requires: the state knows it already. Cost: O(task rows).
  void lose_node(NodeId node);
  /// The device is broken: what uses it is stopped. Requires: the state knows it already. Cost: O(task rows).
  void lose_device(NodeId node, unsigned device);
  /// The gang has been below its minimum for `stale_after`.
  void on_stale(JobId job);
  /// The job has run for as long as it may.
  void on_time_limit(JobId job);

  /// Puts the job in the lines where it belongs now, and out of all others. Idempotent.
  void sync_lines(JobId job);
  /// Those who wait for jobs that have ended are told, and those whom that ends, and so on. To be called after every
  /// event and rung.
  void settle();

 private:
  // lifecycle_tasks.cc: single tasks and attempts, inside a transaction
  template <typename Visit>
  void for_each_task(const Attempt& attempt, Visit&& visit) const;
  TaskId task_of(JobId job, int32_t local) const;
  RoleCounts& counts_of(TaskId task);
  int32_t next_pending(JobId job, size_t role);
  void occupy(Transaction& txn, TaskId task, TaskState to, const TaskPlacement& at, uint32_t attempt);
  void begin_attempt(Transaction& txn, JobId job, std::span<const TaskPlacement> placed, AttemptPhase phase);
  void let_go(Transaction& txn, TaskId task, TaskState to);
  void let_go_all(Transaction& txn, AttemptId id);
  void set_phase(AttemptId id, AttemptPhase to);
  void remove_attempt(AttemptId id);
  void start_running(Transaction& txn, AttemptId id);
  void stop_task(Transaction& txn, TaskId task, StopCause cause);
  void stop_attempt(Transaction& txn, AttemptId id, StopCause cause);
  void set_clocks(Transaction& txn, JobId job, Instant started);
  JobState derived_state(JobId job);
  void update_state(Transaction& txn, JobId job);

  // lifecycle_jobs.cc: what becomes of the job
  void refresh(JobId job);
  void after_loss(JobId job, StopCause cause);
  void on_crash(JobId job);
  void refuse(JobId job, std::string_view reason);
  void lose(StopCause cause, NodeId down);
  void tolerate(JobId job, StopCause cause);
  void stop_all(JobId job, Intent intent, StopCause cause);
  void finish_intent(JobId job);
  void wait_again(JobId job);
  void end(JobId job, JobState end_state);
  enum class Lacks : uint8_t { kNo, kYes };
  void sync_line(JobId job, int32_t role, Lacks lacks);

  Core& core_;
  std::vector<JobId> ended_;           ///< whose dependents have not been told
  std::vector<TaskPlacement> placed_;  ///< scratch
  std::vector<TaskId> lost_;           ///< scratch
  std::vector<JobId> hurt_;            ///< scratch
};

}  // namespace weft
