#include "base/bits.h"
#include "policy/score/device_pick.h"
#include "policy/score/scores.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

namespace {

/// GPU packing in three bands, so that no idle node is opened, then no idle GPU is touched, while used ones do:
///   100 … 50  the task fits on GPUs in use: max(100 - free percent of them / 10, 50)
///    50 … 33  it needs idle GPUs of a node in use: max(50 - idle GPUs taken, 33)
///    33 …  0  the node is idle: 33 - its GPUs
/// A task without GPUs sees all nodes alike. Fractions go to the device they fit best.
class PackingScore final : public NodeScore {
 public:
  std::string_view name() const override { return "packing"; }

  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const override {
    if (demand.devices.kind == DeviceNeedKind::kNone) return 0;
    const ClusterState& state = context.state;
    if (is_fraction(demand.devices.kind)) device = best_fit_device(state, node, demand.devices);
    const auto idle = static_cast<int32_t>(popcount(state.available(node)));
    if (state.available(node) == state.usable(node)) return std::max(33 - idle, 0);
    if (demand.devices.kind == DeviceNeedKind::kWhole) return std::max(50 - demand.devices.count, 33);
    const int32_t free = device >= 0 ? device_free_milli(state, node, static_cast<unsigned>(device)) : 0;
    if (free == 1000) return 50 - 1;
    return std::max(100 - free / 10 / 10, 50);
  }
};

}  // namespace

std::unique_ptr<NodeScore> make_packing_score() { return std::make_unique<PackingScore>(); }

}  // namespace weft
