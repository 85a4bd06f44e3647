#include "policy/share/entitlement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

namespace weft {
namespace {

/// The slow twin: the rules of Entitlements for GPUs, without history, in the plainest words. Units go out one at a
/// time.
class Twin {
 public:
  Twin(const std::vector<QueueClaim>& queues, int64_t capacity) : queues_(queues), capacity_(capacity) {
    given_.resize(queues.size());
    divide(-1, capacity, capacity);
  }
  const std::vector<int64_t>& given() const { return given_; }

  std::vector<size_t> children_of(int32_t parent) const {
    std::vector<size_t> children;
    for (size_t q = 0; q < queues_.size(); ++q) {
      if (queues_[q].parent == parent) children.push_back(q);
    }
    return children;
  }

  int64_t usable(size_t queue) const {
    const std::vector<size_t> children = children_of(static_cast<int32_t>(queue));
    int64_t wanted = children.empty() ? queues_[queue].demand.gpu_units : 0;
    for (const size_t child : children) wanted += usable(child);
    return std::min({wanted, queues_[queue].limit.gpu_units, capacity_});
  }

 private:
  struct Part {
    int64_t weight = 0;
    int64_t room = 0;
    int64_t given = 0;
  };

  /// To whoever would have, for its weight, the least with half a unit more.
  static void fill(int64_t units, std::map<size_t, Part>& parts) {
    for (; units > 0; --units) {
      Part* least = nullptr;
      for (auto& [queue, part] : parts) {
        if (part.given == part.room) continue;
        if (least == nullptr || (2 * part.given + 1) * least->weight < (2 * least->given + 1) * part.weight) {
          least = &part;
        }
      }
      if (least == nullptr) return;
      ++least->given;
    }
  }

  void divide(int32_t parent, int64_t total, int64_t bound) {
    const std::vector<size_t> children = children_of(parent);
    std::map<size_t, Part> scaled;
    for (const size_t q : children) {
      const int64_t guarantee = queues_[q].guarantee.gpu_units;
      if (guarantee > 0 && guarantee < kUnlimited) scaled[q] = {.weight = guarantee, .room = guarantee};
    }
    fill(bound, scaled);
    std::map<size_t, Part> guaranteed;
    for (const auto& [q, part] : scaled) {
      guaranteed[q] = {.weight = part.weight, .room = std::min(part.given, usable(q))};
    }
    fill(total, guaranteed);
    for (const auto& [q, part] : guaranteed) {
      given_[q] = part.given;
      total -= part.given;
    }
    for (int32_t priority = kPriorityMax; priority >= 0; --priority) total -= give_level(children, priority, total);
    for (const size_t q : children) {
      const auto own = scaled.find(q);
      const int64_t below = own == scaled.end() ? bound : own->second.given;
      divide(static_cast<int32_t>(q), given_[q], below);
    }
  }

  int64_t give_level(const std::vector<size_t>& children, int32_t priority, int64_t surplus) {
    std::map<size_t, Part> parts;
    for (const size_t q : children) {
      if (queues_[q].priority != priority || queues_[q].weight_milli == 0) continue;
      parts[q] = {.weight = queues_[q].weight_milli, .room = usable(q) - given_[q]};
    }
    fill(surplus, parts);
    int64_t sum = 0;
    for (const auto& [q, part] : parts) {
      given_[q] += part.given;
      sum += part.given;
    }
    return sum;
  }

  static constexpr int32_t kPriorityMax = 2;
  const std::vector<QueueClaim>& queues_;
  int64_t capacity_;
  std::vector<int64_t> given_;
};

int64_t some_guarantee() {
  return *rc::gen::oneOf(rc::gen::just<int64_t>(0), rc::gen::just(kUnlimited), rc::gen::inRange<int64_t>(1, 120));
}

std::vector<QueueClaim> some_queues() {
  std::vector<QueueClaim> queues;
  const auto count = *rc::gen::inRange(1, 9);
  for (int32_t q = 0; q < count; ++q) {
    queues.push_back(
        {.parent = *rc::gen::inRange<int32_t>(-1, q),
         .guarantee = {.gpu_units = some_guarantee()},
         .limit = {.gpu_units = *rc::gen::oneOf(rc::gen::just(kUnlimited), rc::gen::inRange<int64_t>(0, 150))},
         .weight_milli = *rc::gen::inRange<int64_t>(0, 5) * 500,
         .priority = *rc::gen::inRange(0, 3),
         .demand = {.gpu_units = *rc::gen::inRange<int64_t>(0, 150)},
         .usage_share = *rc::gen::inRange<int64_t>(0, kShareOne + 1)});
  }
  return queues;
}

RC_GTEST_PROP(EntitlementProperty, AgreesWithTheTwinWithinRounding, ()) {
  const std::vector<QueueClaim> queues = some_queues();
  const auto capacity = *rc::gen::inRange<int64_t>(0, 300);
  const Twin twin(queues, capacity);
  Entitlements entitlements;
  entitlements.compute(queues, {.gpu_units = capacity});
  // The twin rounds otherwise, so that a unit may go to another.
  for (size_t q = 0; q < queues.size(); ++q) {
    RC_ASSERT(std::abs(entitlements.of(q).gpu_units - twin.given()[q]) <= 2);
  }
}

RC_GTEST_PROP(EntitlementProperty, SiblingsShareWhatTheirParentHasWhateverTheHistory, ()) {
  const std::vector<QueueClaim> queues = some_queues();
  const auto capacity = *rc::gen::inRange<int64_t>(0, 300);
  const Twin twin(queues, capacity);
  Entitlements entitlements;
  entitlements.compute(queues, {.gpu_units = capacity}, *rc::gen::inRange<int64_t>(0, 5000));
  for (int32_t parent = -1; parent < static_cast<int32_t>(queues.size()); ++parent) {
    const int64_t total = parent < 0 ? capacity : entitlements.of(static_cast<size_t>(parent)).gpu_units;
    int64_t sum = 0, claimable = 0;
    for (const size_t q : twin.children_of(parent)) {
      const int64_t given = entitlements.of(q).gpu_units;
      RC_ASSERT(given >= 0 && given <= twin.usable(q));
      sum += given;
      claimable += queues[q].weight_milli > 0 ? twin.usable(q) : given;
    }
    RC_ASSERT(sum == std::min(total, claimable));
  }
}

}  // namespace
}  // namespace weft
