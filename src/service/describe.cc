#include "service/describe.h"

#include "base/bits.h"
#include "model/names.h"
#include "service/version.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::service {
namespace {

int64_t wall_ms_or_zero(const Backend& backend, Instant at) { return at < kNever ? backend.wall_ms(at) : 0; }

TaskState state_after(JobState job, const TaskDetail& detail) {
  // Of a gang one task fails, and the others are stopped for it.
  if (job == JobState::kCancelled || (job == JobState::kFailed && detail.is_stopped)) return TaskState::kCancelled;
  if (detail.exit_status) return *detail.exit_status == 0 ? TaskState::kDone : TaskState::kFailed;
  return job == JobState::kDone ? TaskState::kDone : TaskState::kCancelled;
}

TaskInfo describe_task(const Backend& backend, const TaskDetail& detail) {
  TaskInfo task;
  task.pid = detail.pid;
  task.exit_status = detail.exit_status;
  if (!detail.placement) return task;
  const NodeSpec& node = backend.node_spec(detail.placement->node);
  task.node = node.name;
  for_each_bit(detail.placement->devices, [&](unsigned device) {
    task.gpus.push_back(static_cast<int32_t>(device));
    if (!node.devices[device].uuid.empty()) task.gpu_uuids.push_back(node.devices[device].uuid);
  });
  return task;
}

void add_tasks(const Backend& backend, const JobView& view, JobInfo& job) {
  const std::vector<TaskDetail> details = backend.tasks(view.id);
  const bool is_over = is_end_state(view.state);
  int32_t index = 0;
  for (const RoleSpec& role : backend.spec(view.id).roles) {
    for (int32_t i = 0; i < role.count; ++i, ++index) {
      const auto at = static_cast<size_t>(index);
      TaskState state = !is_over && at < view.tasks.size() ? view.tasks[at].state : TaskState::kPending;
      TaskInfo task;
      // A task that waits (again) has no place, whatever it had before.
      if (at < details.size() && (is_over || state != TaskState::kPending)) task = describe_task(backend, details[at]);
      if (is_over) state = state_after(view.state, at < details.size() ? details[at] : TaskDetail{});
      task.index = index;
      task.name = fmt::format("{}/{}", role.name, i);
      task.state = to_text(state);
      job.tasks.push_back(std::move(task));
    }
  }
}

/// Of a job that has ended: the status that decided it.
std::optional<int32_t> exit_status_of(const JobView& view, const JobInfo& job) {
  if (view.state == JobState::kDone) return 0;
  if (view.exit_status != 0) return view.exit_status;
  for (const TaskInfo& task : job.tasks) {
    if (task.exit_status.value_or(0) != 0) return task.exit_status;
  }
  return std::nullopt;
}

}  // namespace

JobInfo describe_job(Backend& backend, JobId id) {
  const JobView view = backend.scheduler().job(id);
  const JobSpec& spec = backend.spec(id);
  JobInfo job;
  job.id = static_cast<int64_t>(index(id));
  job.name = view.name;
  job.user = view.user;
  job.queue = spec.queue;
  job.state = to_text(view.state);
  job.priority = spec.priority;
  job.attempt = view.attempt;
  job.submitted_ms = backend.wall_ms(view.submitted);
  job.started_ms = wall_ms_or_zero(backend, view.started);
  job.ended_ms = is_end_state(view.state) ? wall_ms_or_zero(backend, view.ended) : 0;
  if (spec.time_limit < kEndless) job.time_limit_ms = (spec.time_limit.ns + 999'999) / 1'000'000;
  for (const RoleSpec& role : spec.roles) {
    job.gpus += role.devices.count * role.count;
    for (const std::string& model : role.constraint.models) {
      if (std::ranges::find(job.gpu_models, model) == job.gpu_models.end()) job.gpu_models.push_back(model);
    }
    job.cpu_milli += role.cpu_milli * role.count;
    job.memory_bytes += role.memory_bytes * role.count;
  }
  job.command = spec.launch.command;
  job.directory = spec.launch.working_directory;
  if (const auto files = backend.files(id, 0)) {
    job.output = files->output;
    job.error = files->error;
  }
  if (view.state == JobState::kPending) {
    job.reason = backend.scheduler().word(view.verdict);
    job.why = view.why;
  }
  job.message = backend.message(id);
  add_tasks(backend, view, job);
  if (job.tasks.size() > 1) {
    const auto second = backend.files(id, 1);
    job.is_output_shared = second && second->output == job.output && second->error == job.error;
  }
  if (is_end_state(view.state)) job.exit_status = exit_status_of(view, job);
  return job;
}

std::vector<NodeInfo> describe_nodes(Backend& backend) {
  Scheduler& scheduler = backend.scheduler();
  std::vector<NodeInfo> nodes;
  for (size_t n = 0; n < scheduler.node_count(); ++n) {
    const NodeView view = scheduler.node(make_id<NodeId>(n));
    const NodeSpec& spec = backend.node_spec(view.id);
    NodeInfo node{.name = view.name,
                  .state = !view.is_up        ? "down"
                           : view.is_cordoned ? "cordoned"
                                              : "up",
                  .gpu_model = view.device_model,
                  .cpu_milli = view.cpu_milli,
                  .free_cpu_milli = view.free_cpu_milli,
                  .memory_bytes = view.memory_bytes,
                  .free_memory_bytes = view.free_memory_bytes};
    for (size_t d = 0; d < spec.devices.size(); ++d) {
      const DeviceSpec& device = spec.devices[d];
      node.gpus.push_back({.index = static_cast<int32_t>(d),
                           .uuid = device.uuid,
                           .bus_id = device.bus_id,
                           .model = device.model,
                           .memory_bytes = device.memory_bytes,
                           .is_healthy = (view.healthy_devices >> d & 1U) != 0,
                           .free_milli = view.device_free_milli[d]});
    }
    nodes.push_back(std::move(node));
  }
  for (size_t j = 0; j < scheduler.job_count(); ++j) {
    const JobId job = make_id<JobId>(j);
    const JobState state = scheduler.job_state(job);
    if (is_end_state(state) || state == JobState::kPending) continue;
    for (const TaskView& task : scheduler.job(job).tasks) {
      const bool has_place =
          task.state == TaskState::kHeld || task.state == TaskState::kRunning || task.state == TaskState::kReleasing;
      if (!has_place) continue;
      for_each_bit(task.placement.devices, [&](unsigned device) {
        std::vector<int64_t>& jobs = nodes[index(task.placement.node)].gpus[device].jobs;
        if (jobs.empty() || jobs.back() != static_cast<int64_t>(j)) jobs.push_back(static_cast<int64_t>(j));
      });
    }
  }
  return nodes;
}

std::vector<QueueInfo> describe_queues(Backend& backend) {
  std::vector<QueueInfo> queues;
  for (size_t q = 0; q < backend.scheduler().queue_count(); ++q) {
    const QueueView view = backend.scheduler().queue(make_id<QueueId>(q));
    queues.push_back({.name = view.name,
                      .parent = view.parent,
                      .pending = view.pending,
                      .running = view.running,
                      .gpu_milli = view.usage.gpu_units * 1000 / kGpuUnits,
                      .cpu_milli = view.usage.cpu_milli,
                      .memory_bytes = view.usage.memory_bytes});
  }
  return queues;
}

ClusterInfo describe_cluster(Backend& backend) {
  const ClusterView view = backend.scheduler().cluster();
  ClusterInfo info{.version = std::string(kVersion),
                   .nodes = view.nodes,
                   .nodes_available = view.nodes_available,
                   .gpus = view.gpus,
                   .gpus_free = view.gpus_free,
                   .jobs_pending = view.jobs_pending,
                   .jobs_running = view.jobs_running,
                   .jobs_ended = view.jobs_ended,
                   .gpu_milli_free = view.fragmentation.gpu_milli_free,
                   .decision_count = view.decision_count,
                   .decision_hash = fmt::format("{:016x}", view.decision_hash)};
  if (backend.scheduler().has_expected_tasks()) {
    info.fragment_milli = view.fragmentation.fragment_milli;
    info.fragment_ratio = view.fragmentation.ratio();
  }
  return info;
}

}  // namespace weft::service
