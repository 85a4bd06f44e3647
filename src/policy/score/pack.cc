#include "base/bits.h"
#include "policy/score/device_pick.h"
#include "policy/score/scores.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

namespace {

/// Free thousandths of the node's CPUs.
int32_t free_cpu_share(const NodeTable& nodes, size_t n) {
  const int64_t total = std::max<int64_t>(nodes.total_cpu_milli[n], 1);
  return static_cast<int32_t>(std::clamp<int64_t>(nodes.free_cpu_milli[n] * 1000 / total, 0, 1000));
}

/// Free compute slices of the node's devices in MIG mode.
int32_t free_mig_slices(const ClusterState& state, NodeId node) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  int32_t free = 0;
  for_each_bit(nodes.mig[n] & state.usable(node), [&](unsigned device) {
    const size_t row = nodes.first_device[n] + device;
    const unsigned slices = state.names().devices.model(state.devices().model[row]).mig_compute_slices;
    free += static_cast<int32_t>(slices) - state.devices().mig_compute_used[row];
  });
  return free;
}

/// Best fit: the node where the least stays free, so that what is left stays in large pieces.
class PackScore final : public NodeScore {
 public:
  std::string_view name() const override { return "pack"; }

  IndexOrder index_order(const ClusterState&, const TaskDemand& demand) const override {
    return demand.devices.kind == DeviceNeedKind::kWhole ? IndexOrder::kFewestFreeFirst : IndexOrder::kNone;
  }

  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int&) const override {
    const ClusterState& state = context.state;
    const auto whole = static_cast<int32_t>(popcount(state.available(node)));
    switch (demand.devices.kind) {
      case DeviceNeedKind::kWhole: return -whole;
      case DeviceNeedKind::kMilli:
      case DeviceNeedKind::kMemory: return -static_cast<int32_t>(node_free_milli(state, node));
      case DeviceNeedKind::kMig: return -free_mig_slices(state, node);
      case DeviceNeedKind::kNone: break;
    }
    // A task without devices keeps away from free devices first, then fills up CPUs.
    return -(whole * 1001 + free_cpu_share(state.nodes(), index(node)));
  }
};

}  // namespace

std::unique_ptr<NodeScore> make_pack_score() { return std::make_unique<PackScore>(); }

}  // namespace weft
