#include "policy/score/device_pick.h"
#include "policy/score/scores.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <bit>

namespace weft {

namespace {

/// Classes of tasks: bit 0 a part of a GPU, bit k (1 … 7) k GPUs, bit 8 eight or more.
using ClassMask = uint32_t;

ClassMask class_of(const DeviceDemand& demand) {
  if (demand.kind != DeviceNeedKind::kWhole) return 1;
  return ClassMask{1} << std::clamp(demand.count, 1, 8);
}

/// The classes of the tasks that hold devices of the node.
ClassMask classes_on(const ClusterState& state, size_t n) {
  const NodeTable& nodes = state.nodes();
  ClassMask classes = nodes.shared[n] != 0 ? 1 : 0;
  for (DeviceMask mig = nodes.mig[n]; mig != 0; mig &= mig - 1) {
    const size_t row = nodes.first_device[n] + static_cast<size_t>(std::countr_zero(mig));
    if (state.devices().mig_compute_used[row] > 0) classes |= 1;
  }
  for (unsigned size = 1; size <= 8; ++size) {
    if (((nodes.whole_tasks[n] >> (8 * (size - 1))) & 0xff) != 0) classes |= ClassMask{1} << size;
  }
  return classes;
}

/// GPU clustering: tasks of one class (part of a GPU, 1 GPU, 2 GPUs, …) gather. Bands of 25, in which the fuller node
/// goes first:
///   75 … 100 the node holds the task's class only
///   50 …  75 it holds the class among others
///   25 …  50 it is idle
///    0 …  25 it holds other classes only
/// A task without GPUs sees all nodes alike. Fractions go to the device they fit best.
class ClusteringScore final : public NodeScore {
 public:
  std::string_view name() const override { return "clustering"; }

  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const override {
    if (demand.devices.kind == DeviceNeedKind::kNone) return 0;
    const ClusterState& state = context.state;
    if (is_fraction(demand.devices.kind)) device = best_fit_device(state, node, demand.devices);
    const auto free = static_cast<int32_t>(node_free_milli(state, node));
    const int32_t fullness = 25 * (8000 - free) / 8000;
    const ClassMask classes = classes_on(state, index(node));
    if (classes == 0) return fullness + 25;
    if ((classes & class_of(demand.devices)) == 0) return fullness;
    return fullness + (std::has_single_bit(classes) ? 75 : 50);
  }
};

}  // namespace

std::unique_ptr<NodeScore> make_clustering_score() { return std::make_unique<ClusteringScore>(); }

}  // namespace weft
