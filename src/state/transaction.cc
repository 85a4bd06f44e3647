#include "state/transaction.h"

#include "base/bits.h"
#include "base/check.h"
#include "state/cluster_state.h"
#include "state/mig_layout.h"

#include <algorithm>

namespace weft {

namespace {

unsigned only_device(DeviceMask devices) {
  WEFT_CHECK(std::has_single_bit(devices), "a share or an instance is of exactly one device");
  return static_cast<unsigned>(std::countr_zero(devices));
}

}  // namespace

Transaction::Transaction(ClusterState& state) : state_(state) {
  WEFT_CHECK(!state_.has_open_transaction_, "one transaction at a time");
  WEFT_CHECK(state_.undo_.entries.empty(), "the last transaction left nothing behind");
  state_.has_open_transaction_ = true;
}

Transaction::~Transaction() {
  rollback(0);
  state_.has_open_transaction_ = false;
}

Transaction::Mark Transaction::mark() const { return static_cast<Mark>(state_.undo_.entries.size()); }

void Transaction::commit() {
  state_.undo_.entries.clear();
  state_.undo_.placements.clear();
}

void Transaction::save(UndoKind kind, uint32_t id, uint8_t part, uint64_t old) {
  state_.undo_.entries.push_back({.old = old, .id = id, .kind = kind, .part = part});
}

void Transaction::take(const TaskDemand& demand, const TaskPlacement& at) { move(demand, at, Direction::kTake); }

void Transaction::give(const TaskDemand& demand, const TaskPlacement& at) { move(demand, at, Direction::kGive); }

void Transaction::move(const TaskDemand& demand, const TaskPlacement& at, Direction direction) {
  WEFT_CHECK(index(at.node) < state_.nodes_.size(), "a placement names a node that exists");
  move_totals(demand, at, direction);
  switch (at.kind) {
    case DeviceNeedKind::kNone: break;
    case DeviceNeedKind::kWhole: move_whole(index(at.node), at.devices, direction); break;
    case DeviceNeedKind::kMilli:
    case DeviceNeedKind::kMemory: move_share(at, direction); break;
    case DeviceNeedKind::kMig: move_instance(at, direction); break;
  }
  state_.log_change(at.node);
}

/// Moves `amount` between a column's cell and a task. `total` bounds what can come back; it is read only then.
void Transaction::move_amount(int64_t& free, const int64_t& total, int64_t amount, Direction direction) {
  if (direction == Direction::kTake) {
    free -= amount;
    WEFT_CHECK(free >= 0, "a task takes what is free");
  } else {
    free += amount;
    WEFT_CHECK(free <= total, "a task gives back what it took");
  }
}

void Transaction::move_totals(const TaskDemand& demand, const TaskPlacement& at, Direction direction) {
  NodeTable& nodes = state_.nodes_;
  const size_t n = index(at.node);
  const auto id = static_cast<uint32_t>(at.node);
  if (demand.cpu_milli != 0) {
    save(UndoKind::kNodeCpu, id, 0, static_cast<uint64_t>(nodes.free_cpu_milli[n]));
    move_amount(nodes.free_cpu_milli[n], nodes.total_cpu_milli[n], demand.cpu_milli, direction);
    if (at.numa_zone != kNoZone) {
      WEFT_CHECK(at.numa_zone < nodes.zone_count[n], "a placement names a zone that exists");
      const size_t row = nodes.first_zone[n] + at.numa_zone;
      save(UndoKind::kZoneCpu, id, at.numa_zone, static_cast<uint64_t>(state_.zones_.free_cpu_milli[row]));
      move_amount(state_.zones_.free_cpu_milli[row], state_.zones_.total_cpu_milli[row], demand.cpu_milli, direction);
    }
  }
  if (demand.memory_bytes != 0) {
    save(UndoKind::kNodeMemory, id, 0, static_cast<uint64_t>(nodes.free_memory_bytes[n]));
    move_amount(nodes.free_memory_bytes[n], nodes.total_memory_bytes[n], demand.memory_bytes, direction);
  }
  if (demand.disk_bytes != 0) {
    save(UndoKind::kNodeDisk, id, 0, static_cast<uint64_t>(nodes.free_disk_bytes[n]));
    move_amount(nodes.free_disk_bytes[n], nodes.total_disk_bytes[n], demand.disk_bytes, direction);
  }
}

void Transaction::move_whole(size_t node, DeviceMask devices, Direction direction) {
  NodeTable& nodes = state_.nodes_;
  DeviceMask& free = nodes.free[node];
  WEFT_CHECK(devices != 0, "a placement of whole devices names them");
  save(UndoKind::kNodeFree, static_cast<uint32_t>(node), 0, free);
  if (direction == Direction::kTake) {
    WEFT_CHECK((devices & ~free) == 0, "whole devices are taken while nobody is on them");
    free &= ~devices;
  } else {
    const DeviceMask owned = low_bits(nodes.device_count[node]) & ~(free | nodes.shared[node] | nodes.mig[node]);
    WEFT_CHECK((devices & ~owned) == 0, "whole devices come back from the task that owned them");
    free |= devices;
  }
  const unsigned size = std::min(popcount(devices), 8U);
  const uint64_t one = uint64_t{1} << (8 * (size - 1));
  save(UndoKind::kNodeWholeTasks, static_cast<uint32_t>(node), 0, nodes.whole_tasks[node]);
  nodes.whole_tasks[node] += direction == Direction::kTake ? one : ~one + 1;
  state_.reindex_free(node);
}

void Transaction::move_share(const TaskPlacement& at, Direction direction) {
  NodeTable& nodes = state_.nodes_;
  DeviceTable& table = state_.devices_;
  const size_t n = index(at.node);
  const auto id = static_cast<uint32_t>(at.node);
  const unsigned device = only_device(at.devices);
  WEFT_CHECK(device < nodes.device_count[n], "a placement names a device that exists");
  const size_t row = nodes.first_device[n] + device;
  const bool is_take = direction == Direction::kTake;
  const DeviceMask device_from = is_take ? nodes.free[n] | nodes.shared[n] : nodes.shared[n];
  WEFT_CHECK((at.devices & ~device_from) == 0, "a fraction is of a free or a shared device");

  save(UndoKind::kDeviceMemory, id, static_cast<uint8_t>(device), static_cast<uint64_t>(table.free_memory_bytes[row]));
  move_amount(table.free_memory_bytes[row], table.memory_bytes[row], at.memory_bytes, direction);
  save(UndoKind::kDeviceShare, id, static_cast<uint8_t>(device),
       static_cast<uint32_t>(table.free_milli[row]) | uint64_t{table.share_count[row]} << 32);
  const int32_t free_milli = table.free_milli[row] + (is_take ? -at.milli : at.milli);
  WEFT_CHECK(free_milli >= 0 && free_milli <= 1000,
             "a fraction takes what is free of the device and gives back what it took");
  table.free_milli[row] = free_milli;
  const auto share_count = static_cast<uint16_t>(table.share_count[row] + (is_take ? 1 : -1));
  table.share_count[row] = share_count;
  state_.note_room(n, device);

  if (share_count == (is_take ? 1 : 0)) {  // the first one, or the last: the device changes its side
    save(UndoKind::kNodeFree, id, 0, nodes.free[n]);
    save(UndoKind::kNodeShared, id, 0, nodes.shared[n]);
    nodes.free[n] ^= at.devices;
    nodes.shared[n] ^= at.devices;
    state_.reindex_free(n);
  }
  state_.reindex_shares(n);
}

void Transaction::move_instance(const TaskPlacement& at, Direction direction) {
  const NodeTable& nodes = state_.nodes_;
  DeviceTable& table = state_.devices_;
  const size_t n = index(at.node);
  const unsigned device = only_device(at.devices);
  WEFT_CHECK((at.devices & ~nodes.mig[n]) == 0, "an instance is of a device in MIG mode");
  const size_t row = nodes.first_device[n] + device;
  const DeviceModel& model = state_.names_.devices.model(table.model[row]);
  WEFT_CHECK(at.mig_profile < model.mig_profiles.size(), "the profile is one of the device's model");
  const MigProfile& profile = model.mig_profiles[at.mig_profile];
  const unsigned slices = mig_slices(profile, at.mig_start);
  const unsigned occupied = table.mig_occupied[row];
  const unsigned compute = table.mig_compute_used[row];
  const unsigned busy = table.mig_fixed_busy[row];
  save(UndoKind::kDeviceMig, static_cast<uint32_t>(at.node), static_cast<uint8_t>(device),
       occupied | compute << 8 | busy << 16);
  unsigned instance = 0;
  if (table.mig_cut[row] == MigCut::kFixed) {
    const FixedInstance wanted{.profile = at.mig_profile, .start = at.mig_start};
    const auto& fixed = table.mig_fixed[row];
    size_t i = 0;
    while (i < fixed.size() && fixed[i] != wanted) ++i;
    WEFT_CHECK(i < fixed.size(), "a fixed device has the instance that a placement names");
    instance = 1U << i;
  }
  if (direction == Direction::kTake) {
    WEFT_CHECK((occupied & slices) == 0 && (busy & instance) == 0,
               "an instance is taken while nobody is on its slices");
    WEFT_CHECK(compute + profile.compute_slices <= model.mig_compute_slices, "a device has so many compute slices");
    table.mig_compute_used[row] = static_cast<uint8_t>(compute + profile.compute_slices);
  } else {
    WEFT_CHECK((occupied & slices) == slices && (busy & instance) == instance,
               "an instance comes back from the task that had it");
    WEFT_CHECK(compute >= profile.compute_slices, "an instance gives back the compute slices that it took");
    table.mig_compute_used[row] = static_cast<uint8_t>(compute - profile.compute_slices);
  }
  table.mig_occupied[row] = static_cast<uint8_t>(occupied ^ slices);
  table.mig_fixed_busy[row] = static_cast<uint16_t>(busy ^ instance);
}

void Transaction::charge(QueueId queue, const ResourceVector& amount, uint8_t is_preemptible) {
  for (QueueId q = queue; is_set(q); q = state_.queues_.parent[index(q)]) {
    add_usage(q, 0, state_.queues_.usage[index(q)], amount);
    if (is_preemptible == 0) add_usage(q, 1, state_.queues_.firm_usage[index(q)], amount);
  }
}

void Transaction::add_usage(QueueId queue, uint8_t part, ResourceVector& usage, const ResourceVector& amount) {
  const auto add = [&](UndoKind kind, int64_t& cell, int64_t change) {
    if (change == 0) return;
    save(kind, static_cast<uint32_t>(queue), part, static_cast<uint64_t>(cell));
    cell += change;
    WEFT_CHECK(cell >= 0, "a queue's usage is what its tasks were charged");
  };
  add(UndoKind::kUsageGpu, usage.gpu_units, amount.gpu_units);
  add(UndoKind::kUsageCpu, usage.cpu_milli, amount.cpu_milli);
  add(UndoKind::kUsageMemory, usage.memory_bytes, amount.memory_bytes);
}

void Transaction::set_task(TaskId task, TaskState to, const TaskPlacement& at) {
  TaskTable& tasks = state_.tasks_;
  WEFT_CHECK(index(task) < tasks.size(), "the task exists");
  save(UndoKind::kTask, static_cast<uint32_t>(task), 0, static_cast<uint64_t>(tasks.state[index(task)]));
  state_.undo_.placements.push_back(tasks.placement[index(task)]);
  tasks.state[index(task)] = to;
  tasks.placement[index(task)] = at;
  tasks.placement[index(task)].task = task;
}

void Transaction::set_task_state(TaskId task, TaskState to) {
  WEFT_CHECK(index(task) < state_.tasks_.size(), "the task exists");
  TaskState& cell = state_.tasks_.state[index(task)];
  save(UndoKind::kTaskState, static_cast<uint32_t>(task), 0, static_cast<uint64_t>(cell));
  cell = to;
}

void Transaction::set_job_state(JobId job, JobState to) {
  WEFT_CHECK(index(job) < state_.jobs_.size(), "the job exists");
  JobState& cell = state_.jobs_.state[index(job)];
  save(UndoKind::kJobState, static_cast<uint32_t>(job), 0, static_cast<uint64_t>(cell));
  cell = to;
}

void Transaction::set_job_times(JobId job, Instant started, Instant expected_end) {
  WEFT_CHECK(index(job) < state_.jobs_.size(), "the job exists");
  Instant& cell = state_.jobs_.started[index(job)];
  save(UndoKind::kJobStarted, static_cast<uint32_t>(job), 0, static_cast<uint64_t>(cell.ns));
  cell = started;
  save(UndoKind::kJobExpectedEnd, static_cast<uint32_t>(job), 0,
       static_cast<uint64_t>(state_.jobs_.expected_end[index(job)].ns));
  write_expected_end(job, expected_end);
}

void Transaction::write_expected_end(JobId job, Instant end) {
  Instant& cell = state_.jobs_.expected_end[index(job)];
  if (cell == end) return;
  if (cell != kNever) state_.timeline_.erase(job);
  if (end != kNever) state_.timeline_.insert(job, end);
  cell = end;
}

void Transaction::set_job_attempt(JobId job, uint32_t attempt) {
  WEFT_CHECK(index(job) < state_.jobs_.size(), "the job exists");
  uint32_t& cell = state_.jobs_.attempt[index(job)];
  save(UndoKind::kJobAttempt, static_cast<uint32_t>(job), 0, cell);
  cell = attempt;
}

}  // namespace weft
