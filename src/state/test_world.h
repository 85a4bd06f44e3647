#pragma once

#include "base/rng.h"
#include "model/catalogue.h"
#include "state/cluster_state.h"
#include "state/mig_layout.h"
#include "state/transaction.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::testing {

// Small worlds for tests of the state and of what stands on it. Header only; not part of the library.

/// The error's text, or empty.
template <typename T>
std::string error_of(const Result<T>& result) {
  return result ? std::string() : result.error().message;
}

inline NodeSpec gpu_node(std::string name, size_t gpus, std::string_view model = "generic") {
  NodeSpec spec;
  spec.name = std::move(name);
  spec.devices.resize(gpus);
  for (DeviceSpec& device : spec.devices) device.model = model;
  return spec;
}

inline QueueSpec queue(std::string name, std::string parent = {}) {
  QueueSpec spec;
  spec.name = std::move(name);
  spec.parent = std::move(parent);
  return spec;
}

inline TaskDemand cpu_demand(int64_t cpu_milli, int64_t memory_bytes = 0) {
  TaskDemand demand;
  demand.cpu_milli = cpu_milli;
  demand.memory_bytes = memory_bytes;
  return demand;
}

inline TaskDemand whole_demand(int32_t count, int64_t cpu_milli = 1000) {
  TaskDemand demand = cpu_demand(cpu_milli, kGiB);
  demand.devices.kind = DeviceNeedKind::kWhole;
  demand.devices.count = count;
  return demand;
}

inline TaskPlacement on_node(NodeId node) {
  TaskPlacement at;
  at.node = node;
  return at;
}

inline TaskPlacement whole_on(NodeId node, DeviceMask devices) {
  TaskPlacement at = on_node(node);
  at.kind = DeviceNeedKind::kWhole;
  at.devices = devices;
  return at;
}

inline TaskPlacement share_on(NodeId node, unsigned device, int32_t milli, int64_t memory_bytes) {
  TaskPlacement at = on_node(node);
  at.kind = DeviceNeedKind::kMilli;
  at.devices = uint64_t{1} << device;
  at.milli = milli;
  at.memory_bytes = memory_bytes;
  return at;
}

/// Everything that a transaction may change, and every index.
struct Snapshot {
  NodeTable nodes;
  DeviceTable devices;
  ZoneTable zones;
  QueueTable queues;
  JobTable jobs;
  TaskTable tasks;
  CapacityIndex capacity;
  Timeline timeline;
  bool operator==(const Snapshot&) const = default;
};

inline Snapshot snapshot_of(const ClusterState& state) {
  return {.nodes = state.nodes(),
          .devices = state.devices(),
          .zones = state.zones(),
          .queues = state.queues(),
          .jobs = state.jobs(),
          .tasks = state.tasks(),
          .capacity = state.capacity(),
          .timeline = state.timeline()};
}

/// One lease of a random world: what take() was called with.
struct Lease {
  TaskDemand demand;
  TaskPlacement at;
};

/// Nodes of every kind: without devices, of several models, mixed, shared, in MIG mode cut by the scheduler and for
/// good, with NUMA zones, with and without the labels of the two levels "rack" and "block".
inline NodeSpec random_node(Rng& rng, size_t number) {
  NodeSpec spec = gpu_node("n" + std::to_string(number), 0);
  const uint64_t kind = rng.below(8);
  if (kind == 0) {
    spec.devices.resize(0);
  } else if (kind == 1) {
    spec.devices.resize(4);
    spec.devices[3].model = "H100-SXM5-80GB";  // mixed
  } else if (kind <= 3) {
    spec = gpu_node(spec.name, 8, "A100-SXM4-80GB");
    for (size_t d = 0; d < 3; ++d) spec.devices[d].mig_mode = MigMode::kOn;
    spec.devices[2].mig_cut = MigCut::kFixed;
    spec.devices[2].mig_instances = {{.profile = "1g.10gb"}, {.profile = "3g.40gb"}, {.profile = "2g.20gb"}};
  } else {
    spec.devices.resize(rng.below(2) == 0 ? 8 : 4);
    spec.share = rng.below(2) == 0 ? ShareMode::kMps : ShareMode::kExclusive;
  }
  if (rng.below(2) == 0) {
    const DeviceMask all = low_bits(static_cast<unsigned>(spec.devices.size()));
    const DeviceMask low = low_bits(static_cast<unsigned>(spec.devices.size() / 2));
    spec.numa = {{.cpu_milli = 32'000, .devices = low}, {.cpu_milli = 32'000, .devices = all & ~low}};
  }
  if (rng.below(8) != 0) spec.labels.emplace_back("block", "b" + std::to_string(rng.below(3)));
  if (rng.below(8) != 0) spec.labels.emplace_back("rack", "r" + std::to_string(rng.below(4)));
  return spec;
}

namespace detail {

inline DeviceMask random_subset(Rng& rng, DeviceMask from) {
  DeviceMask out = 0;
  for_each_bit(from, [&](unsigned d) {
    if (rng.below(2) == 0) out |= uint64_t{1} << d;
  });
  return out;
}

inline unsigned random_bit(Rng& rng, DeviceMask from) {
  for (uint64_t skip = rng.below(popcount(from)); skip > 0; --skip) from &= from - 1;
  return static_cast<unsigned>(std::countr_zero(from));
}

inline bool choose_share(const ClusterState& state, Rng& rng, TaskPlacement& at, DeviceNeedKind kind) {
  const size_t n = index(at.node);
  const DeviceMask from = state.available(at.node) | (state.nodes().shared[n] & state.usable(at.node));
  if (from == 0) return false;
  const unsigned d = random_bit(rng, from);
  const size_t row = state.nodes().first_device[n] + d;
  at.kind = kind;
  at.devices = uint64_t{1} << d;
  at.milli = static_cast<int32_t>(rng.below(8) == 0 ? state.devices().free_milli[row] : rng.between(0, 600));
  at.memory_bytes = rng.below(8) == 0 ? state.devices().free_memory_bytes[row] : rng.between(0, 40) * kGiB;
  return at.milli <= state.devices().free_milli[row] && at.memory_bytes <= state.devices().free_memory_bytes[row];
}

inline bool choose_instance(const ClusterState& state, Rng& rng, TaskPlacement& at) {
  const size_t n = index(at.node);
  const DeviceMask from = state.nodes().mig[n] & state.usable(at.node);
  if (from == 0) return false;
  const unsigned d = random_bit(rng, from);
  const size_t row = state.nodes().first_device[n] + d;
  const DeviceTable& table = state.devices();
  const DeviceModel& model = state.names().devices.model(table.model[row]);
  at.kind = DeviceNeedKind::kMig;
  at.devices = uint64_t{1} << d;
  if (table.mig_cut[row] == MigCut::kFixed) {
    const size_t i = rng.below(table.mig_fixed[row].size());
    at.mig_profile = table.mig_fixed[row][i].profile;
    at.mig_start = table.mig_fixed[row][i].start;
    return (table.mig_fixed_busy[row] >> i & 1U) == 0;
  }
  at.mig_profile = static_cast<MigProfileIndex>(rng.below(model.mig_profiles.size()));
  at.mig_start = static_cast<uint8_t>(rng.below(model.mig_memory_slices));
  const MigProfile& profile = model.mig_profiles[at.mig_profile];
  return is_mig_start_allowed(model, at.mig_profile, at.mig_start) &&
         (mig_slices(profile, at.mig_start) & table.mig_occupied[row]) == 0 &&
         table.mig_compute_used[row] + profile.compute_slices <= model.mig_compute_slices;
}

}  // namespace detail

/// Something that fits on a random node now. False when this try found nothing; call again.
inline bool random_lease(const ClusterState& state, Rng& rng, Lease& out) {
  const NodeId node = make_id<NodeId>(rng.below(state.nodes().size()));
  const size_t n = index(node);
  out = Lease{.demand = cpu_demand(rng.between(0, 8000), rng.between(0, 16) * kGiB), .at = on_node(node)};
  out.demand.disk_bytes = rng.between(0, 2) * kGiB;
  const uint64_t kind = rng.below(8);
  if (kind < 4) {
    out.at.devices = detail::random_subset(rng, state.available(node));
    out.at.kind = out.at.devices == 0 ? DeviceNeedKind::kNone : DeviceNeedKind::kWhole;
  } else if (kind < 6) {
    if (!detail::choose_share(state, rng, out.at, kind == 4 ? DeviceNeedKind::kMilli : DeviceNeedKind::kMemory))
      return false;
  } else if (kind == 6) {
    if (!detail::choose_instance(state, rng, out.at)) return false;
  }
  out.demand.devices.kind = out.at.kind;
  out.demand.devices.count = out.at.kind == DeviceNeedKind::kWhole ? static_cast<int32_t>(popcount(out.at.devices)) : 0;
  out.at.charge = {.gpu_units = rng.between(0, 8) * kGpuUnits,
                   .cpu_milli = out.demand.cpu_milli,
                   .memory_bytes = out.demand.memory_bytes};
  if (rng.below(3) == 0) {
    out.at.numa_zone = static_cast<uint8_t>(rng.below(state.nodes().zone_count[n]));
    if (state.zones().free_cpu_milli[state.nodes().first_zone[n] + out.at.numa_zone] < out.demand.cpu_milli)
      return false;
  }
  return state.is_schedulable(node) && state.nodes().free_cpu_milli[n] >= out.demand.cpu_milli &&
         state.nodes().free_memory_bytes[n] >= out.demand.memory_bytes &&
         state.nodes().free_disk_bytes[n] >= out.demand.disk_bytes;
}

/// A queue tree of three levels and a random cluster.
inline void build_random_world(ClusterState& state, Rng& rng, size_t nodes) {
  WEFT_CHECK(state.define_topology({.levels = {"rack", "block"}}).has_value(), "a topology for tests");
  WEFT_CHECK(state.define_queue(queue("org")).has_value(), "a queue for tests");
  WEFT_CHECK(state.define_queue(queue("red", "org")).has_value(), "a queue for tests");
  WEFT_CHECK(state.define_queue(queue("blue", "org")).has_value(), "a queue for tests");
  WEFT_CHECK(state.define_queue(queue("green")).has_value(), "a queue for tests");
  for (size_t i = 0; i < nodes; ++i) {
    const auto added = state.add_node(random_node(rng, i));
    WEFT_CHECK(added.has_value(), "a node for tests");
  }
}

}  // namespace weft::testing
