#pragma once

#include "base/ids.h"
#include "model/policy.h"
#include "model/queue.h"
#include "policy/job_order.h"
#include "scheduler/job_lines.h"
#include "scheduler/queue_order.h"
#include "scheduler/shares.h"
#include "state/cluster_state.h"

#include <vector>

namespace weft {

/// What the shares of queues are measured against.
struct ShareMeasure {
  ShareBasis basis = ShareBasis::kCluster;
  const Shares* shares = nullptr;  ///< for kEntitlement
  ResourceVector totals;           ///< of the cluster
};

/// Whose turn it is in a pass: a heap of lines in every queue and a heap of queues in every parent. next() follows the
/// tops down the tree. Only the line that has its turn ever changes, so only the tops on its path move. Cost: add and
/// update O(depth x log(lines or siblings)). No allocation once the heaps have grown.
class Turns {
 public:
  /// Empties everything. Requires: the last pass has drained or ended.
  void begin(const ClusterState& state, const JobLines& lines, const JobOrder& jobs, const QueueOrder& queues,
             const ShareMeasure& measure);
  /// Requires: the line is not empty and not in. After the last one: arrange().
  void add(LineId line);
  void arrange();
  bool is_empty() const { return tops_of(kNone<QueueId>).empty(); }
  /// Requires: not empty.
  LineId next() const;
  /// The job of that line whose turn it is: the first, or the one that advance() told.
  JobId next_job() const;
  /// The line that had its turn goes on with another of its jobs. Requires: `line` is next(), the entry stands in it.
  void advance(LineId line, EntryId entry);
  /// The line that had its turn has another first job, and its queue another usage. Requires: `line` is next().
  void update(LineId line);
  /// The line that had its turn is out of this pass. Requires: `line` is next().
  void remove(LineId line);

 private:
  struct LineTurn {
    HeadKey head;
    int32_t role = 0;  ///< tells lines with the same first job apart
    LineId line = kNone<LineId>;
    EntryId entry = kNone<EntryId>;  ///< whose turn it is
    ResourceVector charge;           ///< of its next job, at least
  };
  /// A queue among its siblings.
  struct ChildTurn : QueueTurn {
    ResourceVector charge;  ///< of the next job below it
  };
  /// A queue, or the root (the last one).
  struct Node {
    std::vector<LineTurn> lines;      ///< a heap, the first on top
    std::vector<ChildTurn> children;  ///< a heap, the first on top
  };

  static bool is_later_line(const LineTurn& a, const LineTurn& b);
  const std::vector<ChildTurn>& tops_of(QueueId parent) const { return nodes_[slot(parent)].children; }
  size_t slot(QueueId queue) const { return is_set(queue) ? index(queue) : nodes_.size() - 1; }
  QueueId parent_of(QueueId queue) const;
  HeadKey key_of(EntryId entry) const;
  const Node& next_node() const;
  ResourceVector charge_of(LineId id);
  int64_t share_of(QueueId queue, const ResourceVector& charge) const;
  ChildTurn turn_of(QueueId queue) const;
  bool has_turn(const Node& node) const { return !node.lines.empty() || !node.children.empty(); }
  void refresh_path(QueueId queue);
  void sift_down(std::vector<ChildTurn>& heap) const;

  const ClusterState* state_ = nullptr;
  const JobLines* lines_ = nullptr;
  const JobOrder* jobs_ = nullptr;
  const QueueOrder* order_ = nullptr;
  ShareMeasure measure_;
  std::vector<int32_t> counts_;  ///< scratch
  std::vector<Node> nodes_;
  std::vector<QueueId> used_;        ///< queues whose heaps have been filled in this pass
  std::vector<QueueId> unarranged_;  ///< a heap, the largest id on top: children come after their parent
};

}  // namespace weft
