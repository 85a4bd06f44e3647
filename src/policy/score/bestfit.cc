#include "policy/score/device_pick.h"
#include "policy/score/scores.h"
#include "state/cluster_state.h"

namespace weft {

namespace {

/// The FGD paper's BestFit: the node where the least CPU and GPU stays free, each over the largest node's and weighed
/// by half, int(100 * (1 - rest)). Fractions go to the device they fit best.
class BestfitScore final : public NodeScore {
 public:
  std::string_view name() const override { return "bestfit"; }

  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const override {
    const ClusterState& state = context.state;
    const auto cpu_rest = static_cast<double>(state.nodes().free_cpu_milli[index(node)] - demand.cpu_milli);
    const auto gpu_rest = static_cast<double>(node_free_milli(state, node) - demand_milli(state, node, demand.devices));
    if (is_fraction(demand.devices.kind)) device = best_fit_device(state, node, demand.devices);
    // The order of operations decides ties by its rounding: it is part of the published results.
    double rest = cpu_rest / kSpecCpuMilli * 0.5;
    rest += gpu_rest / kSpecGpuMilli * 0.5;
    return static_cast<int32_t>((1.0 - rest) * 100.0);
  }
};

}  // namespace

std::unique_ptr<NodeScore> make_bestfit_score() { return std::make_unique<BestfitScore>(); }

}  // namespace weft
