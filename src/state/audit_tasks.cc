#include "model/catalogue.h"
#include "state/audit.h"
#include "state/mig_layout.h"

#include <algorithm>

namespace weft {

namespace {

/// Of those that leave the places are planned on: they hold nothing any more.
bool holds_something(TaskState state) { return is_live(state) && state != TaskState::kLeaving; }

/// What all tasks hold of one device.
struct DeviceHeld {
  int32_t whole_tasks = 0;
  int32_t fractions = 0;
  int64_t milli = 0;
  int64_t memory_bytes = 0;
  unsigned mig_tasks = 0;
  unsigned mig_slices_sum = 0;  ///< as numbers, so that two tasks on one slice show
  unsigned mig_slices = 0;
  unsigned mig_compute = 0;
  unsigned fixed_busy = 0;
};

/// What all tasks hold of one node.
struct Held {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t disk_bytes = 0;
  uint64_t whole_tasks = 0;  ///< as NodeTable has it
  std::vector<int64_t> zone_cpu_milli;
  std::vector<DeviceHeld> devices;
};

void add_instance(const ClusterState& state, size_t row, const TaskPlacement& at, DeviceHeld& held) {
  const DeviceModel& model = state.names().devices.model(state.devices().model[row]);
  const MigProfile& profile = model.mig_profiles.at(at.mig_profile);
  ++held.mig_tasks;
  held.mig_slices_sum += mig_slices(profile, at.mig_start);
  held.mig_slices |= mig_slices(profile, at.mig_start);
  held.mig_compute += profile.compute_slices;
  const std::vector<FixedInstance>& fixed = state.devices().mig_fixed[row];
  for (size_t i = 0; i < fixed.size(); ++i) {
    if (fixed[i].profile == at.mig_profile && fixed[i].start == at.mig_start) held.fixed_busy += 1U << i;
  }
}

void add_place(const ClusterState& state, const TakenPlace& place, Held& held) {
  const TaskPlacement& at = place.at;
  const TaskDemand& demand = state.shapes()[place.shape].roles[place.role].demand;
  held.cpu_milli += demand.cpu_milli;
  held.memory_bytes += demand.memory_bytes;
  held.disk_bytes += demand.disk_bytes;
  if (at.kind == DeviceNeedKind::kWhole)
    held.whole_tasks += uint64_t{1} << (8 * (std::min(popcount(at.devices), 8U) - 1));
  if (at.numa_zone != kNoZone) held.zone_cpu_milli.at(at.numa_zone) += demand.cpu_milli;
  for_each_bit(at.devices, [&](unsigned d) {
    DeviceHeld& device = held.devices.at(d);
    if (at.kind == DeviceNeedKind::kWhole) ++device.whole_tasks;
    if (at.kind == DeviceNeedKind::kMig)
      add_instance(state, state.nodes().first_device[index(at.node)] + d, at, device);
    if (at.kind != DeviceNeedKind::kMilli && at.kind != DeviceNeedKind::kMemory) return;
    ++device.fractions;
    device.milli += at.milli;
    device.memory_bytes += at.memory_bytes;
  });
}

}  // namespace

/// Rows of jobs and tasks point at each other, and every device has one owner.
void Auditor::owners() {
  const JobTable& jobs = state_.jobs_;
  const TaskTable& tasks = state_.tasks_;
  size_t owned = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    if (jobs.task_count[j] == 0) continue;
    const Shape& shape = state_.shapes_[jobs.shape[j]];
    size_t row = index(jobs.first_task[j]);
    expect(row + jobs.task_count[j] <= tasks.size() && jobs.task_count[j] == static_cast<uint32_t>(shape.task_count()),
           "job {}: its rows of tasks are off", j);
    for (size_t role = 0; role < shape.roles.size(); ++role) {
      for (int32_t i = 0; i < shape.roles[role].count; ++i, ++row) {
        expect(tasks.job[row] == make_id<JobId>(j) && tasks.role[row] == role, "task {}: of another job or role", row);
      }
    }
    owned += jobs.task_count[j];
  }
  size_t used = 0;
  for (size_t t = 0; t < tasks.size(); ++t) used += is_set(tasks.job[t]) ? 1 : 0;
  expect(used == owned, "{} rows of tasks are used, but jobs own {}", used, owned);
}

std::vector<TakenPlace> Auditor::places_of_tasks() {
  const TaskTable& tasks = state_.tasks_;
  std::vector<TakenPlace> out;
  for (size_t t = 0; t < tasks.size(); ++t) {
    if (!is_set(tasks.job[t]) || !holds_something(tasks.state[t])) continue;
    const TaskPlacement& at = tasks.placement[t];
    const bool is_somewhere = index(at.node) < state_.nodes_.size() && at.task == make_id<TaskId>(t);
    expect(is_somewhere, "task {}: holds something, but nowhere", t);
    if (is_somewhere)
      out.push_back({.shape = state_.jobs_.shape[index(tasks.job[t])], .role = tasks.role[t], .at = at});
  }
  return out;
}

void Auditor::holdings(std::span<const TakenPlace> beside) {
  std::vector<TakenPlace> places = places_of_tasks();
  places.insert(places.end(), beside.begin(), beside.end());
  std::vector<std::vector<TakenPlace>> places_on(state_.nodes_.size());
  for (const TakenPlace& place : places) places_on[index(place.at.node)].push_back(place);
  for (size_t n = 0; n < places_on.size(); ++n) node_holdings(n, places_on[n]);
}

void Auditor::node_holdings(size_t n, const std::vector<TakenPlace>& places) {
  const NodeTable& nodes = state_.nodes_;
  const DeviceTable& table = state_.devices_;
  Held held;
  held.zone_cpu_milli.resize(nodes.zone_count[n]);
  held.devices.resize(nodes.device_count[n]);
  for (const TakenPlace& place : places) add_place(state_, place, held);

  expect(held.cpu_milli == nodes.total_cpu_milli[n] - nodes.free_cpu_milli[n],
         "node {}: tasks hold other CPUs than are taken", n);
  expect(held.memory_bytes == nodes.total_memory_bytes[n] - nodes.free_memory_bytes[n],
         "node {}: tasks hold other memory than is taken", n);
  expect(held.disk_bytes == nodes.total_disk_bytes[n] - nodes.free_disk_bytes[n],
         "node {}: tasks hold other disk than is taken", n);
  expect(held.whole_tasks == nodes.whole_tasks[n], "node {}: tasks with whole devices are counted wrongly by size", n);
  for (size_t z = 0; z < held.zone_cpu_milli.size(); ++z) {
    const size_t row = nodes.first_zone[n] + z;
    expect(held.zone_cpu_milli[z] == state_.zones_.total_cpu_milli[row] - state_.zones_.free_cpu_milli[row],
           "node {}: zone {}: tasks hold other CPUs than are taken", n, z);
  }
  for (size_t d = 0; d < held.devices.size(); ++d) {
    const DeviceHeld& device = held.devices[d];
    const size_t row = nodes.first_device[n] + d;
    const bool is_whole_taken = ((nodes.free[n] | nodes.shared[n] | nodes.mig[n]) >> d & 1U) == 0;
    expect(device.whole_tasks == (is_whole_taken ? 1 : 0), "node {}: device {}: owned whole by {} tasks", n, d,
           device.whole_tasks);
    expect(device.fractions == table.share_count[row] && device.milli == 1000 - table.free_milli[row] &&
               device.memory_bytes == table.memory_bytes[row] - table.free_memory_bytes[row],
           "node {}: device {}: its fractions are not those of tasks", n, d);
    const bool is_cut_fixed = table.mig_cut[row] == MigCut::kFixed;
    expect(device.mig_slices_sum == device.mig_slices && device.mig_slices == table.mig_occupied[row] &&
               device.mig_compute == table.mig_compute_used[row] &&
               table.mig_fixed_busy[row] == (is_cut_fixed ? device.fixed_busy : 0),
           "node {}: device {}: its instances in use are not those of tasks", n, d);
  }
}

/// Sums over all places, queue by queue; ancestors by walking down from every queue to itself.
void Auditor::usage(std::span<const TakenPlace> beside) {
  const QueueTable& queues = state_.queues_;
  std::vector<TakenPlace> places = places_of_tasks();
  places.insert(places.end(), beside.begin(), beside.end());
  std::vector<ResourceVector> own(queues.size());
  std::vector<ResourceVector> own_firm(queues.size());
  for (const TakenPlace& place : places) {
    const Shape& shape = state_.shapes_[place.shape];
    const size_t q = index(shape.queue);
    own[q] = own[q] + place.at.charge;
    if (!shape.is_preemptible) own_firm[q] = own_firm[q] + place.at.charge;
  }
  const auto is_inside = [&](QueueId queue, QueueId ancestor) {
    while (is_set(queue) && queue != ancestor) queue = queues.parent[index(queue)];
    return queue == ancestor;
  };
  for (size_t a = 0; a < queues.size(); ++a) {
    ResourceVector usage;
    ResourceVector firm;
    for (size_t q = 0; q < queues.size(); ++q) {
      if (!is_inside(make_id<QueueId>(q), make_id<QueueId>(a))) continue;
      usage = usage + own[q];
      firm = firm + own_firm[q];
    }
    expect(queues.usage[a] == usage, "queue {}: usage is not the charges of its tasks", queues.spec[a].name);
    expect(queues.firm_usage[a] == firm, "queue {}: firm usage is not the charges of its tasks", queues.spec[a].name);
  }
}

}  // namespace weft
