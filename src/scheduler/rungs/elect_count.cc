#include "scheduler/rungs/elect.h"

#include <algorithm>

namespace weft {

// ---- Where the number of GPUs decides

/// Any free GPU of any node will do for any task of the shape, and nothing else bounds it.
bool ElectRung::is_counted(ShapeId id) {
  if (counted_shapes_.size() <= index(id)) counted_shapes_.resize(index(id) + 1, 0);
  uint8_t& known = counted_shapes_[index(id)];
  if (known != 0) return known == 2;
  known = 1;
  const Shape& shape = core_.state.shapes()[id];
  if (has_scope(shape) || !shape.data.empty()) return false;
  for (const RoleShape& role : shape.roles) {
    const TaskDemand& task = role.demand;
    const DeviceDemand& devices = task.devices;
    const bool is_one_gpu = devices.kind == DeviceNeedKind::kWhole && devices.count == 1 && devices.models.empty() &&
                            devices.memory_bytes_min == 0 && devices.compute_capability_min == 0;
    const bool is_bare = task.cpu_milli == 0 && task.memory_bytes == 0 && task.disk_bytes == 0 && task.labels.empty() &&
                         !is_set(task.node) && task.numa == NumaNeed::kAny;
    if (!is_one_gpu || !is_bare || role.min != role.count) return false;
  }
  const QueueTable& queues = core_.state.queues();
  for (QueueId q = shape.queue; is_set(q); q = queues.parent[index(q)]) {
    const QueueSpec& spec = queues.spec[index(q)];
    const bool is_bounded = spec.running_jobs_max >= 0 || spec.limit.gpu_units < kUnlimited ||
                            (!shape.is_preemptible && spec.guarantee.gpu_units < kUnlimited);
    if (is_bounded) return false;
  }
  known = 2;
  return true;
}

/// As far as the cluster and the policy are concerned.
bool ElectRung::is_counting_cluster() {
  if (core_.config().elect_places != ElectPlaces::kKept) return false;
  const ClusterState& state = core_.state;
  if (counted_structure_ != state.structure_version() || counted_queues_ != state.queues().size()) {
    counted_structure_ = state.structure_version();
    counted_queues_ = state.queues().size();
    counted_shapes_.clear();
    is_cluster_counted_ = std::ranges::all_of(state.nodes().taints, [](const auto& taints) { return taints.empty(); });
  }
  return is_cluster_counted_ != 0;
}

bool ElectRung::are_waiters_counted() {
  const auto is_counted_line = [&](const Waiter& waiter) { return is_counted(core_.lines[waiter.line].shape); };
  return is_counting_cluster() && std::ranges::all_of(waiters_, is_counted_line);
}

bool ElectRung::is_counting() {
  const auto is_counted_runner = [&](const Runner& runner) {
    return is_counted(core_.state.jobs().shape[index(runner.place.job)]);
  };
  return are_waiters_counted() && std::ranges::all_of(runners_, is_counted_runner);
}

/// As long as everybody chosen fits into what is free at the end of the list, nobody behind it loses anything, and the
/// list need not be walked: whether a waiter fits at its place is a sum over those before it.
void ElectRung::choose_by_count() {
  before_.resize(runners_.size() + 1);
  before_[0] = 0;
  for (size_t i = 0; i < runners_.size(); ++i) before_[i + 1] = before_[i] + runners_[i].need;
  const int64_t free = core_.state.capacity().free_devices(DomainId{0});
  int64_t total = before_.back() + free;
  int64_t spare = free;
  const auto place_in_list = [&](const Place& place) {
    const auto at = std::ranges::lower_bound(runners_, place, {}, &Runner::place);
    return static_cast<size_t>(at - runners_.begin());
  };
  while (Waiter* waiter = first_waiter()) {
    const size_t at = place_in_list(waiter->place);
    const int64_t left = total - before_[at];
    if (waiter->need > left) {
      close_short(*waiter, left);
      continue;
    }
    if (waiter->need > spare) return walk_by_count(at, left);
    chosen_.push_back({.place = waiter->place, .need = waiter->need});
    total -= waiter->need;
    spare -= waiter->need;
    advance(*waiter);
  }
}

/// From runner `at` on, with `left` GPUs for it and everybody behind it.
void ElectRung::walk_by_count(size_t at, int64_t left) {
  while (true) {
    Waiter* waiter = first_waiter();
    const bool is_waiter = waiter != nullptr && (at == runners_.size() || waiter->place < runners_[at].place);
    if (is_waiter) {
      if (waiter->need > left) {
        close_short(*waiter, left);
        continue;
      }
      chosen_.push_back({.place = waiter->place, .need = waiter->need});
      left -= waiter->need;
      advance(*waiter);
      continue;
    }
    if (at == runners_.size()) return;
    Runner& runner = runners_[at++];
    runner.fate = runner.need <= left ? Fate::kKept : Fate::kDropped;
    if (runner.fate == Fate::kKept) left -= runner.need;
  }
}

/// Fewer GPUs are left at its place than it needs, and fewer still further down the list.
void ElectRung::close_short(Waiter& waiter, int64_t left) { close(waiter, short_of(left, waiter.need)); }

Verdict ElectRung::short_of(int64_t have, int64_t need) {
  Verdict verdict;
  verdict.reason = Reason::kGpus;
  verdict.unit = CountUnit::kGpus;
  verdict.have = have;
  verdict.need = need;
  verdict.wakes_on = wake_bit(WakeKind::kCapacityFreed) | wake_bit(WakeKind::kNodeAdded);
  return verdict;
}

}  // namespace weft
