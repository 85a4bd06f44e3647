#include "policy/share/entitlement.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

__extension__ using Wide = __int128;

/// value x numerator / denominator, rounded down.
int64_t part_of(int64_t value, int64_t numerator, int64_t denominator) {
  return static_cast<int64_t>(Wide{value} * numerator / denominator);
}

bool is_claim(int64_t guarantee) { return guarantee > 0 && guarantee < kUnlimited; }

}  // namespace

void Entitlements::compute(std::span<const QueueClaim> queues, const ResourceVector& capacity) {
  entitled_.assign(queues.size(), {});
  first_child_.assign(queues.size() + 2, 0);
  for (const QueueClaim& queue : queues) ++first_child_[static_cast<size_t>(queue.parent + 1) + 1];
  for (size_t i = 1; i < first_child_.size(); ++i) first_child_[i] += first_child_[i - 1];
  children_.resize(queues.size());
  std::vector<size_t> next(first_child_.begin(), first_child_.end() - 1);
  for (size_t q = 0; q < queues.size(); ++q) children_[next[static_cast<size_t>(queues[q].parent + 1)]++] = q;
  divide(&ResourceVector::gpu_units, queues, capacity.gpu_units);
  divide(&ResourceVector::cpu_milli, queues, capacity.cpu_milli);
  divide(&ResourceVector::memory_bytes, queues, capacity.memory_bytes);
}

void Entitlements::divide(int64_t ResourceVector::* resource, std::span<const QueueClaim> queues, int64_t capacity) {
  wants_.assign(queues.size(), 0);
  for (size_t q = queues.size(); q > 0; --q) {  // children before their parents
    const QueueClaim& queue = queues[q - 1];
    const bool is_leaf = first_child_[q] == first_child_[q + 1];
    wants_[q - 1] = std::min(is_leaf ? queue.demand.*resource : wants_[q - 1], queue.limit.*resource);
    if (queue.parent >= 0) wants_[static_cast<size_t>(queue.parent)] += wants_[q - 1];
  }
  for (size_t parent = 0; parent <= queues.size(); ++parent) {  // 0: the root, then queue parent - 1
    const std::span<const size_t> children = std::span<const size_t>(children_).subspan(
        first_child_[parent], first_child_[parent + 1] - first_child_[parent]);
    if (children.empty()) continue;
    siblings_.clear();
    for (const size_t q : children) {
      const int64_t guarantee = queues[q].guarantee.*resource;
      siblings_.push_back({.queue = q,
                           .claim = is_claim(guarantee) ? guarantee : 0,
                           .want = wants_[q],
                           .weight = queues[q].weight_milli,
                           .priority = queues[q].priority});
    }
    const int64_t available = parent == 0 ? capacity : entitled_[parent - 1].*resource;
    give_guarantees(available, parent == 0 ? 0 : queues[parent - 1].guarantee.*resource);
    int64_t surplus = available;
    for (const Sibling& sibling : siblings_) surplus -= sibling.given;
    std::ranges::stable_sort(siblings_, std::greater<>(), &Sibling::priority);
    for (size_t first = 0; first < siblings_.size();) {
      size_t end = first;
      while (end < siblings_.size() && siblings_[end].priority == siblings_[first].priority) ++end;
      surplus = give_surplus(std::span(siblings_).subspan(first, end - first), surplus);
      first = end;
    }
    for (const Sibling& sibling : siblings_) entitled_[sibling.queue].*resource = sibling.given;
  }
}

void Entitlements::give_guarantees(int64_t available, int64_t guarantee_of_parent) {
  Wide claimed = 0;
  for (const Sibling& sibling : siblings_) claimed += sibling.claim;
  const int64_t bound = is_claim(guarantee_of_parent) ? std::min(available, guarantee_of_parent) : available;
  for (Sibling& sibling : siblings_) {
    if (claimed > bound) sibling.claim = static_cast<int64_t>(Wide{sibling.claim} * bound / claimed);
    sibling.given = std::min(sibling.claim, sibling.want);
  }
}

/// Gives the surplus to those of one priority by weight, and returns what nobody of them can use.
int64_t Entitlements::give_surplus(std::span<Sibling> level, int64_t surplus) {
  const auto takes = [](const Sibling& s) { return s.weight > 0 && s.given < s.want; };
  while (surplus > 0) {
    int64_t weights = 0;
    for (const Sibling& s : level) weights += takes(s) ? s.weight : 0;
    if (weights == 0) return surplus;
    // Whoever wants no more than its share gets all that it wants, and the others share the rest.
    int64_t used = 0;
    for (Sibling& s : level) {
      if (!takes(s) || Wide{s.want - s.given} * weights > Wide{surplus} * s.weight) continue;
      used += s.want - s.given;
      s.given = s.want;
    }
    surplus -= used;
    if (used > 0) continue;
    std::vector<std::pair<int64_t, Sibling*>> remainders;
    int64_t left = surplus;
    for (Sibling& s : level) {
      if (!takes(s)) continue;
      const int64_t share = part_of(surplus, s.weight, weights);
      remainders.emplace_back(static_cast<int64_t>(Wide{surplus} * s.weight % weights), &s);
      s.given += share;
      left -= share;
    }
    std::ranges::stable_sort(remainders, std::greater<>(), [](const auto& r) { return r.first; });
    for (size_t i = 0; left > 0; ++i, --left) ++remainders[i].second->given;
    return 0;
  }
  return 0;
}

}  // namespace weft
