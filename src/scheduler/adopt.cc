#include "scheduler/adopt.h"

#include "base/bits.h"
#include "placement/device_choice.h"
#include "placement/mig_choice.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <array>

namespace weft {
namespace {

/// One fact on one node that exists and is up.
class FactPlacer {
 public:
  FactPlacer(const ClusterState& state, const TaskDemand& demand, const AdoptedTask& fact)
      : state_(state), demand_(demand), fact_(fact), n_(index(fact.node)) {}

  bool has_room() const {
    const NodeTable& nodes = state_.nodes();
    return demand_.cpu_milli <= nodes.free_cpu_milli[n_] && demand_.memory_bytes <= nodes.free_memory_bytes[n_] &&
           demand_.disk_bytes <= nodes.free_disk_bytes[n_];
  }

  /// Fills in zone and devices; `zone` kNoZone: not bound.
  bool place(uint8_t zone, TaskPlacement& out) const {
    DeviceMask among = low_bits(state_.nodes().device_count[n_]);
    if (zone != kNoZone) {
      const size_t row = state_.nodes().first_zone[n_] + size_t{zone};
      if (demand_.cpu_milli > state_.zones().free_cpu_milli[row]) return false;
      among &= state_.zones().devices[row];
    }
    if (fact_.devices != 0) among = fact_.devices & low_bits(state_.nodes().device_count[n_]);
    out = TaskPlacement{.node = fact_.node, .kind = demand_.devices.kind, .numa_zone = zone};
    switch (demand_.devices.kind) {
      case DeviceNeedKind::kNone: out.charge = queue_charge(demand_, 0, 0); return true;
      case DeviceNeedKind::kWhole: return place_whole(among, out);
      case DeviceNeedKind::kMilli:
      case DeviceNeedKind::kMemory: return place_share(among, out);
      case DeviceNeedKind::kMig: return place_instance(among, out);
    }
    return false;
  }

 private:
  size_t row(unsigned device) const { return state_.nodes().first_device[n_] + size_t{device}; }

  bool place_whole(DeviceMask among, TaskPlacement& out) const {
    const DeviceMask suitable = suitable_devices(state_, fact_.node, demand_.devices).devices;
    const DeviceMask free = state_.nodes().free[n_];
    const auto count = static_cast<unsigned>(demand_.devices.count);
    if (count == 0) return false;
    // Healthy devices that will do, then any that is free: a fact may be on a device that has failed since.
    for (const DeviceMask from : {free & state_.usable(fact_.node) & suitable, free}) {
      if (popcount(from & among) < count || (fact_.devices != 0 && popcount(among) != count)) continue;
      for_each_bit(from & among, [&](unsigned d) {
        if (popcount(out.devices) < count) out.devices |= DeviceMask{1} << d;
      });
      out.charge = queue_charge(demand_, 0, 0);
      return true;
    }
    return false;
  }

  bool place_share(DeviceMask among, TaskPlacement& out) const {
    const NodeTable& nodes = state_.nodes();
    const DeviceTable& devices = state_.devices();
    const DeviceMask shared = (nodes.free[n_] | nodes.shared[n_]) & among;
    const DeviceMask usable = state_.usable(fact_.node);
    for (const DeviceMask from : {shared & usable, shared & ~usable}) {
      for (unsigned d = 0; d < nodes.device_count[n_]; ++d) {
        if ((from >> d & 1U) == 0) continue;
        const Fraction part = fraction_of(demand_.devices, devices.memory_bytes[row(d)]);
        if (part.milli > devices.free_milli[row(d)] || part.memory_bytes > devices.free_memory_bytes[row(d)]) continue;
        out.devices = DeviceMask{1} << d;
        out.milli = part.milli;
        out.memory_bytes = part.memory_bytes;
        out.charge = queue_charge(demand_, std::max<int64_t>(devices.memory_bytes[row(d)], 1), 0);
        return true;
      }
    }
    return false;
  }

  bool place_instance(DeviceMask among, TaskPlacement& out) const {
    const DeviceTable& devices = state_.devices();
    for (unsigned d = 0; d < state_.nodes().device_count[n_]; ++d) {
      if ((state_.nodes().mig[n_] & among & (DeviceMask{1} << d)) == 0) continue;
      const DeviceModelId id = devices.model[row(d)];
      const DeviceModel& model = state_.names().devices.model(id);
      const auto known = std::ranges::find(demand_.devices.mig, id, &std::pair<DeviceModelId, MigProfileIndex>::first);
      if (known == demand_.devices.mig.end()) continue;
      for (unsigned start = 0; start < model.mig_memory_slices; ++start) {
        if (fact_.mig_start >= 0 && start != static_cast<unsigned>(fact_.mig_start)) continue;
        if (!is_instance_free(row(d), model, known->second, start)) continue;
        out.devices = DeviceMask{1} << d;
        out.mig_profile = known->second;
        out.mig_start = static_cast<uint8_t>(start);
        out.charge =
            queue_charge(demand_, 0, model.mig_profiles[known->second].compute_slices, model.mig_compute_slices);
        return true;
      }
    }
    return false;
  }

  bool is_instance_free(size_t device_row, const DeviceModel& model, MigProfileIndex profile, unsigned start) const {
    const DeviceTable& devices = state_.devices();
    const MigUse use{.occupied = devices.mig_occupied[device_row],
                     .compute_used = devices.mig_compute_used[device_row]};
    if (!fits_mig(model, profile, start, use)) return false;
    if (devices.mig_cut[device_row] == MigCut::kByScheduler) return true;
    const auto& fixed = devices.mig_fixed[device_row];
    for (size_t i = 0; i < fixed.size(); ++i) {
      const bool is_busy = (devices.mig_fixed_busy[device_row] >> i & 1U) != 0;
      if (fixed[i].profile == profile && fixed[i].start == start && !is_busy) return true;
    }
    return false;
  }

  const ClusterState& state_;
  const TaskDemand& demand_;
  const AdoptedTask& fact_;
  size_t n_;
};

}  // namespace

std::optional<TaskPlacement> place_fact(const ClusterState& state, const TaskDemand& demand, const AdoptedTask& fact) {
  if (index(fact.node) >= state.nodes().size() || state.nodes().is_up[index(fact.node)] == 0) return std::nullopt;
  const FactPlacer placer(state, demand, fact);
  if (!placer.has_room()) return std::nullopt;
  TaskPlacement out;
  const uint16_t zones = state.nodes().zone_count[index(fact.node)];
  if (fact.numa_zone != kNoZone) {
    if (fact.numa_zone >= zones || !placer.place(fact.numa_zone, out)) return std::nullopt;
    return out;
  }
  if (demand.numa == NumaNeed::kAny) return placer.place(kNoZone, out) ? std::optional(out) : std::nullopt;
  for (unsigned zone = 0; zone < zones; ++zone) {
    if (placer.place(static_cast<uint8_t>(zone), out)) return out;
  }
  return std::nullopt;
}

}  // namespace weft
