#include "policy/registry.h"

#include "base/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace weft {
namespace {

using ::testing::HasSubstr;

TEST(PolicyRegistry, EveryNameMakesThePolicyOfThatName) {
  for (const std::string_view name : node_score_names()) {
    const auto score = make_node_score(name);
    ASSERT_TRUE(score) << name;
    EXPECT_EQ((*score)->name(), name);
  }
  for (const std::string_view name : job_order_names()) {
    const auto order = make_job_order(name);
    ASSERT_TRUE(order) << name;
    EXPECT_EQ((*order)->name(), name);
  }
}

TEST(PolicyRegistry, AnUnknownNameIsRefusedWithTheNearestAndAllKnownOnes) {
  const auto score = make_node_score("clusterring");
  ASSERT_FALSE(score);
  EXPECT_EQ(score.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(score.error().message,
              HasSubstr("there is no node score 'clusterring' (did you mean 'clustering'?); known are pack, spread"));
  EXPECT_THAT(make_job_order("zzzzzz").error().message,
              HasSubstr("there is no job order 'zzzzzz'; known are fifo, priority"));
  EXPECT_FALSE(make_node_score(""));
}

TEST(JobOrders, PriorityPutsLargerFirstAndFifoRanksAllAlike) {
  Shape low, high;
  low.priority = 50;
  high.priority = 125;
  const auto priority = make_job_order("priority");
  const auto fifo = make_job_order("fifo");
  EXPECT_LT((*priority)->rank({.shape = &high}), (*priority)->rank({.shape = &low}));
  EXPECT_EQ((*fifo)->rank({.shape = &high}), (*fifo)->rank({.shape = &low}));
}

/// Any order that says so, with any rule for looks: at every instant before the look, the last of all, a job ranks as
/// it did and does not sink.
TEST(JobOrders, WhoIsSaidToStayAsItIsUntilItsLookDoes) {
  Rng rng(11);
  std::vector<Duration> past;
  for (int i = 0; i < 200; ++i) past.push_back(seconds(rng.between(1, 20'000)));
  size_t steady_count = 0;
  for (const LevelLooks looks : {LevelLooks::kExact, LevelLooks::kFloorOfEach, LevelLooks::kCeilAtStart}) {
    for (const std::string_view name : job_order_names()) {
      const auto order = make_job_order(name, {.looks = looks, .history = past});
      ASSERT_TRUE(order) << name;
      for (int trial = 0; trial < 500; ++trial) {
        const Shape shape;
        const Instant now{rng.between(0, 1'000'000'000'000)};
        JobKey key{.shape = &shape,
                   .executed = Duration{rng.between(0, seconds(9000).ns)},
                   .gpu_milli = rng.between(0, 1) != 0 ? rng.between(0, 8) * 1000 : rng.between(1, 999)};
        while ((*order)->sinks(key)) ++key.level;
        if (!(*order)->is_steady_until_look(key)) continue;
        ++steady_count;
        const Instant look = (*order)->next_look(key, now);
        const Instant end = std::min(look, now + seconds(1'000'000));
        for (const Instant at : {now + Duration{rng.between(0, (end - now).ns - 1)}, end - Duration{1}}) {
          JobKey then = key;
          then.executed = key.executed + (at - now);
          EXPECT_FALSE((*order)->sinks(then)) << name << ' ' << trial;
          EXPECT_EQ((*order)->rank(then), (*order)->rank(key)) << name << ' ' << trial;
        }
      }
    }
  }
  EXPECT_GE(steady_count, 700U) << "las, and of 2d-las those with whole GPUs, where looks are exact";
}

}  // namespace
}  // namespace weft
