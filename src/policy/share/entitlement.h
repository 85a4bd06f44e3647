#pragma once

#include "model/queue.h"
#include "policy/share/apportion.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// A part of a whole, such as usage_share, is given in 2^-20.
inline constexpr int64_t kShareOne = int64_t{1} << 20;

/// part / whole in 2^-20, rounded down; 0 of nothing. Requires: 0 <= part <= whole.
int64_t share_of(int64_t part, int64_t whole);

/// One queue, as entitlement sees it.
struct QueueClaim {
  int32_t parent = -1;       ///< an index that is smaller than the queue's own; -1: the root
  ResourceVector guarantee;  ///< of a resource 0 or kUnlimited: none is named
  ResourceVector limit = kUnlimitedResources;
  int64_t weight_milli = 1000;  ///< of the surplus, at most kQueueWeightMilliMax; 0: no claim on it
  int32_t priority = 0;         ///< larger goes first
  ResourceVector demand;        ///< of a leaf: all that its jobs have and want; of an inner queue not looked at
  int64_t usage_share = 0;      ///< past usage, decayed, in 2^-20 of what its siblings used together
};

inline constexpr int64_t kQueueWeightMilliMax = int64_t{1} << 40;
inline constexpr int64_t kHistoryWeightMilliMax = 1'000'000;

/// What each queue is owed of the cluster, resource by resource and down the tree. Of what their parent has (the root:
/// the capacity), siblings get
/// 1. their guarantees. Guarantees that exceed their parent's are scaled in proportion, as written, and only then cut
///    to what the queue can use: its demand, within its limit and those below it. Where the parent names none, that of
///    the next ancestor that does counts, or the capacity; and if the parent has not been given that much, what it has
///    is divided in proportion to them;
/// 2. the surplus, one priority after another, the largest first, by weight among the queues that can use more.
/// A queue thus never gets more than it can use, siblings never more than their parent, and all is given that some
/// sibling with a weight can use. Shares round down, leftover units go to the largest remainders, then in the order of
/// the queues: integers, the same on every machine.
///
/// History shifts the weights of the surplus as KAI's time-aware fairness does: with w the queue's part of the weights
/// and u its usage_share, the weight becomes w + k (w - u). Where that is not positive, all but nothing: such a queue
/// gets what the others of its priority leave.
class Entitlements {
 public:
  /// Requires: parents before their children, nothing negative, capacity at most kQuantityMax.
  /// `history_weight_milli`: k in thousandths, at most kHistoryWeightMilliMax; 0: no history.
  /// Cost: O(queues x log(queues)). No allocation when the queues are no more than ever before.
  void compute(std::span<const QueueClaim> queues, const ResourceVector& capacity, int64_t history_weight_milli = 0);
  size_t size() const { return entitled_.size(); }
  const ResourceVector& of(size_t queue) const { return entitled_[queue]; }

 private:
  using Resource = int64_t ResourceVector::*;

  /// What is known of a queue in the resource at hand.
  struct Row {
    int64_t usable = 0;     ///< demand, within the limits of the queue and of those below it, and the capacity
    int64_t guarantee = 0;  ///< as written; 0: none is named
    int64_t bound = 0;      ///< what the guarantees of its children may claim together
    int64_t given = 0;
  };

  void arrange();
  void divide(Resource resource, int64_t capacity);
  void fill_rows(Resource resource, int64_t capacity);
  void give_guarantees(std::span<const uint32_t> siblings, const Row& parent);
  void give_surplus(std::span<const uint32_t> siblings, const Row& parent);
  void shift_by_history();

  std::span<const QueueClaim> queues_;  ///< while compute() runs
  int64_t history_weight_milli_ = 0;
  std::vector<ResourceVector> entitled_;
  std::vector<uint32_t> order_;  ///< of the queues: siblings side by side, parents first, by falling priority
  std::vector<uint8_t> is_inner_;
  std::vector<Row> rows_;
  std::vector<Claim> claims_;
};

}  // namespace weft
