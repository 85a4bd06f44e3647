#include "sim/saturation/go_random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::sim {
namespace {

// Expected values are what a Go program prints that seeds math/rand with the number.

TEST(GoRandom, ASeedGivesTheNumbersThatGoGives) {
  GoRandom one(1);
  EXPECT_EQ(one.next63(), 5577006791947779410);
  EXPECT_EQ(one.next63(), 8674665223082153551);
  EXPECT_EQ(one.next63(), 6129484611666145821);
  GoRandom other(42);
  EXPECT_EQ(other.next63(), 3440579354231278675);
  EXPECT_EQ(other.next63(), 608747136543856411);
}

TEST(GoRandom, ZeroNegativeAndLargeSeedsAreBroughtIntoRangeAsInGo) {
  EXPECT_EQ(GoRandom(0).next63(), 8717895732742165505);
  EXPECT_EQ(GoRandom(-7).next63(), 747107023976529931);
  EXPECT_EQ(GoRandom((int64_t{1} << 40) + 3).next63(), 2135166860968657419);
}

TEST(GoRandom, ShuffleAndPermutationAndBoundedNumbersFollowGoDrawByDraw) {
  GoRandom random(51);
  for (int i = 0; i < 4; ++i) random.next63();
  std::vector<int> order(20);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  EXPECT_EQ(order, (std::vector<int>{17, 0, 8, 15, 9, 7, 4, 2, 5, 19, 12, 18, 13, 6, 3, 16, 1, 10, 11, 14}));
  EXPECT_EQ(random.permutation(10), (std::vector<int32_t>{8, 3, 5, 6, 0, 2, 4, 7, 9, 1}));
  EXPECT_EQ(random.below(1000), 504);
  EXPECT_EQ(random.below(1024), 763);
}

}  // namespace
}  // namespace weft::sim
