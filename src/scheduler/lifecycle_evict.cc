#include "base/check.h"
#include "scheduler/lifecycle.h"

namespace weft {

// ---- Others need the room

void Lifecycle::evict(JobId job, StopCause cause) { stop_all(job, Intent::kRestart, cause); }

void Lifecycle::shrink(JobId job, std::span<const TaskId> tasks, StopCause cause) {
  {
    Transaction txn(core_.state);
    for (const TaskId task : tasks) stop_task(txn, task, cause);
    txn.commit();
  }
  refresh(job);
}

void Lifecycle::scale(JobId job, int32_t tasks) {
  JobRecord& record = core_.book[job];
  const Shape& shape = core_.shape_of(job);
  record.wish = tasks;
  if (shape.gang == GangRule::kNone || record.intent != Intent::kNone) return sync_lines(job);
  fill_wanted(shape, tasks, wanted_);
  const auto counts = core_.book.counts(record);
  std::vector<TaskId> too_many;
  int32_t first = 0;
  for (size_t role = 0; role < counts.size(); first += shape.roles[role++].count) {
    int32_t excess = counts[role].held + counts[role].running + counts[role].done - wanted_[role];
    for (int32_t local = first + shape.roles[role].count - 1; local >= first && excess > 0; --local) {
      if (core_.state.tasks().state[index(task_of(job, local))] != TaskState::kRunning) continue;
      too_many.push_back(task_of(job, local));
      --excess;
    }
  }
  too_many.empty() ? sync_lines(job) : shrink(job, too_many, StopCause::kShrunk);
}

void Lifecycle::promise(JobId job, const GangPlacement& to) {
  const Shape& shape = core_.shape_of(job);
  Transaction txn(core_.state);
  ResourceVector charge;
  for (size_t i = 0; i < to.tasks.size(); ++i) {
    txn.take(shape.roles[to.role[i]].demand, to.tasks[i]);
    charge = charge + to.tasks[i].charge;
  }
  txn.charge(shape.queue, charge, shape.is_preemptible ? 1 : 0);
  txn.commit();
  const bool is_new = core_.promises.emplace(job, to).second;
  WEFT_CHECK(is_new, "a job is promised one place");
}

/// What was promised to the job is free again, in the indices and in its queue.
GangPlacement Lifecycle::take_promise_back(Transaction& txn, JobId job) {
  const auto found = core_.promises.find(job);
  GangPlacement promise = std::move(found->second);
  core_.promises.erase(found);
  const Shape& shape = core_.shape_of(job);
  ResourceVector charge;
  for (size_t i = 0; i < promise.tasks.size(); ++i) {
    txn.give(shape.roles[promise.role[i]].demand, promise.tasks[i]);
    charge = charge + promise.tasks[i].charge;
  }
  txn.charge(shape.queue, ResourceVector{} - charge, shape.is_preemptible ? 1 : 0);
  return promise;
}

/// The job has left its old place: it gets the one that it was promised, unless that cannot be used any more.
void Lifecycle::keep_promise(JobId job) {
  if (!core_.promises.contains(job)) return;
  Transaction txn(core_.state);
  const GangPlacement promise = take_promise_back(txn, job);
  const Shape& shape = core_.shape_of(job);
  bool is_usable = core_.book[job].gates == 0;
  for (const TaskPlacement& at : promise.tasks)
    is_usable = is_usable && (at.devices & ~core_.state.usable(at.node)) == 0 && core_.state.is_schedulable(at.node);
  if (is_usable) {
    for (size_t i = 0; i < promise.tasks.size(); ++i) txn.take(shape.roles[promise.role[i]].demand, promise.tasks[i]);
    hold(txn, job, promise);
  } else {
    note_freed(promise, shape.queue);
  }
  txn.commit();
}

void Lifecycle::drop_promise(JobId job) {
  if (!core_.promises.contains(job)) return;
  Transaction txn(core_.state);
  note_freed(take_promise_back(txn, job), core_.shape_of(job).queue);
  txn.commit();
}

void Lifecycle::note_freed(const GangPlacement& places, QueueId queue) {
  for (const TaskPlacement& at : places.tasks) core_.wake_ups.note_freed(at.node);
  core_.wake_ups.note_queue_freed(queue, core_.state.queues());
}

}  // namespace weft
