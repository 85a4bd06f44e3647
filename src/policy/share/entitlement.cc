#include "policy/share/entitlement.h"

#include "base/check.h"

#include <algorithm>
#include <tuple>

namespace weft {
namespace {

__extension__ using Wide = __int128;

/// The longest run of `queues` from the first on that are alike in what `key` says.
template <typename Key>
std::span<const uint32_t> run_of(std::span<const uint32_t> queues, Key key) {
  size_t length = 1;
  while (length < queues.size() && key(queues[length]) == key(queues[0])) ++length;
  return queues.first(length);
}

int64_t named(int64_t guarantee) { return guarantee < kUnlimited ? std::min(guarantee, kQuantityMax) : 0; }

}  // namespace

int64_t share_of(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<int64_t>(Wide{part} * kShareOne / whole) : 0;
}

void Entitlements::compute(std::span<const QueueClaim> queues, const ResourceVector& capacity,
                           int64_t history_weight_milli) {
  WEFT_CHECK(history_weight_milli >= 0 && history_weight_milli <= kHistoryWeightMilliMax, "weights must not overflow");
  queues_ = queues;
  history_weight_milli_ = history_weight_milli;
  entitled_.assign(queues.size(), {});
  rows_.resize(queues.size());
  arrange();
  divide(&ResourceVector::gpu_units, capacity.gpu_units);
  divide(&ResourceVector::cpu_milli, capacity.cpu_milli);
  divide(&ResourceVector::memory_bytes, capacity.memory_bytes);
  queues_ = {};
}

void Entitlements::arrange() {
  order_.resize(queues_.size());
  is_inner_.assign(queues_.size(), 0);
  for (uint32_t q = 0; q < queues_.size(); ++q) {
    const QueueClaim& queue = queues_[q];
    WEFT_CHECK(queue.parent >= -1 && queue.parent < static_cast<int32_t>(q), "parents come before their children");
    WEFT_CHECK(queue.weight_milli >= 0 && queue.weight_milli <= kQueueWeightMilliMax, "weights must not overflow");
    WEFT_CHECK(queue.usage_share >= 0 && queue.usage_share <= kShareOne, "a share is a part of a whole");
    if (queue.parent >= 0) is_inner_[static_cast<size_t>(queue.parent)] = 1;
    order_[q] = q;
  }
  std::ranges::sort(order_, [&](uint32_t a, uint32_t b) {
    const QueueClaim &left = queues_[a], &right = queues_[b];
    return std::tuple(left.parent, -int64_t{left.priority}, a) < std::tuple(right.parent, -int64_t{right.priority}, b);
  });
}

void Entitlements::divide(Resource resource, int64_t capacity) {
  fill_rows(resource, capacity);
  const Row root{.bound = capacity, .given = capacity};
  for (std::span<const uint32_t> rest = order_; !rest.empty();) {
    const auto siblings = run_of(rest, [&](uint32_t q) { return queues_[q].parent; });
    const int32_t parent = queues_[siblings[0]].parent;
    const Row& above = parent < 0 ? root : rows_[static_cast<size_t>(parent)];
    give_guarantees(siblings, above);
    give_surplus(siblings, above);
    rest = rest.subspan(siblings.size());
  }
  for (size_t q = 0; q < rows_.size(); ++q) entitled_[q].*resource = rows_[q].given;
}

void Entitlements::fill_rows(Resource resource, int64_t capacity) {
  for (size_t q = 0; q < rows_.size(); ++q) {
    const QueueClaim& queue = queues_[q];
    rows_[q] = {.usable = is_inner_[q] != 0 ? 0 : queue.demand.*resource,
                .guarantee = named(queue.guarantee.*resource)};
  }
  for (size_t q = rows_.size(); q-- > 0;) {  // children before their parents
    Row& row = rows_[q];
    row.usable = std::min({row.usable, queues_[q].limit.*resource, capacity});
    if (queues_[q].parent < 0) continue;
    Row& parent = rows_[static_cast<size_t>(queues_[q].parent)];
    parent.usable = std::min(parent.usable + row.usable, capacity);
  }
}

void Entitlements::give_guarantees(std::span<const uint32_t> siblings, const Row& parent) {
  claims_.clear();
  for (const uint32_t q : siblings) {
    const int64_t guarantee = rows_[q].guarantee;
    rows_[q].bound = parent.bound;
    if (guarantee > 0) claims_.push_back({.weight = guarantee, .room = guarantee, .id = q});
  }
  apportion(parent.bound, claims_);  // to scale
  for (Claim& claim : claims_) {
    Row& row = rows_[claim.id];
    row.bound = claim.given;
    claim.room = std::min(claim.given, row.usable);
  }
  apportion(parent.given, claims_);
  for (const Claim& claim : claims_) rows_[claim.id].given = claim.given;
}

void Entitlements::give_surplus(std::span<const uint32_t> siblings, const Row& parent) {
  int64_t surplus = parent.given;
  for (const uint32_t q : siblings) surplus -= rows_[q].given;
  while (!siblings.empty()) {
    const auto level = run_of(siblings, [&](uint32_t q) { return queues_[q].priority; });
    siblings = siblings.subspan(level.size());
    claims_.clear();
    for (const uint32_t q : level) {
      const int64_t room = rows_[q].usable - rows_[q].given;
      const int64_t weight = queues_[q].weight_milli;
      if (room > 0 && weight > 0) claims_.push_back({.weight = weight, .room = room, .id = q});
    }
    if (history_weight_milli_ > 0) shift_by_history();
    apportion(surplus, claims_);
    for (const Claim& claim : claims_) {
      rows_[claim.id].given += claim.given;
      surplus -= claim.given;
    }
  }
}

/// w + k (w - u) in 2^-20 x 1/1000, w among those that still claim something.
void Entitlements::shift_by_history() {
  Wide weights = 0;
  for (const Claim& claim : claims_) weights += claim.weight;
  for (Claim& claim : claims_) {
    const Wide own = Wide{claim.weight} * kShareOne * (1000 + history_weight_milli_) / weights;
    const int64_t used = queues_[claim.id].usage_share * history_weight_milli_;
    claim.weight = std::max<int64_t>(static_cast<int64_t>(own) - used, 1);
  }
}

}  // namespace weft
