#include "policy/score/device_pick.h"
#include "policy/score/scores.h"
#include "state/cluster_state.h"

namespace weft {

namespace {

/// Tetris turned round (as in the FGD paper's comparison): the node whose free resources are least alike in size and
/// mix to the demand goes first, int(100 * (1 - node . task / 2)), vectors of (CPUs, GPUs) over the largest node.
/// Fractions go to the device they fit best.
class DotprodScore final : public NodeScore {
 public:
  std::string_view name() const override { return "dotprod"; }

  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const override {
    const ClusterState& state = context.state;
    const auto cpu_free = static_cast<double>(state.nodes().free_cpu_milli[index(node)]);
    const auto gpu_free = static_cast<double>(node_free_milli(state, node));
    const auto cpu = static_cast<double>(demand.cpu_milli);
    const auto gpu = static_cast<double>(demand_milli(state, node, demand.devices));
    if (is_fraction(demand.devices.kind)) device = best_fit_device(state, node, demand.devices);
    // The order of operations decides ties by its rounding: it is part of the published results.
    double product = cpu_free / kSpecCpuMilli * (cpu / kSpecCpuMilli);
    product += gpu_free / kSpecGpuMilli * (gpu / kSpecGpuMilli);
    return static_cast<int32_t>(100.0 * (1 - product / 2));
  }
};

}  // namespace

std::unique_ptr<NodeScore> make_dotprod_score() { return std::make_unique<DotprodScore>(); }

}  // namespace weft
