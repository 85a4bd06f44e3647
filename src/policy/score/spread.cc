#include "base/bits.h"
#include "policy/score/device_pick.h"
#include "policy/score/scores.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <limits>

namespace weft {

namespace {

bool has_measured_load(const ClusterState& state) {
  return std::ranges::any_of(state.nodes().load_milli, [](int32_t load) { return load >= 0; });
}

/// Load balance: the node where the most is free. Where an engine reports how busy the devices are, a node has at most
/// what they leave idle: a device that is taken but idle is not free, and one that is free but busy (with an outsider's
/// work) is not either.
class SpreadScore final : public NodeScore {
 public:
  std::string_view name() const override { return "spread"; }

  IndexOrder index_order(const ClusterState& state, const TaskDemand& demand) const override {
    const bool is_by_count = demand.devices.kind == DeviceNeedKind::kWhole && !has_measured_load(state);
    return is_by_count ? IndexOrder::kMostFreeFirst : IndexOrder::kNone;
  }

  /// Thousandths of devices, or of CPUs for a task without devices.
  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int&) const override {
    const NodeTable& nodes = context.state.nodes();
    const size_t n = index(node);
    if (demand.devices.kind == DeviceNeedKind::kNone) {
      return static_cast<int32_t>(std::min<int64_t>(nodes.free_cpu_milli[n], std::numeric_limits<int32_t>::max()));
    }
    const bool is_whole = demand.devices.kind == DeviceNeedKind::kWhole;
    const int64_t given =
        is_whole ? 1000 * int64_t{popcount(context.state.available(node))} : node_free_milli(context.state, node);
    if (nodes.load_milli[n] < 0) return static_cast<int32_t>(given);
    const int64_t idle = int64_t{nodes.device_count[n]} * (1000 - std::min(nodes.load_milli[n], 1000));
    return static_cast<int32_t>(std::min(given, idle));
  }
};

}  // namespace

std::unique_ptr<NodeScore> make_spread_score() { return std::make_unique<SpreadScore>(); }

}  // namespace weft
