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
/// 1. Capacity belongs to a task from the hold until it is told to stop, where others may be planned onto its place
/// but start only once it is gone (Leavers); in elect mode until its TaskEnded.
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

  /// So many tasks are wanted: those that are too many are stopped, the highest index of each role first.
  void scale(JobId job, int32_t tasks);
  /// Stops or drops a job that has not ended.
  void cancel(JobId job);
  /// Others were chosen to run (elect mode): the job is stopped and waits again, with the turn that the caller gave it.
  void unelect(JobId job);
  /// Others need its room: all of the job is stopped and waits again, with its place in line.
  void evict(JobId job, StopCause cause);
  /// Others need the room of these of its tasks, which run, and without which its gang is whole.
  void shrink(JobId job, std::span<const TaskId> tasks, StopCause cause);
  /// The job, which was just evicted, goes on at `to`, which is free and is kept for it until it has left its old
  /// place.
  void promise(JobId job, const GangPlacement& to);
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
  std::vector<TaskId> begin_hold(Transaction& txn, JobId job);
  void hold_at_last(AttemptId id);
  void hold_the_freed();
  void begin_holding(JobId job);
  void end_holding(JobId job);
  void give_back(Transaction& txn, TaskId task);
  void let_go(Transaction& txn, TaskId task, TaskState to);
  void let_go_all(Transaction& txn, AttemptId id);
  void give_up_hold(Transaction& txn, AttemptId id);
  void forget_leaver(TaskId task);
  bool is_planned_on(JobId job, StopCause cause) const;
  void set_stopping(Transaction& txn, TaskId task, StopCause cause);
  void set_phase(AttemptId id, AttemptPhase to);
  void remove_attempt(AttemptId id);
  void start_running(Transaction& txn, AttemptId id);
  void stop_task(Transaction& txn, TaskId task, StopCause cause);
  void stop_attempt(Transaction& txn, AttemptId id, StopCause cause);
  void set_clocks(Transaction& txn, JobId job, Instant started);
  JobState derived_state(JobId job);
  void update_state(Transaction& txn, JobId job);

  // lifecycle_evict.cc
  GangPlacement take_promise_back(Transaction& txn, JobId job);
  void keep_promise(JobId job);
  void drop_promise(JobId job);
  void note_freed(const GangPlacement& places, QueueId queue);

  // lifecycle_jobs.cc: what becomes of the job
  void refresh(JobId job);
  bool is_whole_enough(JobId job);
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
  void sync_surplus(JobId job);

  Core& core_;
  std::vector<JobId> ended_;               ///< whose dependents have not been told
  std::vector<TaskPlacement> placed_;      ///< scratch
  std::vector<TaskId> lost_;               ///< scratch
  std::vector<JobId> hurt_;                ///< scratch
  std::vector<int32_t> wanted_;            ///< scratch
  std::vector<AttemptName> free_to_hold_;  ///< those in whose way nobody is any more
};

}  // namespace weft
