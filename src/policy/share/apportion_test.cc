#include "policy/share/apportion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace weft {
namespace {

using ::testing::ElementsAre;

/// What each gets, by id.
std::vector<int64_t> given(int64_t total, std::vector<Claim> claims) {
  for (size_t i = 0; i < claims.size(); ++i) claims[i].id = static_cast<uint32_t>(i);
  apportion(total, claims);
  std::vector<int64_t> by_id(claims.size());
  for (const Claim& claim : claims) by_id[claim.id] = claim.given;
  return by_id;
}

TEST(Apportion, DividesByWeight) {
  EXPECT_THAT(given(12, {{.weight = 1, .room = 100}, {.weight = 2, .room = 100}, {.weight = 3, .room = 100}}),
              ElementsAre(2, 4, 6));
}

TEST(Apportion, WhatOneCannotTakeGoesOnByWeight) {
  EXPECT_THAT(given(14, {{.weight = 1, .room = 100}, {.weight = 2, .room = 100}, {.weight = 3, .room = 2}}),
              ElementsAre(4, 8, 2));
}

TEST(Apportion, WhatNobodyCanTakeStays) {
  EXPECT_THAT(given(100, {{.weight = 5, .room = 1}, {.weight = 1, .room = 7}}), ElementsAre(1, 7));
  EXPECT_THAT(given(100, {}), ElementsAre());
}

TEST(Apportion, LeftoverUnitsGoToTheLargestRemaindersThenTheSmallestIds) {
  // 7 x 1/6, 2/6, 3/6 = 1 1/6, 2 2/6, 3 3/6
  EXPECT_THAT(given(7, {{.weight = 1, .room = 9}, {.weight = 2, .room = 9}, {.weight = 3, .room = 9}}),
              ElementsAre(1, 2, 4));
  EXPECT_THAT(given(5, {{.weight = 1, .room = 9}, {.weight = 1, .room = 9}, {.weight = 1, .room = 9}}),
              ElementsAre(2, 2, 1));
}

TEST(Apportion, IsExactAtTheLargestQuantities) {
  EXPECT_THAT(given(kQuantityMax, {{.weight = kClaimWeightMax, .room = kQuantityMax},
                                   {.weight = kClaimWeightMax, .room = kQuantityMax}}),
              ElementsAre(kQuantityMax / 2, kQuantityMax / 2));
  EXPECT_THAT(given(kQuantityMax, {{.weight = kClaimWeightMax, .room = kQuantityMax}, {.weight = 1, .room = 3}}),
              ElementsAre(kQuantityMax - 1, 1));
}

RC_GTEST_PROP(Apportion, IsWeightedMaxMinWithinOneUnit, ()) {
  const auto pairs = *rc::gen::container<std::vector<std::pair<int64_t, int64_t>>>(
      rc::gen::pair(rc::gen::inRange<int64_t>(1, 20), rc::gen::inRange<int64_t>(0, 60)));
  const auto total = *rc::gen::inRange<int64_t>(0, 400);
  std::vector<Claim> claims;
  int64_t rooms = 0;
  for (const auto& [weight, room] : pairs) {
    claims.push_back({.weight = weight, .room = room});
    rooms += room;
  }
  const std::vector<int64_t> each = given(total, claims);
  int64_t sum = 0;
  for (const int64_t g : each) sum += g;
  RC_ASSERT(sum == std::min(total, rooms));
  for (size_t i = 0; i < each.size(); ++i) {
    RC_ASSERT(each[i] >= 0 && each[i] <= claims[i].room);
    if (each[i] == claims[i].room) continue;
    // Nobody is ahead, for its weight, of one who could take more.
    for (size_t j = 0; j < each.size(); ++j) {
      RC_ASSERT((each[j] - 1) * claims[i].weight < (each[i] + 1) * claims[j].weight);
    }
  }
}

}  // namespace
}  // namespace weft
