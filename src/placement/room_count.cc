#include "placement/room_count.h"

#include <algorithm>

namespace weft {

namespace {

template <typename View>
struct Counter {
  const View& view;
  const ClusterState& state;
  NodeId node;
  size_t n;
  const TaskDemand& demand;
  const ChoiceRules& rules;

  bool needs_zone() const { return demand.numa == NumaNeed::kOneZone; }
  unsigned zones() const { return state.nodes().zone_count[n]; }
  size_t zone_row(unsigned zone) const { return state.nodes().first_zone[n] + zone; }
  int64_t zone_fit(unsigned zone, int64_t limit) const {
    return fit_count(view.zone_cpu_milli(zone_row(zone)), demand.cpu_milli, limit);
  }

  /// By CPUs, memory and disk of the whole node.
  NodeRoomCount bound(int64_t limit) const {
    limit = fit_count(view.cpu_milli(n), demand.cpu_milli, limit);
    if (limit == 0) return {.reason = Reason::kCpus};
    limit = fit_count(view.memory_bytes(n), demand.memory_bytes, limit);
    if (limit == 0) return {.reason = Reason::kMemory};
    limit = fit_count(view.disk_bytes(n), demand.disk_bytes, limit);
    if (limit == 0) return {.reason = Reason::kDisk};
    return {.tasks = limit};
  }

  NodeRoomCount plain(int64_t limit) const {
    NodeRoomCount room = bound(limit);
    if (room.tasks == 0 || !needs_zone()) return room;
    int64_t in_zones = 0;
    for (unsigned z = 0; z < zones(); ++z) in_zones += zone_fit(z, room.tasks);
    if (in_zones == 0) return {.reason = Reason::kNuma};
    return {.tasks = std::min(room.tasks, in_zones)};
  }

  int64_t whole_in(DeviceMask devices) const {
    const auto each = static_cast<unsigned>(demand.devices.count);
    if (rules.island == OneIsland::kNo) return popcount(devices) / each;
    int64_t count = 0;
    for (const DeviceMask island : state.layouts()[state.nodes().layout[n]].islands)
      count += popcount(devices & island) / each;
    return count;
  }

  NodeRoomCount whole(int64_t limit) const {
    const SuitableDevices suitable = suitable_devices(state, node, demand.devices);
    if (suitable.reason != Reason::kNone) return {.reason = suitable.reason};
    const DeviceMask devices = view.whole(node) & suitable.devices & rules.among;
    const auto each = static_cast<unsigned>(demand.devices.count);
    if (popcount(devices) < each) return {.reason = Reason::kGpus};
    const NodeRoomCount room = bound(std::min<int64_t>(limit, popcount(devices) / each));
    if (room.tasks == 0) return room;
    if (!needs_zone()) {
      const int64_t in_islands = whole_in(devices);
      if (in_islands == 0) return {.reason = Reason::kNvlink};
      return {.tasks = std::min(room.tasks, in_islands)};
    }
    int64_t count = 0;
    bool has_zone = false;
    for (unsigned z = 0; z < zones(); ++z) {
      const DeviceMask inside = devices & state.zones().devices[zone_row(z)];
      has_zone = has_zone || (popcount(inside) >= each && zone_fit(z, 1) > 0);
      count += zone_fit(z, whole_in(inside));
    }
    if (count == 0) return {.reason = has_zone ? Reason::kNvlink : Reason::kNuma};
    return {.tasks = std::min(room.tasks, count)};
  }

  /// Sums `tasks_on(device)` over devices, zone by zone where the task needs one.
  template <typename TasksOn>
  NodeRoomCount sum_devices(DeviceMask devices, int64_t limit, Reason none, TasksOn&& tasks_on) const {
    const auto sum = [&](DeviceMask mask) {
      int64_t count = 0;
      for_each_bit(mask, [&](unsigned d) { count += count < limit ? tasks_on(state.nodes().first_device[n] + d) : 0; });
      return count;
    };
    const int64_t on_devices = sum(devices);
    if (on_devices == 0) return {.reason = none};
    const NodeRoomCount room = bound(std::min(limit, on_devices));
    if (room.tasks == 0 || !needs_zone()) return room;
    int64_t count = 0;
    for (unsigned z = 0; z < zones(); ++z) count += zone_fit(z, sum(devices & state.zones().devices[zone_row(z)]));
    if (count == 0) return {.reason = Reason::kNuma};
    return {.tasks = std::min(room.tasks, count)};
  }

  NodeRoomCount fraction(int64_t limit) const {
    const PoolId pool = state.nodes().pool[n];
    if (!is_set(pool) || state.pools()[index(pool)].share == ShareMode::kExclusive) return {.reason = Reason::kGpus};
    const SuitableDevices suitable = suitable_devices(state, node, demand.devices);
    if (suitable.reason != Reason::kNone) return {.reason = suitable.reason};
    bool lacks_memory = false;
    int64_t memory = -1;
    Fraction need;
    const auto tasks_on = [&](size_t row) -> int64_t {
      if (state.devices().memory_bytes[row] != memory) {
        memory = state.devices().memory_bytes[row];
        need = fraction_of(demand.devices, memory);
      }
      const int64_t by_time = fit_count(view.device_milli(row), need.milli, limit);
      const int64_t by_memory = fit_count(view.device_memory_bytes(row), need.memory_bytes, by_time);
      lacks_memory = lacks_memory || (by_time > 0 && by_memory == 0);
      return by_memory;
    };
    NodeRoomCount room =
        sum_devices(view.shareable(node) & suitable.devices & rules.among, limit, Reason::kGpus, tasks_on);
    if (room.reason == Reason::kGpus && lacks_memory) room.reason = Reason::kGpuMemory;
    return room;
  }

  int64_t instances_on(size_t row) const {
    const DeviceModelId id = state.devices().model[row];
    const auto& wishes = demand.devices.mig;
    const auto wanted = std::ranges::lower_bound(wishes, id, {}, &std::pair<DeviceModelId, MigProfileIndex>::first);
    if (wanted == wishes.end() || wanted->first != id) return 0;
    const DeviceModel& model = state.names().devices.model(id);
    if (device_obstacle(model, id, state.devices().memory_bytes[row], demand.devices) != Reason::kNone) return 0;
    int64_t count = 0;
    if (state.devices().mig_cut[row] == MigCut::kFixed) {
      const std::vector<FixedInstance>& fixed = state.devices().mig_fixed[row];
      for (size_t i = 0; i < fixed.size(); ++i) {
        count += fixed[i].profile == wanted->second && ((view.fixed_busy(row) >> i) & 1U) == 0 ? 1 : 0;
      }
      return count;
    }
    MigUse use = view.mig_use(row);
    for (;; ++count) {
      const int start = choose_mig_start(model, wanted->second, use);
      if (start < 0) return count;
      use = with_mig(model, wanted->second, static_cast<unsigned>(start), use);
    }
  }

  NodeRoomCount mig(int64_t limit) const {
    return sum_devices(view.mig(node) & rules.among, limit, Reason::kMig,
                       [&](size_t row) { return instances_on(row); });
  }
};

}  // namespace

template <typename View>
NodeRoomCount count_room(const View& view, NodeId node, const TaskDemand& demand, const ChoiceRules& rules,
                         int64_t limit) {
  if (!view.is_there(node)) return {.reason = Reason::kUnavailable};
  const Counter<View> counter{view, view.state, node, index(node), demand, rules};
  switch (demand.devices.kind) {
    case DeviceNeedKind::kNone: return counter.plain(limit);
    case DeviceNeedKind::kWhole: return counter.whole(limit);
    case DeviceNeedKind::kMilli:
    case DeviceNeedKind::kMemory: return counter.fraction(limit);
    case DeviceNeedKind::kMig: return counter.mig(limit);
  }
  return {.reason = Reason::kModel};
}

template NodeRoomCount count_room(const PresentView&, NodeId, const TaskDemand&, const ChoiceRules&, int64_t);
template NodeRoomCount count_room(const EmptyView&, NodeId, const TaskDemand&, const ChoiceRules&, int64_t);

}  // namespace weft
