#include "base/check.h"
#include "state/cluster_state.h"

#include <utility>

namespace weft {

ShapeId ClusterState::intern(Shape shape) { return shapes_.intern(std::move(shape)); }

JobId ClusterState::add_job(ShapeId shape, UserId user, Instant submitted, Duration estimate) {
  WEFT_CHECK(!has_open_transaction_, "rows are added outside of a transaction");
  const JobId job = make_id<JobId>(jobs_.size());
  const auto task_count = is_set(shape) ? static_cast<uint32_t>(shapes_[shape].task_count()) : 0;
  const uint32_t first = task_count > 0 ? claim_task_rows(task_count) : 0;
  jobs_.state.push_back(JobState::kPending);
  jobs_.shape.push_back(shape);
  jobs_.user.push_back(user);
  jobs_.submitted.push_back(submitted);
  jobs_.started.push_back(kNever);
  jobs_.expected_end.push_back(kNever);
  jobs_.estimate.push_back(estimate);
  jobs_.attempt.push_back(0);
  jobs_.first_task.push_back(task_count > 0 ? make_id<TaskId>(first) : kNone<TaskId>);
  jobs_.task_count.push_back(task_count);
  timeline_.resize(jobs_.size());
  if (task_count == 0) return job;

  uint32_t row = first;
  const std::vector<RoleShape>& roles = shapes_[shape].roles;
  for (size_t role = 0; role < roles.size(); ++role) {
    for (int32_t i = 0; i < roles[role].count; ++i, ++row) {
      tasks_.state[row] = TaskState::kPending;
      tasks_.placement[row] = TaskPlacement{};
      tasks_.job[row] = job;
      tasks_.role[row] = static_cast<uint16_t>(role);
    }
  }
  return job;
}

/// Retired rows of the same length, else a part of the shortest longer run, else new rows. Always the same choice for
/// the same history.
uint32_t ClusterState::claim_task_rows(uint32_t count) {
  const auto found = free_task_rows_.lower_bound(count);
  if (found == free_task_rows_.end()) {
    const size_t first = tasks_.size();
    const size_t size = first + count;
    tasks_.state.resize(size, TaskState::kPending);
    tasks_.placement.resize(size);
    tasks_.job.resize(size, kNone<JobId>);
    tasks_.role.resize(size, 0);
    return static_cast<uint32_t>(first);
  }
  const uint32_t length = found->first;
  const uint32_t first = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) free_task_rows_.erase(found);
  if (length > count) free_task_rows_[length - count].push_back(first + count);
  return first;
}

void ClusterState::retire_tasks(JobId job) {
  WEFT_CHECK(!has_open_transaction_, "rows are freed outside of a transaction");
  const size_t j = index(job);
  const uint32_t count = jobs_.task_count[j];
  if (count == 0) return;
  WEFT_CHECK(is_end_state(jobs_.state[j]), "only a job that has ended gives up its rows");
  const auto first = static_cast<uint32_t>(jobs_.first_task[j]);
  for (uint32_t row = first; row < first + count; ++row) {
    WEFT_CHECK(!is_live(tasks_.state[row]), "no task of an ended job is anywhere");
    tasks_.state[row] = TaskState::kPending;
    tasks_.placement[row] = TaskPlacement{};
    tasks_.job[row] = kNone<JobId>;
    tasks_.role[row] = 0;
  }
  free_task_rows_[count].push_back(first);
  jobs_.first_task[j] = kNone<TaskId>;
  jobs_.task_count[j] = 0;
}

}  // namespace weft
