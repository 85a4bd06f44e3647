#pragma once

#include "base/bits.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace weft::testing {

/// One way to place a task.
struct TaskOption {
  size_t node = 0;
  DeviceMask devices = 0;
  uint8_t zone = kNoZone;
  uint8_t start = 0;
  MigProfileIndex profile = kNoProfile;
  bool operator==(const TaskOption&) const = default;
};

/// What is free in a small world, and what a task takes of it. Shares nothing with placement/ but the tables of facts:
/// it keeps its own books and reads the rules from the demand itself.
class PlainBooks {
 public:
  struct Device {
    DeviceModelId model{};
    int64_t memory = 0, free_memory = 0;
    int32_t milli = 0;
    bool usable = false, is_free = false, is_shared = false, is_mig = false, is_fixed = false;
    unsigned occupied = 0, compute = 0, busy = 0;
    bool operator==(const Device&) const = default;
  };
  struct NodeBook {
    bool is_there = false;
    int64_t cpu = 0, memory = 0, disk = 0;
    std::vector<int64_t> zone_cpu;
    std::vector<Device> devices;
    bool operator==(const NodeBook&) const = default;
  };

  explicit PlainBooks(const ClusterState& state) : state_(&state) {
    for (size_t n = 0; n < state.nodes().size(); ++n) books_.push_back(read_node(n));
  }

  const NodeBook& node(size_t n) const { return books_[n]; }
  void put_back(size_t n, NodeBook book) { books_[n] = std::move(book); }

  /// Every option of a task, whether or not what it takes is free now.
  std::vector<TaskOption> options_of(const TaskDemand& demand) const {
    std::vector<TaskOption> options;
    for (size_t n = 0; n < books_.size(); ++n) {
      if (!may_be_on(demand, n)) continue;
      const size_t devices = books_[n].devices.size();
      for (DeviceMask mask = 0; mask < (DeviceMask{1} << devices); ++mask) {
        if (device_sets_fit(demand.devices, n, mask)) add_zones(demand, {.node = n, .devices = mask}, options);
      }
    }
    return options;
  }

  /// Whether what the option takes is free, and among the devices that are `allowed` (none: the node is not).
  bool fits(const TaskDemand& demand, const TaskOption& option, const std::optional<DeviceMask>& allowed) const {
    const NodeBook& book = books_[option.node];
    if (!allowed || (option.devices & ~*allowed) != 0) return false;
    if (book.cpu < demand.cpu_milli || book.memory < demand.memory_bytes || book.disk < demand.disk_bytes) return false;
    if (option.zone != kNoZone && book.zone_cpu[option.zone] < demand.cpu_milli) return false;
    bool will_do = true;
    for_each_bit(option.devices, [&](unsigned d) { will_do = will_do && device_fits(demand.devices, option, d); });
    return will_do;
  }

  void take(const TaskDemand& demand, const TaskOption& option) {
    NodeBook& book = books_[option.node];
    book.cpu -= demand.cpu_milli;
    book.memory -= demand.memory_bytes;
    book.disk -= demand.disk_bytes;
    if (option.zone != kNoZone) book.zone_cpu[option.zone] -= demand.cpu_milli;
    for_each_bit(option.devices, [&](unsigned d) {
      Device& device = book.devices[d];
      device.is_free = false;
      if (demand.devices.kind == DeviceNeedKind::kMig) {
        const MigProfile& profile = state_->names().devices.model(device.model).mig_profiles[option.profile];
        if (device.is_fixed) device.busy |= fixed_bit(option, d);
        device.occupied |= ((1U << profile.memory_slices) - 1) << option.start;
        device.compute += profile.compute_slices;
      } else if (demand.devices.kind != DeviceNeedKind::kWhole) {
        const auto [milli, memory] = part_of(demand.devices, device.memory);
        device.is_shared = true;
        device.milli -= milli;
        device.free_memory -= memory;
      }
    });
  }

 private:
  NodeBook read_node(size_t n) const {
    const NodeTable& nodes = state_->nodes();
    NodeBook book{.is_there = nodes.is_up[n] != 0 && nodes.is_cordoned[n] == 0,
                  .cpu = nodes.free_cpu_milli[n],
                  .memory = nodes.free_memory_bytes[n],
                  .disk = nodes.free_disk_bytes[n],
                  .zone_cpu = {},
                  .devices = {}};
    for (size_t z = 0; z < nodes.zone_count[n]; ++z)
      book.zone_cpu.push_back(state_->zones().free_cpu_milli[nodes.first_zone[n] + z]);
    for (size_t d = 0; d < nodes.device_count[n]; ++d) {
      const size_t row = nodes.first_device[n] + d;
      const auto has = [&](DeviceMask mask) { return ((mask >> d) & 1U) != 0; };
      book.devices.push_back({.model = state_->devices().model[row],
                              .memory = state_->devices().memory_bytes[row],
                              .free_memory = state_->devices().free_memory_bytes[row],
                              .milli = state_->devices().free_milli[row],
                              .usable = has(nodes.healthy[n]) && !has(nodes.cordoned[n]),
                              .is_free = has(nodes.free[n]),
                              .is_shared = has(nodes.shared[n]),
                              .is_mig = has(nodes.mig[n]),
                              .is_fixed = state_->devices().mig_cut[row] == MigCut::kFixed,
                              .occupied = state_->devices().mig_occupied[row],
                              .compute = state_->devices().mig_compute_used[row],
                              .busy = state_->devices().mig_fixed_busy[row]});
    }
    return book;
  }

  bool may_be_on(const TaskDemand& demand, size_t n) const {
    if (!books_[n].is_there || (is_set(demand.node) && index(demand.node) != n)) return false;
    for (const LabelId label : demand.labels) {
      if (std::ranges::find(state_->nodes().labels[n], label) == state_->nodes().labels[n].end()) return false;
    }
    for (const LabelId taint : state_->nodes().taints[n]) {
      if (std::ranges::find(demand.tolerations, taint) == demand.tolerations.end()) return false;
    }
    return true;
  }

  /// By number and model only; whether they are free is asked when they are taken.
  bool device_sets_fit(const DeviceDemand& demand, size_t n, DeviceMask mask) const {
    const auto count = static_cast<int32_t>(popcount(mask));
    if (demand.kind == DeviceNeedKind::kNone) return count == 0;
    if (count != (demand.kind == DeviceNeedKind::kWhole ? demand.count : 1)) return false;
    bool will_do = true;
    for_each_bit(mask, [&](unsigned d) { will_do = will_do && model_will_do(books_[n].devices[d], demand); });
    return will_do;
  }

  bool model_will_do(const Device& device, const DeviceDemand& demand) const {
    if (!demand.models.empty() && std::ranges::find(demand.models, device.model) == demand.models.end()) return false;
    if (device.memory < demand.memory_bytes_min) return false;
    return state_->names().devices.model(device.model).compute_capability >= demand.compute_capability_min;
  }

  void add_zones(const TaskDemand& demand, TaskOption option, std::vector<TaskOption>& out) const {
    if (demand.numa == NumaNeed::kAny) {
      add_instances(demand.devices, option, out);
      return;
    }
    for (size_t z = 0; z < books_[option.node].zone_cpu.size(); ++z) {
      const DeviceMask zone = state_->zones().devices[state_->nodes().first_zone[option.node] + z];
      if ((option.devices & ~zone) != 0) continue;
      option.zone = static_cast<uint8_t>(z);
      add_instances(demand.devices, option, out);
    }
  }

  void add_instances(const DeviceDemand& demand, TaskOption option, std::vector<TaskOption>& out) const {
    if (demand.kind != DeviceNeedKind::kMig) {
      out.push_back(option);
      return;
    }
    const Device& device = books_[option.node].devices[static_cast<size_t>(std::countr_zero(option.devices))];
    for (const auto& [model, profile] : demand.mig) {
      if (model != device.model) continue;
      for (uint8_t start = 0; start < 8; ++start) {
        option.start = start;
        option.profile = profile;
        out.push_back(option);
      }
    }
  }

  bool device_fits(const DeviceDemand& demand, const TaskOption& option, unsigned d) const {
    const Device& device = books_[option.node].devices[d];
    if (!device.usable) return false;
    switch (demand.kind) {
      case DeviceNeedKind::kNone: return true;
      case DeviceNeedKind::kWhole: return device.is_free;
      case DeviceNeedKind::kMilli:
      case DeviceNeedKind::kMemory: {
        const PoolId pool = state_->nodes().pool[option.node];
        if (state_->pools()[index(pool)].share == ShareMode::kExclusive || !(device.is_free || device.is_shared))
          return false;
        const auto [milli, memory] = part_of(demand, device.memory);
        return device.milli >= milli && device.free_memory >= memory;
      }
      case DeviceNeedKind::kMig: {
        if (!device.is_mig) return false;
        const DeviceModel& model = state_->names().devices.model(device.model);
        const MigProfile& profile = model.mig_profiles[option.profile];
        const unsigned slices = ((1U << profile.memory_slices) - 1) << option.start;
        if (((profile.start_mask >> option.start) & 1U) == 0 || (device.occupied & slices) != 0) return false;
        if (device.compute + profile.compute_slices > model.mig_compute_slices) return false;
        return !device.is_fixed || fixed_bit(option, d) != 0;
      }
    }
    return false;
  }

  /// The free fixed instance that the option names.
  unsigned fixed_bit(const TaskOption& option, unsigned d) const {
    const size_t row = state_->nodes().first_device[option.node] + d;
    const auto& fixed = state_->devices().mig_fixed[row];
    for (size_t i = 0; i < fixed.size(); ++i) {
      if (fixed[i].profile == option.profile && fixed[i].start == option.start &&
          ((books_[option.node].devices[d].busy >> i) & 1U) == 0) {
        return 1U << i;
      }
    }
    return 0;
  }

  static std::pair<int32_t, int64_t> part_of(const DeviceDemand& demand, int64_t memory) {
    if (demand.kind == DeviceNeedKind::kMilli) return {demand.milli, memory * demand.milli / 1000};
    if (memory < demand.memory_bytes) return {2000, demand.memory_bytes};
    return {static_cast<int32_t>(demand.memory_bytes * 1000 / memory), demand.memory_bytes};
  }

  const ClusterState* state_;
  std::vector<NodeBook> books_;
};

}  // namespace weft::testing
