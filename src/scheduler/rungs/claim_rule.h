#pragma once

#include "scheduler/core.h"
#include "scheduler/rungs/room_search.h"
#include "scheduler/shares.h"

#include <span>
#include <vector>

namespace weft {

/// Who may be taken from, for one taker, by the rights of queues.
///
/// From other queues: while the taker's queue stays within its guarantee, from every queue above its own guarantee;
/// beyond the guarantee, and for more than a job's minimum, from queues above their entitlement. A queue counts as
/// above where it and all its ancestors up to the level at which the paths part are, in a resource that both the taker
/// and the unit use. What is within the guarantee as written is never taken, also where the capacity has shrunk below
/// the guarantees. Queues above their entitlement give before those that are only above their guarantee; among siblings
/// the one furthest above (usage by entitlement) gives the next unit.
///
/// In its own queue the taker gets what the units offer (see Units), after everything from other queues.
class ClaimRule final : public UnitRule {
 public:
  struct Claim {
    QueueId queue = kNone<QueueId>;
    ResourceVector charge;  ///< of what the taker asks for, at least
    Taker taker;
  };
  /// Requires: `units` sorted; all outlive the rule.
  ClaimRule(const ClusterState& state, const Shares& shares, const Units& units, const Claim& claim);

  bool allows(const Unit& unit) const override;
  size_t next(const Units& units, std::span<const uint8_t> is_lifted) override;
  bool is_lawful() const override;

 private:
  /// By how much a queue is above what is its own, in the resource in which it is furthest.
  struct Excess {
    uint8_t is_above_entitlement = 0;
    double ratio = 0;  ///< usage by entitlement
  };

  /// By what right the taker takes.
  enum class Right : uint8_t { kGuarantee, kEntitlement };
  Right present_right() const;
  bool is_above(QueueId queue, const ResourceVector& unit, Right right) const;
  bool may_give(QueueId queue, const ResourceVector& unit, Right right) const;
  Excess excess_of(QueueId queue) const;
  bool gives_before(QueueId a, QueueId b) const;
  ResourceVector charge_of(const Unit& unit) const;
  size_t first_of(QueueId queue, std::span<const uint8_t> is_lifted, Right right);

  const ClusterState& state_;
  const Shares& shares_;
  const Units& units_;
  QueueId taker_;
  ResourceVector charge_;
  uint8_t is_surplus_;
  std::vector<uint8_t> is_on_path_;            ///< by QueueId: the taker's queue and its ancestors
  std::vector<std::vector<size_t>> of_queue_;  ///< units by QueueId, in order
  std::vector<size_t> position_;               ///< by QueueId: those before it are lifted
  std::vector<QueueId> abroad_;                ///< other queues with units
  std::vector<size_t> movers_;
  size_t mover_ = 0;
};

}  // namespace weft
