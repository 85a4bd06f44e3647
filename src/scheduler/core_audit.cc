#include "scheduler/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace weft {
namespace {

using Faults = std::vector<std::string>;

/// The counts of a job's roles, its live tasks and its attempts, counted again from the task table.
void audit_job(const Core& core, JobId job, Faults& faults) {
  const JobRecord& record = core.book[job];
  const JobTable& jobs = core.state.jobs();
  const TaskTable& tasks = core.state.tasks();
  std::vector<RoleCounts> counts(record.role_count);
  std::vector<std::pair<uint32_t, uint32_t>> live_by_attempt;
  uint32_t live = 0;
  uint32_t leaving = 0;
  for (uint32_t i = 0; i < jobs.task_count[index(job)]; ++i) {
    const TaskId task = make_id<TaskId>(index(jobs.first_task[index(job)]) + i);
    RoleCounts& c = counts[tasks.role[index(task)]];
    c.held += tasks.state[index(task)] == TaskState::kHeld ? 1 : 0;
    c.running += tasks.state[index(task)] == TaskState::kRunning ? 1 : 0;
    c.releasing += is_stopping(tasks.state[index(task)]) ? 1 : 0;
    c.done += tasks.state[index(task)] == TaskState::kDone ? 1 : 0;
    if (!is_live(tasks.state[index(task)])) continue;
    ++live;
    leaving += tasks.state[index(task)] == TaskState::kLeaving ? 1 : 0;
    const AttemptId id = core.attempts.find(job, core.book.attempt_of(task));
    if (!is_set(id)) faults.push_back(fmt::format("job {}: a task holds something without an attempt", index(job)));
  }
  const auto kept = core.book.counts(record);
  for (size_t role = 0; role < counts.size(); ++role) {
    counts[role].first_pending = kept[role].first_pending;
    if (kept[role] != counts[role]) faults.push_back(fmt::format("job {}: role {} is miscounted", index(job), role));
  }
  if (record.live != live)
    faults.push_back(fmt::format("job {}: {} tasks are somewhere, counted {}", index(job), live, record.live));
  if (record.leaving != leaving)
    faults.push_back(fmt::format("job {}: {} tasks leave, counted {}", index(job), leaving, record.leaving));
  uint32_t holding = 0;
  uint32_t starting = 0;
  uint32_t in_attempts = 0;
  for (AttemptId a = core.attempts.first(job); is_set(a); a = core.attempts[a].next) {
    holding += core.attempts[a].phase <= AttemptPhase::kHolding ? 1 : 0;
    starting += core.attempts[a].phase == AttemptPhase::kStarting ? 1 : 0;
    in_attempts += core.attempts[a].live;
    if (core.attempts[a].live == 0) faults.push_back(fmt::format("job {}: an attempt without tasks", index(job)));
  }
  if (holding != record.attempts_holding || starting != record.attempts_starting || in_attempts != live) {
    faults.push_back(fmt::format("job {}: its attempts are miscounted", index(job)));
  }
}

/// A job that could be tried stands in a line, and nobody else does.
void audit_lines(const Core& core, JobId job, Faults& faults) {
  const JobRecord& record = core.book[job];
  const bool stands = is_set(core.lines.first_entry(job));
  const bool may_stand = !core.has_ended(job) && record.intent == Intent::kNone && !record.has_gate(Gate::kNotAdmitted);
  if (stands && !may_stand)
    faults.push_back(fmt::format("job {}: stands in a line without wanting anything", index(job)));
  const bool must_stand = may_stand && record.live == 0 && record.gates == 0;
  if (must_stand && !stands) faults.push_back(fmt::format("job {}: wants to start, but stands in no line", index(job)));
  if (core.has_ended(job) && record.live > 0)
    faults.push_back(fmt::format("job {}: has ended and holds something", index(job)));
}

void audit_queues(const Core& core, Faults& faults) {
  const QueueTable& queues = core.state.queues();
  std::vector<int32_t> jobs(queues.size(), 0);
  for (size_t j = 0; j < core.book.size(); ++j) {
    const JobId job = make_id<JobId>(j);
    if (!core.book[job].holds()) continue;
    for (QueueId q = core.shape_of(job).queue; is_set(q); q = queues.parent[index(q)]) ++jobs[index(q)];
  }
  for (size_t q = 0; q < jobs.size(); ++q) {
    if (jobs[q] == core.quota.jobs(make_id<QueueId>(q))) continue;
    faults.push_back(
        fmt::format("queue {}: {} jobs hold something, counted {}", q, jobs[q], core.quota.jobs(make_id<QueueId>(q))));
  }
}

/// Those who leave are those whose jobs say so, and a place is promised only to a job that is on its way there.
void audit_leavers(const Core& core, Faults& faults) {
  size_t leaving = 0;
  for (size_t j = 0; j < core.book.size(); ++j) leaving += core.book[make_id<JobId>(j)].leaving;
  if (leaving != core.leavers.size())
    faults.push_back(fmt::format("{} tasks leave, and {} are waited for", leaving, core.leavers.size()));
  for (const auto& [job, promise] : core.promises) {
    if (core.book[job].intent == Intent::kNone || core.book[job].live == 0)
      faults.push_back(fmt::format("job {}: is promised a place and not on its way there", index(job)));
  }
}

std::vector<TakenPlace> promised_places(const Core& core) {
  std::vector<TakenPlace> out;
  for (const auto& [job, promise] : core.promises) {
    for (size_t i = 0; i < promise.tasks.size(); ++i)
      out.push_back({.shape = core.state.jobs().shape[index(job)], .role = promise.role[i], .at = promise.tasks[i]});
  }
  return out;
}

}  // namespace

std::vector<std::string> audit_core(const Core& core) {
  Faults faults = core.state.audit(promised_places(core));
  std::ranges::move(core.lines.audit(), std::back_inserter(faults));
  for (size_t j = 0; j < core.book.size(); ++j) {
    audit_job(core, make_id<JobId>(j), faults);
    audit_lines(core, make_id<JobId>(j), faults);
  }
  audit_queues(core, faults);
  audit_leavers(core, faults);
  return faults;
}

}  // namespace weft
