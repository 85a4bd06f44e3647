#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "model/shape.h"
#include "model/verdict.h"
#include "state/tables.h"

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace weft {

class ClusterState;

enum class DemandId : uint32_t {};

/// The filters in their order. Those up to kSharing never change while a node is there.
enum class FilterStage : int8_t {
  kNothing = -1,
  kPinned,
  kLabels,
  kTaints,
  kModel,
  kGpuMemory,
  kSharing,  ///< MIG or the sharing mode
  kAvailable,
  kDevices,
  kCpus,
  kMemory,
  kDisk,
  kNuma,
  kNvlink,
};

/// The nodes that do not suit a demand, each under the first standing filter that it fails.
struct StandingCounts {
  std::array<uint32_t, kReasonCount> nodes{};
  FilterStage furthest = FilterStage::kNothing;  ///< that a node reached and failed
  Reason furthest_reason = Reason::kNone;
  size_t nodes_seen = 0;  ///< how many nodes are counted
};

/// A demand with what follows from it and the fixed properties of nodes alone.
struct KnownDemand {
  TaskDemand task;
  BitSet suits;  ///< nodes that pass every standing filter, available or not
  uint32_t suits_count = 0;
  std::vector<PoolId> pools;           ///< whose devices would do, ascending; empty for tasks without devices
  std::vector<Reason> pool_obstacles;  ///< by pool: kNone when it would do
  size_t nodes_seen = 0;               ///< how many nodes `suits` covers
};

/// Interned demands, and per demand the static filters as one bitmap over nodes: the pinned node, labels, taints,
/// device models, memory and compute capability, MIG, sharing mode. Whether a node is up or cordoned is not in it; see
/// CapacityIndex::schedulable().
///
/// Labels, taints and models of a node never change, so that only new nodes are looked at: amortised O(nodes / 64) per
/// demand.
class DemandTable {
 public:
  /// The id of an equal demand, or a new one. Allocates only for a new one.
  DemandId intern(const TaskDemand& demand);
  /// Brought up to the present nodes. Allocates only when there are new ones.
  const KnownDemand& get(const ClusterState& state, DemandId id);
  size_t size() const { return demands_.size(); }

  /// Counted anew only after nodes have arrived. Requires: get() has seen the present nodes.
  const StandingCounts& standing(const ClusterState& state, DemandId id);

 private:
  /// One 64-node word of each filter that looks at nodes one by one. A set bit passes.
  struct FilterWords {
    uint64_t pinned = 0, labels = 0, taints = 0;
  };

  /// Nodes that carry a label (or a taint), for the labels that demands name.
  struct LabelNodes {
    BitSet nodes;
    size_t nodes_seen = 0;
  };

  const BitSet& nodes_with_label(const ClusterState& state, LabelId label);
  void see_taints(const ClusterState& state);
  FilterWords filter_words(const ClusterState& state, const KnownDemand& demand, size_t word);
  void refresh(const ClusterState& state, KnownDemand& demand);
  void count_standing(const ClusterState& state, const KnownDemand& demand, StandingCounts& counts);

  std::deque<KnownDemand> demands_;                             // a deque keeps references valid
  std::deque<StandingCounts> standing_;                         // by DemandId
  std::unordered_map<uint64_t, std::vector<DemandId>> by_key_;  // looked up, never iterated
  std::unordered_map<uint32_t, LabelNodes> label_nodes_;        // looked up, never iterated
  std::vector<std::pair<LabelId, BitSet>> taint_nodes_;         // in order of appearance
  size_t taint_nodes_seen_ = 0;
};

/// Why no node of the pool could take the demand, whatever is free: kNone when one could.
Reason pool_obstacle(const ClusterState& state, const Pool& pool, const TaskDemand& demand);

}  // namespace weft
