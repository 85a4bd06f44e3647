#include "sim/scenario/situation.h"

#include <algorithm>

namespace weft::scenario {
namespace {

/// Reasons that no rung could help with: the job's own gates, its guarantee (only jobs that nobody disturbs count
/// against it), the engine.
bool is_beyond_help(const Verdict& verdict) {
  switch (verdict.reason) {
    case Reason::kDependency:
    case Reason::kBeginTime:
    case Reason::kHeld:
    case Reason::kGuarantee:
    case Reason::kOrder:
    case Reason::kEngine: return true;
    default: return verdict.is_never;
  }
}

std::vector<TaskIndex> tasks_in(const JobView& view, TaskState state) {
  std::vector<TaskIndex> out;
  for (size_t t = 0; t < view.tasks.size(); ++t) {
    if (view.tasks[t].state == state) out.push_back(static_cast<TaskIndex>(t));
  }
  return out;
}

/// Calls `visit(role, first task, count)`.
template <typename Visit>
void for_each_role(const JobSpec& spec, Visit&& visit) {
  TaskIndex first = 0;
  for (size_t r = 0; r < spec.roles.size(); ++r) {
    const TaskIndex count = std::max(spec.roles[r].count, 0);
    visit(r, first, count);
    first += count;
  }
}

int64_t count_between(const std::vector<TaskIndex>& tasks, TaskIndex first, TaskIndex count) {
  return std::count_if(tasks.begin(), tasks.end(), [&](TaskIndex t) { return t >= first && t < first + count; });
}

bool has_optional_groups(const JobSpec& spec) {
  const auto is_optional = [](const GroupSpec& g) {
    return g.min >= 0 && static_cast<size_t>(g.min) < g.roles.size() + g.groups.size();
  };
  return spec.min_groups >= 0 || std::any_of(spec.groups.begin(), spec.groups.end(), is_optional);
}

uint32_t queue_index(const Scenario& scenario, const std::string& name) {
  const auto found =
      std::find_if(scenario.queues.begin(), scenario.queues.end(), [&](const QueueSpec& q) { return q.name == name; });
  return static_cast<uint32_t>(found - scenario.queues.begin());
}

/// Does it wait for room? Jobs of the rule `gang: none` may run and wait at once; so may a gang that has lost tasks.
bool is_waiting(World& world, const JobSituation& job) {
  if (job.pending.empty()) return false;
  if (job.view.state == JobState::kPending)
    return job.view.verdict.reason != Reason::kNone && !is_beyond_help(job.view.verdict);
  if (job.spec.gang != GangRule::kNone || job.view.state != JobState::kRunning) return false;
  const auto verdict = world.scheduler().what_if(what_it_waits_for(job));
  return verdict.has_value() && !verdict->is_yes() && !is_beyond_help(*verdict);
}

}  // namespace

bool JobSituation::is_elastic() const {
  const auto has_surplus = [](const RoleSpec& r) { return r.min >= 0 && r.min < r.count; };
  return spec.gang == GangRule::kAll &&
         (has_optional_groups(spec) || std::any_of(spec.roles.begin(), spec.roles.end(), has_surplus));
}

bool JobSituation::has_running_surplus() const {
  if (!is_elastic() || running.empty()) return false;
  if (has_optional_groups(spec)) return true;
  bool found = false;
  for_each_role(spec, [&](size_t r, TaskIndex first, TaskIndex count) {
    const int64_t min = spec.roles[r].min < 0 ? count : spec.roles[r].min;
    found = found || count_between(running, first, count) > min;
  });
  return found;
}

Situation look_at(World& world) {
  const Scenario& scenario = world.scenario();
  Situation out;
  out.usage.resize(scenario.queues.size());
  for (size_t q = 0; q < scenario.queues.size(); ++q) out.usage[q] = world.scheduler().queue(make_id<QueueId>(q)).usage;
  for (const JobIndex index : world.submitted_jobs()) {
    if (is_end_state(world.scheduler().job_state(world.id_of(index)))) continue;
    JobSituation job{.index = index, .spec = scenario.job_group(index).spec, .view = world.view(index)};
    job.queue = queue_index(scenario, job.spec.queue);
    job.is_preemptible = job.spec.preemptible.value_or(job.spec.priority < kPriorityBuild);
    job.pending = tasks_in(job.view, TaskState::kPending);
    job.running = tasks_in(job.view, TaskState::kRunning);
    for (const TaskIndex task : job.running)
      job.running_charge = job.running_charge + job.view.tasks[static_cast<size_t>(task)].placement.charge;
    if (!tasks_in(job.view, TaskState::kReleasing).empty()) out.has_releasing = 1;
    if (is_waiting(world, job)) out.waiting.push_back(job);
    if (!job.running.empty()) out.running.push_back(std::move(job));
  }
  return out;
}

std::vector<uint32_t> queue_path(const Scenario& scenario, uint32_t queue) {
  std::vector<uint32_t> out{queue};
  while (!scenario.queues[out.back()].parent.empty())
    out.push_back(queue_index(scenario, scenario.queues[out.back()].parent));
  return out;
}

ResourceVector least_charge(const JobSpec& spec) {
  ResourceVector total;
  for (const RoleSpec& role : spec.roles) {
    const int64_t count = role.min >= 0 ? std::min(role.min, role.count) : role.count;
    int64_t gpu_units = 0;
    if (role.devices.kind == DeviceNeedKind::kWhole) gpu_units = int64_t{role.devices.count} * kGpuUnits;
    if (role.devices.kind == DeviceNeedKind::kMilli) gpu_units = int64_t{role.devices.milli} * (kGpuUnits / 1000);
    total = total + ResourceVector{gpu_units, role.cpu_milli, role.memory_bytes} * count;
  }
  return total;
}

JobSpec what_it_waits_for(const JobSituation& job) {
  JobSpec spec = job.spec;
  spec.after.clear();
  spec.start_no_earlier.reset();
  if (job.running.empty() && job.spec.gang == GangRule::kAll) return spec;
  // Part of it runs: only what is missing, and without the bonds to the part that runs, which can only make it easier
  // to place.
  std::vector<RoleSpec> roles;
  for_each_role(job.spec, [&](size_t r, TaskIndex first, TaskIndex count) {
    int64_t lacking = count_between(job.pending, first, count);
    if (job.spec.gang == GangRule::kNone) lacking = std::min<int64_t>(lacking, roles.empty() ? 1 : 0);
    if (lacking == 0) return;
    roles.push_back(job.spec.roles[r]);
    roles.back().count = static_cast<int32_t>(lacking);
    roles.back().min = -1;
    roles.back().topology = {};
  });
  spec.roles = std::move(roles);
  spec.groups.clear();
  spec.min_groups = -1;
  spec.topology = {};
  return spec;
}

}  // namespace weft::scenario
