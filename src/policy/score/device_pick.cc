#include "policy/score/device_pick.h"

#include "base/bits.h"
#include "placement/device_choice.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

namespace {

bool is_allowed(const ClusterState& state, size_t row, const DeviceDemand& demand) {
  const DeviceModelId model = state.devices().model[row];
  if (!demand.models.empty() && !std::ranges::binary_search(demand.models, model)) return false;
  if (state.devices().memory_bytes[row] < demand.memory_bytes_min) return false;
  return demand.compute_capability_min == 0 ||
         state.names().devices.model(model).compute_capability >= demand.compute_capability_min;
}

}  // namespace

DeviceMask fitting_devices(const ClusterState& state, NodeId node, const DeviceDemand& demand) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  if (!is_set(nodes.pool[n]) || state.pools()[index(nodes.pool[n])].share == ShareMode::kExclusive) return 0;
  const DeviceMask candidates = state.available(node) | (nodes.shared[n] & state.usable(node));
  DeviceMask fitting = 0;
  for_each_bit(candidates, [&](unsigned device) {
    const size_t row = nodes.first_device[n] + device;
    const Fraction need = fraction_of(demand, state.devices().memory_bytes[row]);
    const bool fits = state.devices().free_milli[row] >= need.milli &&
                      state.devices().free_memory_bytes[row] >= need.memory_bytes && is_allowed(state, row, demand);
    if (fits) fitting |= DeviceMask{1} << device;
  });
  return fitting;
}

int32_t device_free_milli(const ClusterState& state, NodeId node, unsigned device) {
  return state.devices().free_milli[state.nodes().first_device[index(node)] + device];
}

int best_fit_device(const ClusterState& state, NodeId node, const DeviceDemand& demand) {
  int best = -1;
  int32_t best_free = 0;
  for_each_bit(fitting_devices(state, node, demand), [&](unsigned device) {
    const int32_t free = device_free_milli(state, node, device);
    if (best >= 0 && free >= best_free) return;
    best = static_cast<int>(device);
    best_free = free;
  });
  return best;
}

int64_t node_free_milli(const ClusterState& state, NodeId node) {
  int64_t free = 1000 * int64_t{popcount(state.available(node))};
  const DeviceMask shared = state.nodes().shared[index(node)] & state.usable(node);
  for_each_bit(shared, [&](unsigned device) { free += device_free_milli(state, node, device); });
  return free;
}

int64_t demand_milli(const ClusterState& state, NodeId node, const DeviceDemand& demand) {
  switch (demand.kind) {
    case DeviceNeedKind::kWhole: return 1000 * int64_t{demand.count};
    case DeviceNeedKind::kMilli: return demand.milli;
    case DeviceNeedKind::kMemory: {
      const PoolId pool = state.nodes().pool[index(node)];
      return is_set(pool) ? fraction_of(demand, state.pools()[index(pool)].device_memory_bytes_max).milli : 0;
    }
    case DeviceNeedKind::kNone:
    case DeviceNeedKind::kMig: return 0;
  }
  return 0;
}

}  // namespace weft
