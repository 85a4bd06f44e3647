#pragma once

#include "model/queue.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// One queue, as entitlement sees it.
struct QueueClaim {
  int32_t parent = -1;       ///< index of the parent, which comes before; -1: the root
  ResourceVector guarantee;  ///< an amount of 0 or kUnlimited claims nothing
  ResourceVector limit = kUnlimitedResources;
  int64_t weight_milli = 1000;  ///< of the surplus; 0: no claim on it
  int32_t priority = 0;         ///< of the surplus; larger goes first
  ResourceVector demand;        ///< of a leaf: all that its jobs hold or want; not read for the others
};

/// What each queue is entitled to, resource by resource, down the tree. Of what a parent is entitled to (at the root:
/// the capacity) the guarantees of its children come first; then the surplus goes to those who want more, the largest
/// priority first, within one priority by weight. What a queue cannot use goes on to the others.
///
/// Guarantees that together exceed the parent's (where it has one) or what it is entitled to are scaled in proportion,
/// before they are cut to demand. Nobody is entitled to more than its demand or its limit. Exact in integers: shares
/// are rounded down, and the units left over go to the largest remainders, the first queue first among equals. Cost:
/// O(queues^2) per group of siblings at worst, O(queues) where nobody's share is capped.
class Entitlements {
 public:
  void compute(std::span<const QueueClaim> queues, const ResourceVector& capacity);
  const ResourceVector& of(size_t queue) const { return entitled_[queue]; }

 private:
  struct Sibling {
    size_t queue = 0;
    int64_t claim = 0;  ///< guarantee that counts
    int64_t want = 0;
    int64_t given = 0;
    int64_t weight = 0;
    int32_t priority = 0;
  };

  void divide(int64_t ResourceVector::* resource, std::span<const QueueClaim> queues, int64_t capacity);
  void give_guarantees(int64_t available, int64_t guarantee_of_parent);
  static int64_t give_surplus(std::span<Sibling> level, int64_t surplus);

  std::vector<ResourceVector> entitled_;
  std::vector<int64_t> wants_;       ///< by queue
  std::vector<size_t> first_child_;  ///< of children_, by queue + 1; 0 is the root
  std::vector<size_t> children_;
  std::vector<Sibling> siblings_;
};

}  // namespace weft
