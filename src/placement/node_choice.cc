#include "placement/node_choice.h"

#include "base/bits.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

NodeChoice::NodeChoice(const ChoiceParts& parts, NodeId node, const TaskDemand& demand, const ChoiceRules& rules)
    : parts_(parts), state_(parts.state), node_(node), n_(index(node)), demand_(demand), rules_(rules) {}

Reason NodeChoice::run(TaskPlacement& out) {
  if (!state_.is_schedulable(node_)) return Reason::kUnavailable;
  switch (demand_.devices.kind) {
    case DeviceNeedKind::kNone: return choose_plain(out);
    case DeviceNeedKind::kWhole: return choose_whole(out);
    case DeviceNeedKind::kMilli:
    case DeviceNeedKind::kMemory: return choose_fraction(out);
    case DeviceNeedKind::kMig: return choose_mig(out);
  }
  return Reason::kModel;
}

Reason NodeChoice::fit(DeviceMask& room) {
  if (!state_.is_schedulable(node_)) return Reason::kUnavailable;
  switch (demand_.devices.kind) {
    case DeviceNeedKind::kWhole:
      if (needs_zone()) break;
      return filter_whole(room);
    case DeviceNeedKind::kMilli:
    case DeviceNeedKind::kMemory: return filter_fraction(room);
    case DeviceNeedKind::kNone:
    case DeviceNeedKind::kMig: break;
  }
  TaskPlacement at;
  const Reason reason = run(at);
  room = at.devices;
  return reason;
}

Reason NodeChoice::totals() const {
  const NodeTable& nodes = state_.nodes();
  if (nodes.free_cpu_milli[n_] < demand_.cpu_milli) return Reason::kCpus;
  if (nodes.free_memory_bytes[n_] < demand_.memory_bytes) return Reason::kMemory;
  if (nodes.free_disk_bytes[n_] < demand_.disk_bytes) return Reason::kDisk;
  return Reason::kNone;
}

unsigned NodeChoice::zone_count() const { return state_.nodes().zone_count[n_]; }

bool NodeChoice::has_zone_cpus(unsigned zone) const {
  return state_.zones().free_cpu_milli[state_.nodes().first_zone[n_] + zone] >= demand_.cpu_milli;
}

DeviceMask NodeChoice::zone_devices(unsigned zone) const {
  return state_.zones().devices[state_.nodes().first_zone[n_] + zone];
}

uint8_t NodeChoice::zone_of(unsigned device) const {
  for (unsigned zone = 0; zone < zone_count(); ++zone) {
    if (((zone_devices(zone) >> device) & 1U) != 0) return static_cast<uint8_t>(zone);
  }
  return kNoZone;
}

DeviceMask NodeChoice::in_open_zones() const {
  DeviceMask open = 0;
  for (unsigned zone = 0; zone < zone_count(); ++zone) {
    if (has_zone_cpus(zone)) open |= zone_devices(zone);
  }
  return open;
}

Reason NodeChoice::choose_plain(TaskPlacement& out) const {
  if (const Reason reason = totals(); reason != Reason::kNone) return reason;
  if (!needs_zone()) {
    fill_plain(kNoZone, out);
    return Reason::kNone;
  }
  uint8_t best = kNoZone;
  int64_t best_free = 0;
  for (unsigned zone = 0; zone < zone_count(); ++zone) {
    if (!has_zone_cpus(zone)) continue;
    const int64_t free = state_.zones().free_cpu_milli[state_.nodes().first_zone[n_] + zone];
    if (best != kNoZone && (is_pack() ? free >= best_free : free <= best_free)) continue;
    best = static_cast<uint8_t>(zone);
    best_free = free;
  }
  if (best == kNoZone) return Reason::kNuma;
  fill_plain(best, out);
  return Reason::kNone;
}

DeviceMask NodeChoice::whole_candidates() const {
  return state_.available(node_) & suitable_devices(state_, node_, demand_.devices).devices & rules_.among;
}

bool NodeChoice::has_island(DeviceMask among) const {
  for (const DeviceMask island : state_.layouts()[state_.nodes().layout[n_]].islands) {
    if (popcount(among & island) >= static_cast<unsigned>(demand_.devices.count)) return true;
  }
  return false;
}

DeviceMask NodeChoice::links(const LinkWish& wish) {
  const uint32_t layout = state_.nodes().layout[n_];
  if (parts_.links != nullptr) return parts_.links->choose(state_.layouts(), layout, wish);
  return choose_linked(state_.layouts()[layout], wish, parts_.mode);
}

Reason NodeChoice::filter_whole(DeviceMask& among) const {
  const SuitableDevices suitable = suitable_devices(state_, node_, demand_.devices);
  if (suitable.reason != Reason::kNone) return suitable.reason;
  among = state_.available(node_) & suitable.devices & rules_.among;
  if (popcount(among) < static_cast<unsigned>(demand_.devices.count)) return Reason::kGpus;
  if (const Reason reason = totals(); reason != Reason::kNone) return reason;
  return !needs_zone() && rules_.island == OneIsland::kYes && !has_island(among) ? Reason::kNvlink : Reason::kNone;
}

Reason NodeChoice::choose_whole(TaskPlacement& out) {
  DeviceMask among = 0;
  if (const Reason reason = filter_whole(among); reason != Reason::kNone) return reason;
  const DeviceMask free = state_.available(node_);
  if (needs_zone()) return choose_whole_in_zone(free, among, out);
  const auto count = static_cast<unsigned>(demand_.devices.count);
  fill_whole(links({.free = free, .among = among, .count = count}), kNoZone, out);
  return Reason::kNone;
}

Reason NodeChoice::choose_whole_in_zone(DeviceMask free, DeviceMask among, TaskPlacement& out) {
  const auto count = static_cast<unsigned>(demand_.devices.count);
  Reason reason = Reason::kNuma;
  uint8_t best = kNoZone;
  unsigned best_rest = 0;
  int64_t best_cpus = 0;
  for (unsigned zone = 0; zone < zone_count(); ++zone) {
    const DeviceMask inside = among & zone_devices(zone);
    if (popcount(inside) < count || !has_zone_cpus(zone)) continue;
    if (rules_.island == OneIsland::kYes && !has_island(inside)) {
      reason = Reason::kNvlink;
      continue;
    }
    const unsigned rest = popcount(free & zone_devices(zone));
    const int64_t cpus = state_.zones().free_cpu_milli[state_.nodes().first_zone[n_] + zone];
    const bool is_less = rest != best_rest ? rest < best_rest : cpus < best_cpus;
    const bool is_same = rest == best_rest && cpus == best_cpus;
    if (best != kNoZone && (is_same || is_less != is_pack())) continue;
    best = static_cast<uint8_t>(zone);
    best_rest = rest;
    best_cpus = cpus;
  }
  if (best == kNoZone) return reason;
  const DeviceMask zone = zone_devices(best);
  fill_whole(links({.free = free & zone, .among = among & zone, .count = count}), best, out);
  return Reason::kNone;
}

SuitableDevices NodeChoice::fraction_candidates() const {
  const NodeTable& nodes = state_.nodes();
  const PoolId pool = nodes.pool[n_];
  if (!is_set(pool) || state_.pools()[index(pool)].share == ShareMode::kExclusive) return {.reason = Reason::kGpus};
  const SuitableDevices suitable = suitable_devices(state_, node_, demand_.devices);
  if (suitable.reason != Reason::kNone) return suitable;
  const DeviceTable& devices = state_.devices();
  const DeviceMask shared = state_.capacity().with_shared_room().test(n_) ? nodes.shared[n_] : 0;
  const DeviceMask open = (nodes.free[n_] | shared) & state_.usable(node_);
  SuitableDevices room{.reason = Reason::kGpus};
  int64_t memory = -1;
  Fraction need;
  for_each_bit(open & suitable.devices & rules_.among, [&](unsigned d) {
    const size_t row = nodes.first_device[n_] + d;
    if (devices.memory_bytes[row] != memory) {
      memory = devices.memory_bytes[row];
      need = fraction_of(demand_.devices, memory);
    }
    if (devices.free_milli[row] < need.milli) return;
    if (devices.free_memory_bytes[row] < need.memory_bytes) {
      room.reason = Reason::kGpuMemory;
      return;
    }
    room.devices |= uint64_t{1} << d;
  });
  if (room.devices != 0) room.reason = Reason::kNone;
  return room;
}

Reason NodeChoice::filter_fraction(DeviceMask& among) const {
  const SuitableDevices room = fraction_candidates();
  if (room.reason != Reason::kNone) return room.reason;
  if (const Reason reason = totals(); reason != Reason::kNone) return reason;
  among = needs_zone() ? room.devices & in_open_zones() : room.devices;
  return among == 0 ? Reason::kNuma : Reason::kNone;
}

Reason NodeChoice::choose_fraction(TaskPlacement& out) {
  DeviceMask among = 0;
  if (const Reason reason = filter_fraction(among); reason != Reason::kNone) return reason;
  if (rules_.device >= 0 && ((among >> rules_.device) & 1U) != 0) {
    fill_fraction(static_cast<unsigned>(rules_.device), out);
    return Reason::kNone;
  }
  const NodeTable& nodes = state_.nodes();
  const DeviceTable& devices = state_.devices();
  const DeviceMask shared = among & nodes.shared[n_];
  const DeviceMask whole = among & nodes.free[n_];
  // Pack opens a free device only when it must; for spread a free one is the emptiest.
  const bool is_open = is_pack() ? shared == 0 : whole != 0;
  if (is_open) {
    const DeviceMask chosen = links({.free = state_.available(node_), .among = whole, .count = 1});
    fill_fraction(static_cast<unsigned>(std::countr_zero(chosen)), out);
    return Reason::kNone;
  }
  unsigned best = kMaxDevicesPerNode;
  for_each_bit(shared, [&](unsigned d) {
    const size_t row = nodes.first_device[n_] + d;
    if (best != kMaxDevicesPerNode) {
      const size_t best_row = nodes.first_device[n_] + best;
      const auto left = std::pair(devices.free_milli[row], devices.free_memory_bytes[row]);
      const auto best_left = std::pair(devices.free_milli[best_row], devices.free_memory_bytes[best_row]);
      if (is_pack() ? left >= best_left : left <= best_left) return;
    }
    best = d;
  });
  fill_fraction(best, out);
  return Reason::kNone;
}

DeviceMask NodeChoice::mig_candidates() const { return state_.nodes().mig[n_] & state_.usable(node_) & rules_.among; }

MigPlace NodeChoice::mig_place(unsigned device) const {
  const DeviceTable& devices = state_.devices();
  const size_t row = state_.nodes().first_device[n_] + device;
  const DeviceModelId id = devices.model[row];
  const auto wanted =
      std::ranges::lower_bound(demand_.devices.mig, id, {}, &std::pair<DeviceModelId, MigProfileIndex>::first);
  if (wanted == demand_.devices.mig.end() || wanted->first != id) return {};
  const DeviceModel& model = state_.names().devices.model(id);
  if (device_obstacle(model, id, devices.memory_bytes[row], demand_.devices) != Reason::kNone) return {};
  const MigUse use{.occupied = devices.mig_occupied[row], .compute_used = devices.mig_compute_used[row]};
  MigPlace place{
      .device = device, .profile = wanted->second, .free_compute = model.mig_compute_slices - use.compute_used};
  if (devices.mig_cut[row] == MigCut::kFixed) {
    const std::vector<FixedInstance>& fixed = devices.mig_fixed[row];
    place.is_fixed = 1;
    for (size_t i = 0; i < fixed.size(); ++i) {
      if (fixed[i].profile != place.profile || ((devices.mig_fixed_busy[row] >> i) & 1U) != 0) continue;
      place.start = fixed[i].start;
      return place;
    }
    return {};
  }
  const int start = parts_.migs != nullptr ? parts_.migs->start(model, id, place.profile, use)
                                           : choose_mig_start(model, place.profile, use);
  if (start < 0) return {};
  place.start = static_cast<uint8_t>(start);
  return place;
}

Reason NodeChoice::choose_mig(TaskPlacement& out) const {
  MigPlace best;
  MigPlace best_in_zone;
  const DeviceMask open = needs_zone() ? in_open_zones() : ~DeviceMask{0};
  const auto consider = [&](const MigPlace& place, MigPlace& into) {
    if (into.profile != kNoProfile) {
      if (place.is_fixed != into.is_fixed) {
        if (place.is_fixed == 0) return;
      } else if (is_pack() ? place.free_compute >= into.free_compute : place.free_compute <= into.free_compute) {
        return;
      }
    }
    into = place;
  };
  for_each_bit(mig_candidates(), [&](unsigned d) {
    const MigPlace place = mig_place(d);
    if (place.profile == kNoProfile) return;
    consider(place, best);
    if (((open >> d) & 1U) != 0) consider(place, best_in_zone);
  });
  if (best.profile == kNoProfile) return Reason::kMig;
  if (const Reason reason = totals(); reason != Reason::kNone) return reason;
  if (best_in_zone.profile == kNoProfile) return Reason::kNuma;
  fill_mig(best_in_zone, out);
  return Reason::kNone;
}

void NodeChoice::start_filling(TaskPlacement& out) const {
  out = TaskPlacement{};
  out.node = node_;
  out.kind = demand_.devices.kind;
}

void NodeChoice::fill_plain(uint8_t zone, TaskPlacement& out) const {
  start_filling(out);
  out.numa_zone = zone;
  out.charge = queue_charge(demand_, 0, 0);
}

void NodeChoice::fill_whole(DeviceMask devices, uint8_t zone, TaskPlacement& out) const {
  start_filling(out);
  out.numa_zone = zone;
  out.devices = devices;
  out.charge = queue_charge(demand_, 0, 0);
}

void NodeChoice::fill_fraction(unsigned device, TaskPlacement& out) const {
  start_filling(out);
  const int64_t memory = state_.devices().memory_bytes[state_.nodes().first_device[n_] + device];
  const Fraction need = fraction_of(demand_.devices, memory);
  out.devices = DeviceMask{1} << device;
  out.milli = need.milli;
  out.memory_bytes = need.memory_bytes;
  if (needs_zone()) out.numa_zone = zone_of(device);
  out.charge = queue_charge(demand_, memory, 0);
}

void NodeChoice::fill_mig(const MigPlace& place, TaskPlacement& out) const {
  start_filling(out);
  const DeviceModelId id = state_.devices().model[state_.nodes().first_device[n_] + place.device];
  const DeviceModel& model = state_.names().devices.model(id);
  out.devices = DeviceMask{1} << place.device;
  out.mig_profile = place.profile;
  out.mig_start = place.start;
  if (needs_zone()) out.numa_zone = zone_of(place.device);
  out.charge = queue_charge(demand_, 0, model.mig_profiles[place.profile].compute_slices, model.mig_compute_slices);
}

}  // namespace weft
