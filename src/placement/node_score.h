#pragma once

#include "base/ids.h"
#include "model/placement.h"
#include "model/shape.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft {

class ClusterState;

/// One kind of task that is expected to come, for measures of fragmentation. Popularities of a workload sum to 1.
struct TargetTask {
  int64_t cpu_milli = 0;
  int32_t gpu_count = 0;              ///< 0: CPU only
  int32_t gpu_milli = 0;              ///< per GPU; under 1000 only with gpu_count 1
  std::vector<DeviceModelId> models;  ///< sorted; empty: any
  double popularity = 0;
};
using TargetWorkload = std::vector<TargetTask>;

/// What a score may read besides the node.
struct ScoreContext {
  const ClusterState& state;
  const TargetWorkload& workload;
  uint64_t seed = 0;  ///< of PolicyConfig::random_seed
  uint64_t draw = 0;  ///< counts the tasks placed so far: a fresh value for each choice of the score "random"
  /// Grows with every Placer::set_workload(): what a score derived from `workload` is right as long as this stays the
  /// same.
  uint64_t workload_version = 0;
};

/// Ranks the nodes that a task fits on. One small file per score under policy/score, one line in policy/registry.cc.
/// Larger is better; equal scores go to the lowest NodeId. Implementations are stateless or keep caches that cannot
/// change an answer.
class NodeScore {
 public:
  /// What an answer depends on besides the demand.
  enum class DependsOn : uint8_t {
    kNode,     ///< the node's own columns, and how it is built (not which one it is): cached per demand until it
               ///< changes, and known for all nodes that are alike
    kCluster,  ///< more than that: asked afresh for every task
  };
  /// A score that ranks the nodes for a demand by nothing but popcount(available) is served by the capacity index
  /// without a scan: kFewestFreeFirst when fewer is better. Among equal counts the lowest NodeId goes first, over all
  /// pools, as always.
  enum class IndexOrder : uint8_t { kNone, kFewestFreeFirst, kMostFreeFirst };

  virtual ~NodeScore() = default;
  virtual std::string_view name() const = 0;
  virtual DependsOn depends_on() const { return DependsOn::kNode; }
  /// Asked once per demand and gang. The answer may change with the state (loads begin to be reported), so it is not to
  /// be kept.
  virtual IndexOrder index_order([[maybe_unused]] const ClusterState& state,
                                 [[maybe_unused]] const TaskDemand& demand) const {
    return IndexOrder::kNone;
  }
  /// The answer must be final: there is no second pass over the feasible nodes. (The min-max normalisation of the
  /// paper's BestFit stretches whole scores of 0 … 100 to 0 … 100, which keeps every order and every tie, so that it is
  /// left out.) Requires: the task fits on the node. For kMilli and kMemory demands a score may choose the device by
  /// setting `device`
  /// (-1: the placer's own device choice).
  virtual int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const = 0;
};

}  // namespace weft
