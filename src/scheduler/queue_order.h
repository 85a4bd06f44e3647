#pragma once

#include "base/ids.h"
#include "base/units.h"

#include <cstdint>
#include <memory>

namespace weft {

/// The job that is first in a line or queue, as an order sees it.
struct HeadKey {
  int64_t rank = 0;  ///< of the JobOrder; smaller goes first
  Instant submitted;
  JobId job = kNone<JobId>;
  auto operator<=>(const HeadKey&) const = default;  // total: ends in the job
};

/// What an order of queues may read.
struct QueueTurn {
  QueueId queue = kNone<QueueId>;
  int32_t priority = 0;
  int64_t share = 0;  ///< dominant share in 2^-40, with its next job placed, against what ShareBasis says
  HeadKey head;       ///< of the queue and all below it
};

/// Whose turn it is among queues. Every order is total and ends in the queue.
class QueueOrder {
 public:
  /// Whether queues are compared with their siblings, level by level down the tree, or all leaves with one another.
  enum class Scope : uint8_t { kSiblings, kLeaves };

  virtual ~QueueOrder() = default;
  virtual Scope scope() const = 0;
  virtual bool goes_before(const QueueTurn& a, const QueueTurn& b) const = 0;
};

/// Priority, then the smaller dominant share, then the order of definition.
std::unique_ptr<QueueOrder> make_share_order();
/// Priority, then the queue whose first job goes first: one line for all, as a strict order demands.
std::unique_ptr<QueueOrder> make_head_order();

}  // namespace weft
