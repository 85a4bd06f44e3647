#include "sim/saturation/protocol.h"

#include "sim/saturation/go_random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::sim {
namespace {

std::vector<OpenbNode> some_nodes(size_t count, int32_t gpus) {
  std::vector<OpenbNode> nodes;
  for (size_t i = 0; i < count; ++i)
    nodes.push_back(
        {.name = "n" + std::to_string(100 + i), .cpu_milli = 64000, .memory_mib = 1024, .gpus = gpus, .model = "T4"});
  return nodes;
}

std::vector<OpenbPod> some_pods(size_t count, int32_t gpus, int32_t milli) {
  std::vector<OpenbPod> pods;
  for (size_t i = 0; i < count; ++i)
    pods.push_back(
        {.name = "p" + std::to_string(100 + i), .cpu_milli = 1000, .memory_mib = 1, .gpus = gpus, .gpu_milli = milli});
  return pods;
}

int64_t requested(const std::vector<OpenbPod>& pods, const Arrivals& arrivals) {
  int64_t sum = 0;
  for (const uint32_t pod : arrivals.pods) sum += pods[pod].request_milli();
  return sum;
}

TEST(Arrivals, EveryPodComesOnceBeforeAnyComesAgain) {
  const auto nodes = some_nodes(10, 8);
  const auto pods = some_pods(20, 1, 500);
  const auto arrivals = make_arrivals(nodes, pods, 42, 1.3);
  ASSERT_TRUE(arrivals);
  std::vector<uint32_t> first(arrivals->pods.begin(), arrivals->pods.begin() + 20);
  EXPECT_FALSE(std::ranges::is_sorted(first)) << "they are shuffled";
  std::ranges::sort(first);
  for (uint32_t i = 0; i < 20; ++i) EXPECT_EQ(first[i], i);
}

TEST(Arrivals, AreInflatedUntilTheNextPodWouldPassTheRatio) {
  const auto nodes = some_nodes(10, 8);  // 1.3 x 80,000 = 104,000
  const auto pods = some_pods(20, 1, 500);
  const auto arrivals = make_arrivals(nodes, pods, 42, 1.3);
  ASSERT_TRUE(arrivals);
  EXPECT_EQ(requested(pods, *arrivals), 104'000);
}

TEST(Arrivals, OnlyOneGpuOfTheNextPodCountsInTheStopTest) {
  const auto nodes = some_nodes(10, 1);  // 1.3 x 10,000 = 13,000
  const auto pods = some_pods(3, 4, 1000);
  const auto arrivals = make_arrivals(nodes, pods, 42, 1.3);
  ASSERT_TRUE(arrivals);
  EXPECT_EQ(requested(pods, *arrivals), 16'000)
      << "12,000 + 1,000 does not pass 13,000, so a fourth pod of 4,000 comes";
}

TEST(Arrivals, RandomPodsAreRemovedWhileTheListAsksForTooMuch) {
  const auto nodes = some_nodes(10, 1);  // 13,000
  const auto pods = some_pods(40, 1, 1000);
  const auto arrivals = make_arrivals(nodes, pods, 42, 1.3);
  ASSERT_TRUE(arrivals);
  EXPECT_EQ(arrivals->pods.size(), 13U);
  std::map<uint32_t, int> seen;
  for (const uint32_t pod : arrivals->pods) EXPECT_EQ(++seen[pod], 1) << "nothing is drawn again";
}

TEST(Arrivals, WhatIsLeftOfALongListKeepsTheOrderThatRemovingOneByOneLeaves) {
  const auto nodes = some_nodes(10, 1);  // 13,000
  auto pods = some_pods(777, 1, 100);
  for (size_t i = 0; i < pods.size(); i += 3) pods[i].gpus = pods[i].gpu_milli = 0;
  GoRandom random(7);
  random.next63();
  std::vector<uint32_t> expected(pods.size());
  std::iota(expected.begin(), expected.end(), 0U);
  random.shuffle(expected);
  for (int64_t left = 518 * 100; left > 13'000;) {
    const auto place = random.below(static_cast<int32_t>(expected.size()));
    left -= pods[expected[static_cast<size_t>(place)]].request_milli();
    expected.erase(expected.begin() + place);
  }
  EXPECT_EQ(make_arrivals(nodes, pods, 7, 1.3)->pods, expected);
}

TEST(Arrivals, AListOfAMillionIsThinnedOutWithoutMovingTheRestEachTime) {
  std::vector<OpenbPod> pods(1'000'000, {.name = "p", .gpus = 1, .gpu_milli = 1000});  // one by one: over a minute
  const auto arrivals = make_arrivals(some_nodes(1, 1), pods, 42, 1.3);
  EXPECT_EQ(arrivals->pods.size(), 1U);
}

TEST(Arrivals, TheSeedDecidesEverything) {
  const auto nodes = some_nodes(50, 8);
  const auto pods = some_pods(100, 1, 300);
  const auto one = make_arrivals(nodes, pods, 42, 1.3);
  const auto again = make_arrivals(nodes, pods, 42, 1.3);
  const auto other = make_arrivals(nodes, pods, 43, 1.3);
  EXPECT_EQ(one->pods, again->pods);
  EXPECT_EQ(one->node_order, again->node_order);
  EXPECT_NE(one->pods, other->pods);
  EXPECT_NE(one->node_order, other->node_order);
}

TEST(Arrivals, TheNodeOrderHoldsEveryNodeOnce) {
  const auto arrivals = make_arrivals(some_nodes(50, 8), some_pods(10, 1, 300), 42, 1.3);
  std::vector<uint32_t> order = arrivals->node_order;
  std::ranges::sort(order);
  for (uint32_t i = 0; i < 50; ++i) EXPECT_EQ(order[i], i);
}

TEST(Arrivals, AClusterOrAListWithoutGpusIsAnError) {
  EXPECT_THAT(make_arrivals(some_nodes(2, 0), some_pods(2, 1, 1000), 1, 1.3).error().message,
              ::testing::HasSubstr("no node"));
  EXPECT_THAT(make_arrivals(some_nodes(2, 8), some_pods(2, 0, 0), 1, 1.3).error().message,
              ::testing::HasSubstr("no pod"));
}

TEST(Arrivals, AListThatWouldNeverFillTheClusterIsAnError) {
  EXPECT_THAT(make_arrivals(some_nodes(2000, 64), some_pods(1, 1, 1), 1, 1.3).error().message,
              ::testing::HasSubstr("more than 10,000,000 pods"));
}

}  // namespace
}  // namespace weft::sim
