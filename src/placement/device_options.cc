#include "placement/device_options.h"

#include "base/bits.h"
#include "base/check.h"
#include "placement/node_choice.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <array>

namespace weft {

namespace {

/// What tells one device from another. Devices of equal kind are interchangeable.
struct DeviceKindKey {
  uint64_t model = 0;
  int64_t memory_bytes = 0;
  uint64_t place = 0;  ///< zone and island, as far as they matter
  uint64_t use = 0;    ///< what of it is taken
  int64_t free_memory_bytes = 0;
  bool operator==(const DeviceKindKey&) const = default;
};

class Options {
 public:
  Options(const ClusterState& state, NodeId node, const TaskDemand& demand, const ChoiceRules& rules,
          const DeviceDistinctions& distinctions, uint32_t which)
      : state_(state),
        n_(index(node)),
        demand_(demand),
        rules_(rules),
        distinctions_(distinctions),
        skip_(which),
        parts_{.state = state},
        choice_(parts_, node, demand, rules) {}

  /// Finds the choice number `which` after the preferred one.
  bool find(const TaskPlacement& preferred, TaskPlacement& out) {
    preferred_ = &preferred;
    out_ = &out;
    if (choice_.totals() != Reason::kNone) return false;
    switch (demand_.devices.kind) {
      case DeviceNeedKind::kNone: return plain();
      case DeviceNeedKind::kWhole: return whole();
      case DeviceNeedKind::kMilli:
      case DeviceNeedKind::kMemory: return fractions();
      case DeviceNeedKind::kMig: return instances();
    }
    return false;
  }

 private:
  DeviceKindKey kind_of(unsigned device) const {
    const DeviceTable& devices = state_.devices();
    const size_t row = state_.nodes().first_device[n_] + device;
    DeviceKindKey key;
    if (distinctions_.models) key = {.model = index(devices.model[row]), .memory_bytes = devices.memory_bytes[row]};
    if (distinctions_.zones) key.place = choice_.zone_of(device);
    if (distinctions_.islands) {
      const std::vector<DeviceMask>& islands = state_.layouts()[state_.nodes().layout[n_]].islands;
      for (size_t i = 0; i < islands.size(); ++i) {
        if (((islands[i] >> device) & 1U) != 0) key.place |= (i + 1) << 8;
      }
    }
    const bool is_shared = ((state_.nodes().shared[n_] >> device) & 1U) != 0;
    key.use = uint64_t{devices.mig_occupied[row]} | uint64_t{devices.mig_compute_used[row]} << 8 |
              uint64_t{devices.mig_fixed_busy[row]} << 16 | static_cast<uint64_t>(devices.free_milli[row]) << 32 |
              (is_shared ? uint64_t{1} << 48 : 0);
    key.free_memory_bytes = devices.free_memory_bytes[row];
    return key;
  }

  /// True when this is the choice that was asked for.
  bool is_wanted() {
    if (skip_ == 0) return true;
    --skip_;
    return false;
  }

  bool plain() {
    if (!choice_.needs_zone()) return false;
    for (unsigned z = 0; z < choice_.zone_count(); ++z) {
      if (z == preferred_->numa_zone || !choice_.has_zone_cpus(z) || !is_wanted()) continue;
      choice_.fill_plain(static_cast<uint8_t>(z), *out_);
      return true;
    }
    return false;
  }

  bool whole() {
    const DeviceMask among = choice_.whole_candidates();
    if (!choice_.needs_zone()) return whole_in_islands(among, kNoZone);
    for (unsigned z = 0; z < choice_.zone_count(); ++z) {
      if (choice_.has_zone_cpus(z) && whole_in_islands(among & choice_.zone_devices(z), static_cast<uint8_t>(z)))
        return true;
    }
    return false;
  }

  bool whole_in_islands(DeviceMask among, uint8_t zone) {
    if (rules_.island == OneIsland::kNo) return whole_among(among, zone);
    for (const DeviceMask island : state_.layouts()[state_.nodes().layout[n_]].islands) {
      if (whole_among(among & island, zone)) return true;
    }
    return false;
  }

  /// Every way of taking so many devices of each kind.
  bool whole_among(DeviceMask among, uint8_t zone) {
    const auto count = static_cast<unsigned>(demand_.devices.count);
    if (popcount(among) < count) return false;
    kinds_ = 0;
    for (DeviceMask rest = among; rest != 0;) {
      const auto first = static_cast<unsigned>(std::countr_zero(rest));
      const DeviceKindKey key = kind_of(first);
      DeviceMask alike = 0;
      for_each_bit(rest, [&](unsigned d) { alike |= kind_of(d) == key ? uint64_t{1} << d : 0; });
      alike_[kinds_++] = alike;
      rest &= ~alike;
    }
    return take_kinds(0, count, 0, zone);
  }

  static DeviceMask lowest(DeviceMask mask, unsigned count) {
    DeviceMask taken = 0;
    for (; count > 0; --count) {
      taken |= mask & (~mask + 1);
      mask &= mask - 1;
    }
    return taken;
  }

  bool is_preferred(DeviceMask devices, uint8_t zone) const {
    if (zone != preferred_->numa_zone) return false;
    for (unsigned k = 0; k < kinds_; ++k) {
      if (popcount(devices & alike_[k]) != popcount(preferred_->devices & alike_[k])) return false;
    }
    return true;
  }

  bool take_kinds(unsigned kind, unsigned count, DeviceMask taken, uint8_t zone) {
    if (count == 0) {
      if (is_preferred(taken, zone) || !is_wanted()) return false;
      choice_.fill_whole(taken, zone, *out_);
      return true;
    }
    if (kind == kinds_) return false;
    for (unsigned of_kind = std::min(count, popcount(alike_[kind])) + 1; of_kind-- > 0;) {
      if (take_kinds(kind + 1, count - of_kind, taken | lowest(alike_[kind], of_kind), zone)) return true;
    }
    return false;
  }

  /// The lowest device of each kind but the one that `preferred` is of; calls visit(device), stops when it returns
  /// true.
  template <typename Visit>
  bool each_kind(DeviceMask devices, Visit&& visit) {
    std::array<DeviceKindKey, kMaxDevicesPerNode> seen;
    size_t seen_count = 0;
    for (; devices != 0; devices &= devices - 1) {
      const auto d = static_cast<unsigned>(std::countr_zero(devices));
      const DeviceKindKey key = kind_of(d);
      if (std::find(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(seen_count), key) !=
          seen.begin() + static_cast<std::ptrdiff_t>(seen_count)) {
        continue;
      }
      seen[seen_count++] = key;
      if (visit(d, key)) return true;
    }
    return false;
  }

  bool is_in_open_zone(unsigned device) const {
    if (!choice_.needs_zone()) return true;
    const uint8_t zone = choice_.zone_of(device);
    return zone != kNoZone && choice_.has_zone_cpus(zone);
  }

  bool fractions() {
    const DeviceKindKey preferred = kind_of(static_cast<unsigned>(std::countr_zero(preferred_->devices)));
    return each_kind(choice_.fraction_candidates().devices, [&](unsigned d, const DeviceKindKey& key) {
      if (key == preferred || !is_in_open_zone(d) || !is_wanted()) return false;
      choice_.fill_fraction(d, *out_);
      return true;
    });
  }

  bool instances() {
    const DeviceKindKey preferred = kind_of(static_cast<unsigned>(std::countr_zero(preferred_->devices)));
    return each_kind(choice_.mig_candidates(), [&](unsigned d, const DeviceKindKey& key) {
      MigPlace place = choice_.mig_place(d);
      if (place.profile == kNoProfile || !is_in_open_zone(d)) return false;
      const bool is_same = key == preferred;
      if (place.is_fixed != 0) {  // instances of one profile are alike
        if (is_same || !is_wanted()) return false;
        choice_.fill_mig(place, *out_);
        return true;
      }
      const size_t row = state_.nodes().first_device[n_] + d;
      const DeviceModel& model = state_.names().devices.model(state_.devices().model[row]);
      const MigUse use{.occupied = state_.devices().mig_occupied[row],
                       .compute_used = state_.devices().mig_compute_used[row]};
      for (unsigned start = 0; start < model.mig_memory_slices; ++start) {
        if (!fits_mig(model, place.profile, start, use) || (is_same && start == preferred_->mig_start) || !is_wanted())
          continue;
        place.start = static_cast<uint8_t>(start);
        choice_.fill_mig(place, *out_);
        return true;
      }
      return false;
    });
  }

  const ClusterState& state_;
  size_t n_;
  const TaskDemand& demand_;
  const ChoiceRules& rules_;
  const DeviceDistinctions& distinctions_;
  uint32_t skip_;
  ChoiceParts parts_;
  NodeChoice choice_;
  const TaskPlacement* preferred_ = nullptr;
  TaskPlacement* out_ = nullptr;
  std::array<DeviceMask, kMaxDevicesPerNode> alike_{};
  unsigned kinds_ = 0;
};

}  // namespace

bool device_option(const ClusterState& state, DeviceChooser& chooser, NodeId node, const TaskDemand& demand,
                   const ChoiceRules& rules, const DeviceDistinctions& distinctions, uint32_t which,
                   TaskPlacement& out) {
  TaskPlacement preferred;
  if (chooser.choose(state, node, demand, rules, preferred) != Reason::kNone) return false;
  if (which == 0) {
    out = preferred;
    return true;
  }
  return Options(state, node, demand, rules, distinctions, which - 1).find(preferred, out);
}

}  // namespace weft
