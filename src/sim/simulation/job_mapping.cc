#include "sim/simulation/job_mapping.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace weft::sim {

namespace {

constexpr std::string_view kDefaultQueue = "default";

ResourceVector smaller_of(const ResourceVector& a, const ResourceVector& b) {
  return {.gpu_units = std::min(a.gpu_units, b.gpu_units),
          .cpu_milli = std::min(a.cpu_milli, b.cpu_milli),
          .memory_bytes = std::min(a.memory_bytes, b.memory_bytes)};
}

/// What all tasks together count against a queue.
ResourceVector charge_of(const JobSpec& spec) {
  ResourceVector total;
  for (const RoleSpec& role : spec.roles) {
    const int64_t milli = role.devices.milli + int64_t{role.devices.count} * 1000;
    const ResourceVector one{milli * (kGpuUnits / 1000), role.cpu_milli, role.memory_bytes};
    total = total + one * role.count;
  }
  return total;
}

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

JobMapping::JobMapping(Layout layout, const ClusterSpec& cluster)
    : layout_(layout), node_gpus_(cluster.gpus_per_node_max()), cluster_(cluster.name) {
  std::map<std::string_view, ResourceVector> limits;  // parents come first
  std::set<std::string_view> parents;
  for (const QueueSpec& queue : cluster.queues) {
    const auto above = limits.find(queue.parent);
    limits[queue.name] = above == limits.end() ? queue.limit : smaller_of(queue.limit, above->second);
    parents.insert(queue.parent);
  }
  for (const auto& [name, limit] : limits) {
    if (!parents.contains(name)) queues_.push_back({.name = std::string(name), .limit = limit});
  }
}

const JobMapping::Queue* JobMapping::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(queues_, name, {}, &Queue::name);
  return at != queues_.end() && at->name == name ? &*at : nullptr;
}

Result<void> JobMapping::choose_queue(const TraceJob& job, JobSpec& spec) const {
  if (queues_.empty()) {
    spec.queue = kDefaultQueue;
    return {};
  }
  const Queue* queue = find(job.queue);
  if (queue == nullptr) queue = find(kDefaultQueue);
  spec.queue = queue == nullptr ? job.queue : queue->name;
  if (queue == nullptr) {
    std::string known;
    for (const Queue& each : queues_) known += each.name + ", ";
    const std::string found = job.queue.empty()
                                  ? std::string("the trace names no queue for it")
                                  : fmt::format("{} has no queue {} that takes jobs", cluster_, quote(job.queue));
    return fail(ErrorCode::kInvalidInput, fmt::format("job {}: {}; expected {}or a queue called {} for all others",
                                                      job.id, found, known, kDefaultQueue));
  }
  const ResourceVector asked = charge_of(spec);
  if (asked.fits_in(queue->limit)) return {};
  const char* const what = asked.gpu_units > queue->limit.gpu_units   ? "GPUs"
                           : asked.cpu_milli > queue->limit.cpu_milli ? "CPUs"
                                                                      : "memory";
  return fail(ErrorCode::kInvalidInput, fmt::format("job {}: asks for more {} than the limit of its queue {} lets it "
                                                    "ever use",
                                                    job.id, what, quote(queue->name)));
}

Result<void> JobMapping::describe(const TraceJob& job, JobSpec& spec) const {
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
  return choose_queue(job, spec);
}

}  // namespace weft::sim
