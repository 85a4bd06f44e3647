#include "sim/simulation/job_mapping.h"

#include <algorithm>

namespace weft::sim {

namespace {

void set_role(RoleSpec& role, const char* name, int64_t count, int64_t gpus) {
  role.name = name;
  role.count = static_cast<int32_t>(count);
  role.devices = {};
  if (gpus > 0) role.devices = {.kind = DeviceNeedKind::kWhole, .count = static_cast<int32_t>(gpus)};
}

}  // namespace

int64_t gpu_milli_of(const TraceJob& job) {
  return job.gpu_milli > 0 ? int64_t{job.tasks} * job.gpu_milli : job.gpu_count() * 1000;
}

void JobMapping::describe(const TraceJob& job, JobSpec& spec) const {
  spec.name = job.id;
  spec.user = job.user;
  spec.priority = job.priority;
  spec.preemptible = true;
  spec.deadline.reset();
  if (job.deadline < kNever) spec.deadline = job.deadline;
  const bool is_taken_apart = layout_ == Layout::kSingleGpus && job.gpu_milli == 0 && job.gpu_count() > 0;
  const bool is_split = !is_taken_apart && job.is_gpu_count != 0 && job.gpu_count() > node_gpus_ && node_gpus_ > 0;
  const int64_t rest = is_split ? job.gpu_count() % node_gpus_ : 0;
  spec.roles.resize(rest > 0 ? 2 : 1);
  RoleSpec& role = spec.roles.front();
  if (is_taken_apart) {
    set_role(role, "w", job.gpu_count(), 1);
  } else if (is_split) {
    set_role(role, "w", job.gpu_count() / node_gpus_, node_gpus_);
    if (rest > 0) set_role(spec.roles.back(), "rest", 1, rest);
  } else {
    set_role(role, "w", job.tasks, job.gpus_per_task);
    if (job.gpu_milli > 0) role.devices = {.kind = DeviceNeedKind::kMilli, .milli = job.gpu_milli};
  }
  for (RoleSpec& each : spec.roles) {
    // CPUs and memory of a job that is taken apart are told per task of the trace: they say nothing of a single GPU.
    each.cpu_milli = is_taken_apart || is_split ? 0 : job.cpu_milli;
    each.memory_bytes = is_taken_apart || is_split ? 0 : job.memory_bytes;
    each.constraint.models = job.gpu_models;
  }
}

}  // namespace weft::sim
