#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "model/shape.h"
#include "placement/demand_table.h"
#include "placement/device_choice.h"
#include "placement/node_score.h"
#include "placement/node_states.h"
#include "placement/placer.h"
#include "placement/region.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft {

/// What one choice of a node is for.
struct ScoreQuery {
  DemandId id{};
  const KnownDemand& demand;
  const Region& region;
  std::span<const DataLocation> data;  ///< of the shape, sorted by node
  uint64_t draw = 0;
};

struct ScoredNode {
  NodeId node = kNone<NodeId>;  ///< kNone: none fits
  int device = -1;              ///< the score's own choice
};

/// The scores of a policy, with one array of scores per demand and the maxima of blocks of 64 nodes above it.
///
/// A node is scored again only when a demand is asked for after the node's fingerprint has changed. Scores that depend
/// on more than the node are added afresh for every node that fits. Arrays are limited in number; the one that was not
/// used for longest makes room. Cost of best(): O(changes since the demand was last asked for x score + nodes / 64).
class ScoreCache {
 public:
  ScoreCache(const PolicyConfig& config, std::vector<ActiveScore> scores);

  /// The order that the capacity index can serve for this demand, kNone when scores must be computed.
  NodeScore::IndexOrder index_order(const ClusterState& state, const TaskDemand& demand) const;

  /// The best node of the region on which the task fits; of equal ones the one with the most of the data, then the
  /// lowest NodeId.
  ScoredNode best(const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query);
  /// The score of one node, std::numeric_limits<int32_t>::min() where the task does not fit.
  int32_t score_of(const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query, NodeId node,
                   int& device);

  /// By node: kNone where one task of the demand fits now, else the first filter that fails (of nodes that suit).
  std::span<const Reason> obstacles(const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query);

  void set_workload(const TargetWorkload& workload);
  NodeStates& states() { return states_; }
  static constexpr int32_t kUnfit = std::numeric_limits<int32_t>::min();

 private:
  static constexpr size_t kTablesMin = 16;
  static constexpr size_t kTableBytesMax = size_t{64} << 20;

  /// The last answers for all nodes of a table, found again for nodes that are alike.
  struct Alike {
    uint64_t key = 0;  ///< of what is free and how it is built; 0: none yet
    int32_t score = kUnfit;
    int16_t device = -1;
    Reason obstacle = Reason::kNone;
  };
  static constexpr size_t kAlikeMax = 128;

  struct Table {
    DemandId id{};
    OneIsland island = OneIsland::kNo;
    uint64_t workload_version = 0;
    uint64_t seen_changes = 0;
    uint64_t last_used = 0;
    size_t nodes = 0;
    std::vector<uint64_t> fingerprint;  ///< of the node when it was scored; 0: never
    std::vector<int32_t> score;
    std::vector<int16_t> device;  ///< of the score's choice, -1: none
    std::vector<Reason> obstacle;
    std::vector<int32_t> block_max;
    BitSet is_stale;  ///< blocks whose maximum must be looked for again
  };

  void see_policy(const ClusterState& state, const DeviceChooser& chooser, const TaskDemand& demand);
  Table& table_for(const ClusterState& state, const ScoreQuery& query);
  void reset(Table& table, const ScoreQuery& query, size_t nodes) const;
  void rescore_all(Table& table, const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query);
  void refresh(Table& table, const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query);
  void rescore(Table& table, const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query, size_t node);
  int32_t compute(const ClusterState& state, DeviceChooser& chooser, const ScoreQuery& query, NodeId node, int& device,
                  Reason& obstacle) const;
  int64_t sum(std::span<const ActiveScore> scores, const ScoreContext& of, const TaskDemand& demand, NodeId node,
              int& device) const;
  static void store(Table& table, size_t node, int32_t score);
  static int32_t block_max(Table& table, size_t block);
  ScoredNode best_cached(Table& table, const ScoreQuery& query) const;
  ScoredNode best_afresh(Table& table, const ClusterState& state, const ScoreQuery& query) const;
  ScoreContext context(const ClusterState& state, uint64_t draw) const;

  const PolicyConfig config_;
  std::vector<ActiveScore> scores_;       ///< all
  std::vector<ActiveScore> node_scores_;  ///< those that depend on the node alone
  std::vector<ActiveScore> cluster_scores_;
  TargetWorkload workload_;
  uint64_t workload_version_ = 1;
  NodeStates states_;
  std::vector<Table> tables_;
  std::vector<uint32_t> table_of_;                            ///< by demand x 2 + island; into tables_, kNoTable
  std::vector<Alike> alike_ = std::vector<Alike>(kAlikeMax);  ///< scratch of rescore_all()
  uint64_t uses_ = 0;
  TaskDemand one_device_;
  bool opens_last_ = false;  ///< fractions open a free device only when they must
};

}  // namespace weft
