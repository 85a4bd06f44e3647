#include "base/check.h"
#include "scheduler/questions.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {
namespace {

ResourceVector request_of(const Core& core, const Shape& shape) {
  std::vector<int32_t> counts;
  for (const RoleShape& role : shape.roles) counts.push_back(role.count);
  return Quota::least_charge(core.state, shape, counts);
}

void add_tasks(const Core& core, JobId job, JobView& view) {
  const JobTable& jobs = core.state.jobs();
  const TaskTable& tasks = core.state.tasks();
  const auto names = core.book.role_names(core.book[job]);
  std::vector<int32_t> next(names.size(), 0);
  for (uint32_t i = 0; i < jobs.task_count[index(job)]; ++i) {
    const size_t row = index(jobs.first_task[index(job)]) + i;
    const size_t role = tasks.role[row];
    TaskView& task = view.tasks.emplace_back();
    task.name = fmt::format("{}/{}", names[role], next[role]++);
    task.state = tasks.state[row] == TaskState::kLeaving ? TaskState::kReleasing : tasks.state[row];
    if (!is_live(task.state)) continue;
    task.placement = tasks.placement[row];
    task.node = core.state.names().nodes.text(task.placement.node);
  }
}

/// Of the tasks that wait those that its user does not wish for are none that wait.
void drop_unwanted(const Core& core, JobId job, JobView& view) {
  const JobRecord& record = core.book[job];
  if (record.wish >= static_cast<int32_t>(view.tasks.size())) return;
  const auto counts = core.book.counts(record);
  std::vector<int32_t> wanted;
  fill_wanted(core.shape_of(job), record.wish, wanted);
  for (size_t i = 0; i < view.tasks.size(); ++i) {
    if (view.tasks[i].state != TaskState::kPending) continue;
    const size_t role = core.state.tasks().role[index(core.state.jobs().first_task[index(job)]) + i];
    const RoleCounts& c = counts[role];
    if (wanted[role] > c.held + c.running + c.releasing + c.done) {
      --wanted[role];
    } else {
      view.tasks[i].state = TaskState::kCancelled;
    }
  }
}

}  // namespace

JobView view_job(Core& core, JobId job) {
  WEFT_CHECK(core.knows(job), "a job's id was given by this scheduler");
  const JobTable& jobs = core.state.jobs();
  const Vocabulary& names = core.state.names();
  const JobRecord& record = core.book[job];
  const size_t j = index(job);
  JobView view;
  view.id = job;
  view.name = record.name;
  view.user = names.users.text(jobs.user[j]);
  view.state = jobs.state[j];
  view.submitted = jobs.submitted[j];
  view.started = jobs.started[j];
  view.ended = record.ended;
  view.attempt = jobs.attempt[j];
  view.exit_status = record.exit_status;
  view.verdict = present_verdict(core, job);
  view.why = verdict_text(view.verdict, names, core.now);
  if (const std::string& remark = core.book.remark(job); !remark.empty())
    view.why += (view.why.empty() ? "" : ": ") + remark;
  if (!is_set(jobs.shape[j])) return view;
  const Shape& shape = core.shape_of(job);
  view.queue = names.queues.text(shape.queue);
  view.priority = shape.priority;
  view.request = request_of(core, shape);
  add_tasks(core, job, view);
  if (!core.has_ended(job)) drop_unwanted(core, job, view);
  return view;
}

NodeView view_node(const Core& core, NodeId node) {
  NodeView view = core.state.view_node(node);
  core.leavers.subtract(view);
  return view;
}

QueueView view_queue(const Core& core, QueueId queue) {
  const QueueTable& queues = core.state.queues();
  WEFT_CHECK(index(queue) < queues.size(), "a queue's id was given by this scheduler");
  const QueueSpec& spec = queues.spec[index(queue)];
  QueueView view{.id = queue,
                 .name = spec.name,
                 .parent = spec.parent,
                 .guarantee = spec.guarantee,
                 .limit = spec.limit,
                 .usage = queues.usage[index(queue)]};
  for (size_t j = 0; j < core.book.size(); ++j) {
    const JobId job = make_id<JobId>(j);
    if (core.has_ended(job)) continue;
    QueueId q = core.shape_of(job).queue;
    while (is_set(q) && q != queue) q = queues.parent[index(q)];
    if (!is_set(q)) continue;
    ++(core.book[job].live == 0 ? view.pending : view.running);
  }
  return view;
}

ClusterView view_cluster(const Core& core) {
  ClusterView view{.now = core.now,
                   .decision_hash = core.log.hash(),
                   .decision_count = core.log.count(),
                   .ignored_event_count = core.ignored_events};
  const NodeTable& nodes = core.state.nodes();
  view.nodes = static_cast<int32_t>(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    view.nodes_available += core.state.is_schedulable(make_id<NodeId>(n)) ? 1 : 0;
    view.gpus += nodes.device_count[n];
    view.gpus_free += popcount(core.state.available(make_id<NodeId>(n)) & ~core.leavers.devices(make_id<NodeId>(n)));
  }
  for (size_t j = 0; j < core.book.size(); ++j) {
    const JobId job = make_id<JobId>(j);
    int64_t& count =
        core.has_ended(job) ? view.jobs_ended : (core.book[job].live > 0 ? view.jobs_running : view.jobs_pending);
    ++count;
  }
  return view;
}

}  // namespace weft
