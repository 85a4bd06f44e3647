#include "policy/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace weft
