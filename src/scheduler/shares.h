#pragma once

#include "base/ids.h"
#include "model/queue.h"
#include "policy/share/entitlement.h"

#include <cstdint>
#include <vector>

namespace weft {

struct Core;

/// What queues want and what they are entitled to, as of the last refresh(). Nothing that a pass decides changes it: a
/// job that starts, or is stopped for others and waits again, is wanted as before.
class Shares {
 public:
  /// Computes everything anew. Cost: O(lines + jobs that hold something + queues x log queues).
  void refresh(Core& core);

  const ResourceVector& entitlement(QueueId queue) const { return entitlements_.of(index(queue)); }
  const ResourceVector& demand(QueueId queue) const { return claims_[index(queue)].demand; }
  /// Of all nodes that are up.
  const ResourceVector& capacity() const { return capacity_; }

 private:
  void add_demand(QueueId queue, const ResourceVector& amount);
  void sum_capacity(const Core& core);
  const ResourceVector& full_charge(const Core& core, ShapeId id);
  void add_running(const Core& core, QueueId queue);

  Entitlements entitlements_;
  std::vector<QueueClaim> claims_;  ///< by QueueId
  ResourceVector capacity_;
  uint64_t capacity_version_ = ~uint64_t{0};
  std::vector<ResourceVector> full_charge_;  ///< by ShapeId: of all tasks of all roles
};

}  // namespace weft
