#pragma once

#include "base/ids.h"
#include "model/device.h"
#include "model/view.h"
#include "placement/fragment_table.h"
#include "placement/node_score.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class ClusterState;

/// Fragmentation of node n for a target workload M (Fragmentation Gradient Descent, Weng et al., USENIX ATC 2023):
/// F_n(M) = sum over m of popularity(m) * F_n(m); F_n(m) is all free milli-GPU of n when m cannot run there (CPU-only
/// shapes always count so), else the free milli of the GPUs that are less free than one GPU of m needs. In milli-GPU.
///
/// Free are the usable whole devices and the usable devices that fractional tasks share; devices in MIG mode are left
/// out, for a whole or fractional task could never have them. A fraction cannot run on a node whose devices are not
/// shared. Read literally, in doubles: the slow twin of FragmentTable. Cost: O(workload x devices).
double node_fragmentation(const ClusterState& state, NodeId node, const TargetWorkload& workload);

/// One device of a node that has something free.
struct FreeDevice {
  unsigned device = 0;
  DeviceModelId model = kNone<DeviceModelId>;
  int32_t milli = 0;
};
/// Usable devices that are whole or shared, by index; full ones have 0.
std::vector<FreeDevice> free_devices(const ClusterState& state, NodeId node);

struct NodeRest {
  int64_t cpu_milli = 0;
  ShareMode share = ShareMode::kExclusive;
};
/// The same for a node as it might be.
double fragmentation_of(std::span<const FreeDevice> free, const NodeRest& rest, const TargetWorkload& workload);

/// Cluster fragmentation kept up to date from the change log: only touched nodes are computed again. Sums are integers,
/// so that the order of changes leaves no trace.
class FragmentationMeter {
 public:
  void set_workload(TargetWorkload workload);
  const TargetWorkload& workload() const { return workload_; }
  /// Without a workload nothing is a fragment. Cost: O(nodes touched since the last call x workload).
  FragmentationView measure(const ClusterState& state);

 private:
  void refresh(const ClusterState& state, size_t node);
  void refresh_all(const ClusterState& state);

  TargetWorkload workload_;
  FragmentTable table_;
  std::vector<int64_t> fragment_by_node_;  ///< in milli-GPU x FragmentTable::kOne
  std::vector<int32_t> free_by_node_;
  int64_t fragment_sum_ = 0;
  int64_t free_sum_ = 0;
  int64_t total_sum_ = 0;
  uint64_t seen_changes_ = 0;
  uint64_t seen_structure_ = 0;
  bool is_fresh_ = false;
};

/// The shapes of `tasks` by popularity: the most popular ones until they make up `coverage` (0.95) of all, popularities
/// made to sum to 1. A task counts `popularity` times, once where that is 0. Ties go to the shape that appeared first.
TargetWorkload target_workload(const std::vector<TargetTask>& tasks, double coverage);

}  // namespace weft
