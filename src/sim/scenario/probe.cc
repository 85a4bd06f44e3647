#include "sim/scenario/probe.h"

#include "base/bits.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

void add_nodes(World& world, std::vector<Event>& events) {
  const Scenario& scenario = world.scenario();
  events.push_back({Instant{}, TopologyDefined{scenario.topology}});
  QueueSpec queue{.name = "default"};
  queue.guarantee = kUnlimitedResources;
  events.push_back({Instant{}, QueueDefined{queue}});
  for (NodeIndex n = 0; n < scenario.node_count; ++n) {
    NodeAdded added{scenario.node_group(n).spec};
    added.node.name = scenario.node_name(n);
    events.push_back({Instant{}, std::move(added)});
  }
}

/// What is down, cordoned or broken now. After the running jobs: a fact may be on a node that is cordoned, or a broken
/// device.
void add_faults(World& world, std::vector<Event>& events) {
  for (NodeIndex n = 0; n < world.scenario().node_count; ++n) {
    const auto id = make_id<NodeId>(n);
    const NodeView view = world.scheduler().node(id);
    if (!view.is_up) events.push_back({Instant{}, NodeDown{id}});
    if (view.is_cordoned) events.push_back({Instant{}, NodeCordoned{id}});
    const DeviceMask broken = low_bits(static_cast<unsigned>(view.device_count)) & ~view.healthy_devices;
    for_each_bit(broken, [&](unsigned d) { events.push_back({Instant{}, DeviceFailed{id, static_cast<uint8_t>(d)}}); });
  }
}

JobSpec plain(JobSpec spec) {
  spec.queue = "default";
  spec.user.clear();
  spec.after.clear();
  spec.start_no_earlier.reset();
  spec.stale_after = kTimeMax;
  return spec;
}

void add_running(const JobSituation& job, std::vector<Event>& events) {
  JobAdopted adopted{.job = plain(job.spec), .submitted = Instant{}, .started = Instant{}, .tasks = {}};
  for (const TaskIndex task : job.running) {
    const TaskPlacement& at = job.view.tasks[static_cast<size_t>(task)].placement;
    adopted.tasks.push_back({.task = task,
                             .node = at.node,
                             .devices = at.devices,
                             .numa_zone = at.numa_zone,
                             .mig_start = static_cast<int8_t>(at.kind == DeviceNeedKind::kMig ? at.mig_start : -1)});
  }
  events.push_back({Instant{}, std::move(adopted)});
}

/// Adds all of `part` to the gang `joint`, as a group of its own.
void join(JobSpec& joint, const JobSpec& part) {
  const std::string prefix = fmt::format("{}.", joint.groups.size());
  GroupSpec top{.name = prefix, .roles = {}, .groups = {}, .min = part.min_groups, .topology = part.topology};
  std::vector<std::string> inner;
  for (const GroupSpec& group : part.groups) {
    inner.insert(inner.end(), group.roles.begin(), group.roles.end());
    inner.insert(inner.end(), group.groups.begin(), group.groups.end());
  }
  const auto is_top = [&](const std::string& name) {
    return std::find(inner.begin(), inner.end(), name) == inner.end();
  };
  for (RoleSpec role : part.roles) {
    if (is_top(role.name)) top.roles.push_back(prefix + role.name);
    role.name = prefix + role.name;
    joint.roles.push_back(std::move(role));
  }
  std::vector<GroupSpec> groups;
  for (GroupSpec group : part.groups) {
    if (is_top(group.name)) top.groups.push_back(prefix + group.name);
    group.name = prefix + group.name;
    for (std::string& name : group.roles) name = prefix + name;
    for (std::string& name : group.groups) name = prefix + name;
    groups.push_back(std::move(group));
  }
  joint.groups.push_back(std::move(top));
  joint.groups.insert(joint.groups.end(), std::make_move_iterator(groups.begin()),
                      std::make_move_iterator(groups.end()));
}

/// The running tasks of a job as a gang.
JobSpec running_part(const JobSituation& job) {
  JobSpec part = job.spec;
  std::vector<RoleSpec> roles;
  TaskIndex first = 0;
  bool is_all = true;
  for (const RoleSpec& role : job.spec.roles) {
    const TaskIndex count = std::max(role.count, 0);
    const auto running = std::count_if(job.running.begin(), job.running.end(),
                                       [&](TaskIndex t) { return t >= first && t < first + count; });
    first += count;
    is_all = is_all && running == count;
    if (running == 0) continue;
    roles.push_back(role);
    roles.back().count = static_cast<int32_t>(running);
    roles.back().min = -1;
  }
  part.roles = std::move(roles);
  if (!is_all) part.groups.clear();
  for (GroupSpec& group : part.groups) group.min = -1;
  part.min_groups = -1;
  return part;
}

}  // namespace

Probe::Answer Probe::could_start(World& world, const JobSpec& ask, std::span<const JobSituation* const> stay,
                                 std::span<const JobSituation* const> move) {
  int64_t cost = int64_t{world.scenario().node_count} + task_count(ask);
  for (const JobSituation* job : stay) cost += static_cast<int64_t>(job->running.size());
  for (const JobSituation* job : move) cost += static_cast<int64_t>(job->running.size());
  budget_ -= cost;
  if (budget_ < 0) return Answer::kMaybe;

  auto scheduler = Scheduler::create(PolicyConfig{});
  if (!scheduler) return Answer::kMaybe;
  std::vector<Event> events;
  add_nodes(world, events);
  for (const JobSituation* job : stay) add_running(*job, events);
  add_faults(world, events);
  (*scheduler)->absorb(events);
  if (!(*scheduler)->last_errors().empty()) return Answer::kMaybe;

  JobSpec question = plain(ask);
  if (!move.empty()) {
    question = {};
    question.name = "joint";
    join(question, plain(ask));
    for (const JobSituation* job : move) join(question, running_part(*job));
  }
  const auto verdict = (*scheduler)->what_if(question);
  const bool is_proven = verdict.has_value() && !verdict->is_yes() && verdict->reason != Reason::kBudget;
  return is_proven ? Answer::kNo : Answer::kMaybe;
}

}  // namespace weft::scenario
