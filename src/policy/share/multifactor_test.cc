#include "policy/share/multifactor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace weft {
namespace {

double value(const Factor& factor) { return static_cast<double>(factor.part) / static_cast<double>(factor.whole); }

/// What sprio printed for a job of 2 nodes of 4, 8 CPUs of 256 and 16 GPUs of 32 that had just come.
TEST(Multifactor, GivesWhatSlurmPrints) {
  const std::vector<WeightedFactor> terms{
      {.weight = 1000, .factor = age_factor({0}, hours(168))},
      {.weight = 100'000, .factor = {.part = 5, .whole = 5}},  // fairshare
      {.weight = 1000,
       .factor = job_size_factor({.nodes = 2, .nodes_total = 4, .cpus = 8, .cpus_total = 256}, JobSizeFavors::kLarge)},
      {.weight = 1000, .factor = ranked_factor(1, 1)},       // partition
      {.weight = 10'000, .factor = ranked_factor(10, 100)},  // QOS
      {.weight = 100, .factor = {.part = 8, .whole = 256}},  // CPUs
      {.weight = 2000, .factor = {.part = 16, .whole = 32}}  // GPUs
  };
  EXPECT_EQ(multifactor_priority(terms), 103'268);  // 265.625 + 3.125 and whole numbers
}

TEST(Multifactor, RoundsTheSumAndNotItsParts) {
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>{{1, {1, 2}}, {1, {1, 2}}, {1, {3, 4}}}), 1);
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>{{1, {1, 2}}, {1, {1, 2}}, {1, {1, 1}}}), 2);
}

TEST(Multifactor, AWholeSumOfThirdsAndSeventhsIsWhole) {
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>(3, {1'000'000, {1, 3}})), 1'000'000);
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>(7, {1'000'000, {1, 7}})), 1'000'000);
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>(7, {1'000'000, {1, 7}}), -1), 999'999);
}

TEST(Multifactor, StaysBetweenOneAndThirtyTwoBits) {
  EXPECT_EQ(multifactor_priority({}), 1);
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>{{1000, {1, 1}}}, -5000), 1);
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>{{1000, {1, 1}}}, -10), 990);
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>{{1000, {1, 1}}}, 10), 1010);
  EXPECT_EQ(multifactor_priority(std::vector<WeightedFactor>(100, {kFactorWeightMax, {1, 1}})), 4'294'967'295);
}

RC_GTEST_PROP(Multifactor, IsExactOverOneDenominator, ()) {
  const auto whole = *rc::gen::inRange<int64_t>(1, 1'000'000'000);
  int64_t sum = 0;
  std::vector<WeightedFactor> terms;
  for (int term = *rc::gen::inRange(0, 8); term > 0; --term) {
    const auto weight = *rc::gen::inRange<int64_t>(0, 100'000);
    const auto part = *rc::gen::inRange<int64_t>(0, whole + 1);
    terms.push_back({weight, {part, whole}});
    sum += weight * part;
  }
  RC_ASSERT(multifactor_priority(terms, 1) == sum / whole + 1);
}

TEST(Multifactor, AgeGrowsToOne) {
  EXPECT_EQ(value(age_factor(hours(42), hours(168))), 0.25);
  EXPECT_EQ(value(age_factor(hours(168), hours(168))), 1);
  EXPECT_EQ(value(age_factor(hours(1000), hours(168))), 1);
  EXPECT_EQ(value(age_factor(hours(-1), hours(168))), 0);
}

TEST(Multifactor, RanksArePartsOfTheLargest) {
  EXPECT_EQ(value(ranked_factor(10, 100)), 0.1);
  EXPECT_EQ(value(ranked_factor(0, 0)), 0);
}

TEST(Multifactor, SizeIsTheMeanOfNodesAndCpus) {
  const JobSize size{.nodes = 2, .nodes_total = 4, .cpus = 8, .cpus_total = 256};
  EXPECT_EQ(value(job_size_factor(size, JobSizeFavors::kLarge)), 0.265625);
  EXPECT_EQ(value(job_size_factor(size, JobSizeFavors::kSmall)), 0.734375);
  const JobSize nodes_only{.nodes = 1, .nodes_total = 4};
  EXPECT_EQ(value(job_size_factor(nodes_only, JobSizeFavors::kLarge)), 0.25);
  EXPECT_EQ(value(job_size_factor(nodes_only, JobSizeFavors::kSmall)), 0.75);
  const JobSize too_large{.nodes = 9, .nodes_total = 4, .cpus = 900, .cpus_total = 256};
  EXPECT_EQ(value(job_size_factor(too_large, JobSizeFavors::kLarge)), 1);
  EXPECT_EQ(value(job_size_factor(too_large, JobSizeFavors::kSmall)), 0);
}

}  // namespace
}  // namespace weft
