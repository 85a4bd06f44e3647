#include "scheduler/leavers.h"

#include "base/check.h"
#include "state/cluster_state.h"
#include "state/mig_layout.h"

#include <algorithm>

namespace weft {
namespace {

bool is_share(const TaskPlacement& at) {
  return at.kind == DeviceNeedKind::kMilli || at.kind == DeviceNeedKind::kMemory;
}

unsigned instance_slices(const ClusterState& state, const TaskPlacement& at) {
  const size_t row = state.nodes().first_device[index(at.node)] + static_cast<unsigned>(std::countr_zero(at.devices));
  const DeviceModel& model = state.names().devices.model(state.devices().model[row]);
  return mig_slices(model.mig_profiles[at.mig_profile], at.mig_start);
}

}  // namespace

void Leavers::count(const QueueTable& queues, const Leaver& leaver, int sign) {
  const ResourceVector change = leaver.at.charge * sign;
  if (leaving_.size() < queues.size()) leaving_.resize(queues.size());
  for (QueueId q = leaver.queue; is_set(q); q = queues.parent[index(q)]) {
    Leaving& leaving = leaving_[index(q)];
    leaving.all = leaving.all + change;
    if (leaver.is_firm != 0) leaving.firm = leaving.firm + change;
    if (leaver.returns != 0) leaving.returning = leaving.returning + change;
  }
}

void Leavers::add(const QueueTable& queues, const Shape& shape, const TaskDemand& demand, const TaskPlacement& at,
                  Returns returns) {
  Leaver leaver{.queue = shape.queue,
                .is_firm = static_cast<uint8_t>(shape.is_preemptible ? 0 : 1),
                .returns = static_cast<uint8_t>(returns == Returns::kYes ? 1 : 0),
                .at = at};
  leaver.amounts.cpu_milli = demand.cpu_milli;
  leaver.amounts.memory_bytes = demand.memory_bytes;
  leaver.amounts.disk_bytes = demand.disk_bytes;
  if (on_node_.size() <= index(at.node)) on_node_.resize(index(at.node) + 1);
  on_node_[index(at.node)].push_back(at.task);
  count(queues, leaver, 1);
  const bool is_new = leavers_.emplace(at.task, std::move(leaver)).second;
  WEFT_CHECK(is_new, "a task is told to stop once");
}

std::vector<AttemptName> Leavers::remove(const QueueTable& queues, TaskId task) {
  const auto found = leavers_.find(task);
  WEFT_CHECK(found != leavers_.end(), "only a task that was told to stop goes");
  Leaver leaver = std::move(found->second);
  leavers_.erase(found);
  std::erase(on_node_[index(leaver.at.node)], task);
  count(queues, leaver, -1);
  return std::move(leaver.waiting);
}

// ---- Who is in the way

std::vector<TaskId> Leavers::find_in_the_way(const ClusterState& state, const Shape& shape,
                                             std::span<const TaskPlacement> placed,
                                             const ResourceVector& uncharged) const {
  std::vector<TaskId> out;
  if (leavers_.empty()) return out;
  NodeId last = kNone<NodeId>;
  for (const TaskPlacement& at : placed) {
    if (at.node != last) find_on_node(state, placed, at.node, out);
    last = at.node;
  }
  find_for_queues(state.queues(), shape, uncharged, out);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

/// Of one node: those on the devices of `placed`, and where CPUs, memory or disk fall short, all that hold some.
void Leavers::find_on_node(const ClusterState& state, std::span<const TaskPlacement> placed, NodeId node,
                           std::vector<TaskId>& out) const {
  const size_t n = index(node);
  if (n >= on_node_.size() || on_node_[n].empty()) return;
  const NodeTable& nodes = state.nodes();
  TaskDemand sum;
  std::vector<int64_t> zones(nodes.zone_count[n], 0);
  for (const TaskId task : on_node_[n]) {
    const Leaver& leaver = leavers_.at(task);
    sum.cpu_milli += leaver.amounts.cpu_milli;
    sum.memory_bytes += leaver.amounts.memory_bytes;
    sum.disk_bytes += leaver.amounts.disk_bytes;
    if (leaver.at.numa_zone != kNoZone) zones[leaver.at.numa_zone] += leaver.amounts.cpu_milli;
  }
  const bool lacks_cpus = nodes.free_cpu_milli[n] < sum.cpu_milli;
  const bool lacks_memory = nodes.free_memory_bytes[n] < sum.memory_bytes;
  const bool lacks_disk = nodes.free_disk_bytes[n] < sum.disk_bytes;
  for (const TaskId task : on_node_[n]) {
    const Leaver& leaver = leavers_.at(task);
    const uint8_t zone = leaver.at.numa_zone;
    const bool lacks_zone = zone != kNoZone && state.zones().free_cpu_milli[nodes.first_zone[n] + zone] < zones[zone];
    const bool is_in_the_way =
        ((lacks_cpus || lacks_zone) && leaver.amounts.cpu_milli > 0) ||
        (lacks_memory && leaver.amounts.memory_bytes > 0) || (lacks_disk && leaver.amounts.disk_bytes > 0) ||
        std::ranges::any_of(
            placed, [&](const TaskPlacement& at) { return at.node == node && is_on_devices(state, at, leaver); });
    if (is_in_the_way) out.push_back(task);
  }
}

bool Leavers::is_on_devices(const ClusterState& state, const TaskPlacement& placed, const Leaver& leaver) const {
  if ((placed.devices & leaver.at.devices) == 0) return false;
  if (placed.kind == DeviceNeedKind::kMig && leaver.at.kind == DeviceNeedKind::kMig)
    return (instance_slices(state, placed) & instance_slices(state, leaver.at)) != 0;
  if (!is_share(placed) || !is_share(leaver.at)) return true;
  // Shares of one device stand side by side as long as there is room for all of them.
  const size_t row =
      state.nodes().first_device[index(placed.node)] + static_cast<unsigned>(std::countr_zero(placed.devices));
  int64_t milli = 0;
  int64_t memory = 0;
  for (const TaskId task : on_node_[index(placed.node)]) {
    const TaskPlacement& at = leavers_.at(task).at;
    if (at.devices != placed.devices || !is_share(at)) continue;
    milli += at.milli;
    memory += at.memory_bytes;
  }
  return state.devices().free_milli[row] < milli || state.devices().free_memory_bytes[row] < memory;
}

/// A queue's usage must not pass its limit with those who leave either, nor the firm part of it the guarantee.
void Leavers::find_for_queues(const QueueTable& queues, const Shape& shape, const ResourceVector& uncharged,
                              std::vector<TaskId>& out) const {
  for (QueueId q = shape.queue; is_set(q); q = queues.parent[index(q)]) {
    if (index(q) >= leaving_.size()) continue;
    const Leaving& leaving = leaving_[index(q)];
    const QueueSpec& spec = queues.spec[index(q)];
    const bool is_over =
        leaving.all != ResourceVector{} && !(queues.usage[index(q)] + leaving.all + uncharged).fits_in(spec.limit);
    const bool is_firm_over = !shape.is_preemptible && leaving.firm != ResourceVector{} &&
                              !(queues.firm_usage[index(q)] + leaving.firm + uncharged).fits_in(spec.guarantee);
    if (!is_over && !is_firm_over) continue;
    for (const auto& [task, leaver] : leavers_) {
      if (!is_over && leaver.is_firm == 0) continue;
      QueueId up = leaver.queue;
      while (is_set(up) && up != q) up = queues.parent[index(up)];
      if (up == q) out.push_back(task);
    }
  }
}

// ---- What is really free

Leavers::Blocker Leavers::blocker_of(const ClusterState& state, const Leaver& leaver) {
  const NodeTable& nodes = state.nodes();
  const DeviceTable& devices = state.devices();
  const size_t n = index(leaver.at.node);
  Blocker out{.amounts = leaver.amounts, .at = leaver.at};
  out.amounts.cpu_milli = std::min(out.amounts.cpu_milli, nodes.free_cpu_milli[n]);
  if (out.at.numa_zone != kNoZone)
    out.amounts.cpu_milli =
        std::min(out.amounts.cpu_milli, state.zones().free_cpu_milli[nodes.first_zone[n] + out.at.numa_zone]);
  out.amounts.memory_bytes = std::min(out.amounts.memory_bytes, nodes.free_memory_bytes[n]);
  out.amounts.disk_bytes = std::min(out.amounts.disk_bytes, nodes.free_disk_bytes[n]);
  bool has_devices = false;
  if (out.at.kind == DeviceNeedKind::kWhole) {
    out.at.devices &= nodes.free[n];
    has_devices = out.at.devices != 0;
  } else if (out.at.kind != DeviceNeedKind::kNone) {
    const size_t row = nodes.first_device[n] + static_cast<unsigned>(std::countr_zero(out.at.devices));
    if (is_share(out.at)) {
      has_devices = (out.at.devices & (nodes.free[n] | nodes.shared[n])) != 0;
      out.at.milli = std::min(out.at.milli, devices.free_milli[row]);
      out.at.memory_bytes = std::min(out.at.memory_bytes, devices.free_memory_bytes[row]);
    } else {
      const DeviceModel& model = state.names().devices.model(devices.model[row]);
      const MigProfile& profile = model.mig_profiles[out.at.mig_profile];
      has_devices = (devices.mig_occupied[row] & instance_slices(state, out.at)) == 0 &&
                    devices.mig_compute_used[row] + profile.compute_slices <= model.mig_compute_slices;
    }
  }
  if (!has_devices) {
    out.at.kind = DeviceNeedKind::kNone;
    out.at.devices = 0;
  }
  return out;
}

void Leavers::hide(Transaction& txn) {
  WEFT_CHECK(blockers_.empty(), "what leaves is hidden once");
  for (const auto& [task, leaver] : leavers_) {
    blockers_.push_back(blocker_of(txn.state(), leaver));
    txn.take(blockers_.back().amounts, blockers_.back().at);
  }
}

void Leavers::reveal(Transaction& txn) {
  for (const Blocker& blocker : blockers_) txn.give(blocker.amounts, blocker.at);
  blockers_.clear();
}

DeviceMask Leavers::devices(NodeId node) const {
  DeviceMask devices = 0;
  if (index(node) >= on_node_.size()) return devices;
  for (const TaskId task : on_node_[index(node)]) devices |= leavers_.at(task).at.devices;
  return devices;
}

void Leavers::subtract(NodeView& view) const {
  if (index(view.id) >= on_node_.size()) return;
  for (const TaskId task : on_node_[index(view.id)]) {
    const Leaver& leaver = leavers_.at(task);
    view.free_cpu_milli = std::max<int64_t>(view.free_cpu_milli - leaver.amounts.cpu_milli, 0);
    view.free_memory_bytes = std::max<int64_t>(view.free_memory_bytes - leaver.amounts.memory_bytes, 0);
    view.free_devices &= ~leaver.at.devices;
    if (leaver.at.devices == 0) continue;
    const int64_t units = leaver.at.charge.gpu_units / popcount(leaver.at.devices);
    const auto milli = static_cast<int32_t>(units * 1000 / kGpuUnits);
    for_each_bit(leaver.at.devices,
                 [&](unsigned d) { view.device_free_milli[d] = std::max(view.device_free_milli[d] - milli, 0); });
  }
}

}  // namespace weft
