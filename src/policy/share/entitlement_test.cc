#include "policy/share/entitlement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

using ::testing::ElementsAre;

constexpr double kWhole = kGpuUnits;

ResourceVector gpus(double count) { return {.gpu_units = static_cast<int64_t>(count * kWhole)}; }

/// A queue of a world in which only GPUs count.
struct GpuQueue {
  int32_t parent = -1;
  double guarantee = 0;
  double limit = -1;  ///< negative: none
  int64_t weight = 1;
  int32_t priority = 0;
  double demand = 0;
  int64_t usage_share = 0;
};

std::vector<QueueClaim> claims_of(const std::vector<GpuQueue>& queues) {
  std::vector<QueueClaim> claims;
  for (const GpuQueue& q : queues) {
    claims.push_back({.parent = q.parent,
                      .guarantee = gpus(q.guarantee),
                      .limit = q.limit < 0 ? kUnlimitedResources : gpus(q.limit),
                      .weight_milli = q.weight * 1000,
                      .priority = q.priority,
                      .demand = gpus(q.demand),
                      .usage_share = q.usage_share});
  }
  return claims;
}

/// GPUs that each queue is entitled to.
std::vector<double> entitled(double capacity, const std::vector<GpuQueue>& queues, int64_t history_weight_milli = 0) {
  Entitlements entitlements;
  entitlements.compute(claims_of(queues), gpus(capacity), history_weight_milli);
  std::vector<double> each;
  for (size_t q = 0; q < entitlements.size(); ++q) {
    each.push_back(static_cast<double>(entitlements.of(q).gpu_units) / kWhole);
  }
  return each;
}

TEST(Entitlement, SurplusGoesByWeightAndWhatOneCannotUseGoesOn) {
  EXPECT_THAT(entitled(9, {{.guarantee = 3, .weight = 2, .demand = 5},
                           {.guarantee = 3, .demand = 6},
                           {.guarantee = 3, .demand = 0}}),
              ElementsAre(5, 4, 0));
  EXPECT_THAT(entitled(10, {{.guarantee = 2, .weight = 1, .demand = 8}, {.guarantee = 2, .weight = 2, .demand = 6}}),
              ElementsAre(4, 6));
}

TEST(Entitlement, NeedNotBeWhole) {
  EXPECT_THAT(entitled(9, {{.guarantee = 3, .demand = 5}, {.guarantee = 3, .demand = 5}, {.guarantee = 3}}),
              ElementsAre(4.5, 4.5, 0));
}

TEST(Entitlement, AGuaranteeComesBeforeAllSurplus) {
  EXPECT_THAT(entitled(8, {{.guarantee = 4, .demand = 2}, {.guarantee = 4, .demand = 8}}), ElementsAre(2, 6));
  EXPECT_THAT(entitled(2, {{.weight = 0, .demand = 2}, {.guarantee = 2, .demand = 2}}), ElementsAre(0, 2));
  EXPECT_THAT(entitled(4, {{.weight = 0, .demand = 2},
                           {.guarantee = 1, .weight = 0, .demand = 2},
                           {.guarantee = 3, .weight = 0, .demand = 3}}),
              ElementsAre(0, 1, 3));
}

TEST(Entitlement, GuaranteesOnTwoLevels) {
  // dept, its only team, a guest without guarantee, and an owner
  EXPECT_THAT(entitled(5, {{.guarantee = 3}, {.parent = 0, .demand = 1}, {.demand = 3}, {.guarantee = 2, .demand = 2}}),
              ElementsAre(1, 1, 2, 2));
  // north and south, red below north, blue and green below south
  EXPECT_THAT(entitled(6, {{.guarantee = 3},
                           {.guarantee = 3},
                           {.parent = 0, .guarantee = 3, .weight = 0, .demand = 3},
                           {.parent = 1, .guarantee = 2, .weight = 0, .demand = 3},
                           {.parent = 1, .guarantee = 1, .weight = 0, .demand = 1}}),
              ElementsAre(3, 3, 3, 2, 1));
  // a family without guarantee gets nothing where another's takes all, whatever its child was promised
  EXPECT_THAT(entitled(4, {{},
                           {.guarantee = 4},
                           {.parent = 0, .guarantee = 1, .demand = 2},
                           {.parent = 1, .weight = 0, .demand = 2},
                           {.parent = 1, .guarantee = 4, .weight = 4, .demand = 4}}),
              ElementsAre(0, 4, 0, 0, 4));
}

TEST(Entitlement, TheLimitOfAnAncestorBinds) {
  EXPECT_THAT(entitled(20, {{.guarantee = 10, .limit = 10},
                            {.parent = 0, .guarantee = 5, .demand = 10},
                            {.parent = 0, .guarantee = 5, .demand = 5}}),
              ElementsAre(10, 5, 5));
  EXPECT_THAT(entitled(20, {{.limit = 6}, {.parent = 0, .limit = 1, .demand = 9}, {.parent = 0, .demand = 9}}),
              ElementsAre(6, 1, 5));
}

TEST(Entitlement, GuaranteesBeyondTheCapacityAreScaledBeforeTheyAreCutToDemand) {
  EXPECT_THAT(entitled(2, {{.guarantee = 2, .demand = 2}, {.guarantee = 2, .demand = 2}}), ElementsAre(1, 1));
  // 6 and 3 of 6 are 4 and 2. The one that uses only 1 of its 4 leaves 3, for which all are alike.
  EXPECT_THAT(entitled(6, {{.guarantee = 6, .demand = 1}, {.guarantee = 3, .demand = 9}, {.demand = 9}}),
              ElementsAre(1, 3.5, 1.5));
}

TEST(Entitlement, GuaranteesBeyondTheParentsAreScaledToIt) {
  EXPECT_THAT(entitled(12, {{.guarantee = 6, .weight = 0},
                            {.parent = 0, .guarantee = 8, .demand = 9},
                            {.parent = 0, .guarantee = 4, .demand = 9},
                            {.demand = 9}}),
              ElementsAre(6, 4, 2, 6));
  // also when it has more: the two are guaranteed 2 and 1 of its 3, and share the other 3
  EXPECT_THAT(entitled(9, {{.guarantee = 3},
                           {.parent = 0, .guarantee = 4, .demand = 9},
                           {.parent = 0, .guarantee = 2, .demand = 9},
                           {.demand = 9}}),
              ElementsAre(6, 3.5, 2.5, 3));
  // half of the capacity is lost: all levels are scaled
  EXPECT_THAT(entitled(6, {{.guarantee = 8},
                           {.guarantee = 4, .demand = 4},
                           {.parent = 0, .guarantee = 6, .demand = 6},
                           {.parent = 0, .guarantee = 2, .demand = 6}}),
              ElementsAre(4, 2, 3, 1));
  // a parent's guarantee counts as scaled: 4 of its 8, to which one unit of surplus comes
  EXPECT_THAT(entitled(6, {{.guarantee = 8},
                           {.guarantee = 4, .demand = 1},
                           {.parent = 0, .guarantee = 6, .demand = 9},
                           {.parent = 0, .guarantee = 2, .demand = 9}}),
              ElementsAre(5, 1, 3.5, 1.5));
}

TEST(Entitlement, AParentThatNamesNoGuaranteeScalesNothingByItself) {
  // it has 4 of the surplus: enough for the guarantee of its first child
  EXPECT_THAT(entitled(8, {{}, {.demand = 9}, {.parent = 0, .guarantee = 3, .demand = 9}, {.parent = 0, .demand = 9}}),
              ElementsAre(4, 4, 3.5, 0.5));
  // and not enough for those of both: divided in proportion
  EXPECT_THAT(
      entitled(
          8,
          {{}, {.demand = 9}, {.parent = 0, .guarantee = 2, .demand = 9}, {.parent = 0, .guarantee = 6, .demand = 9}}),
      ElementsAre(4, 4, 1, 3));
  // what its children need decides what it has, which is not to cut their guarantees
  EXPECT_THAT(entitled(9, {{},
                           {.parent = 0, .guarantee = 2, .weight = 0, .demand = 2},
                           {.parent = 0, .guarantee = 2, .weight = 0, .demand = 1}}),
              ElementsAre(3, 2, 1));
}

TEST(Entitlement, AnUnlimitedGuaranteeClaimsNothing) {
  std::vector<QueueClaim> queues = claims_of({{.demand = 8}, {.guarantee = 6, .weight = 0, .demand = 8}});
  queues[0].guarantee = kUnlimitedResources;
  Entitlements entitlements;
  entitlements.compute(queues, gpus(8));
  EXPECT_EQ(entitlements.of(0), gpus(2));
  EXPECT_EQ(entitlements.of(1), gpus(6));
}

TEST(Entitlement, LargerPriorityTakesOfTheSurplusFirst) {
  EXPECT_THAT(entitled(10, {{.guarantee = 2, .weight = 9, .demand = 9},
                            {.priority = 2, .demand = 4},
                            {.priority = 1, .demand = 3},
                            {.weight = 1, .demand = 9}}),
              ElementsAre(2.9, 4, 3, 0.1));
}

TEST(Entitlement, WithoutWeightThereIsNoClaimOnTheSurplus) {
  EXPECT_THAT(entitled(9, {{.weight = 0, .demand = 9}, {.guarantee = 1, .weight = 0, .demand = 9}, {.demand = 2}}),
              ElementsAre(0, 1, 2));
}

TEST(Entitlement, ResourcesAreDividedOneByOne) {
  // 8 CPUs and 30 GiB; both queues are guaranteed 1.5 CPUs and 15 GiB
  const ResourceVector guarantee{.cpu_milli = 1500, .memory_bytes = 15 * kGiB};
  const std::vector<QueueClaim> queues{
      {.guarantee = guarantee, .demand = {.cpu_milli = 2000, .memory_bytes = 45 * kGiB / 2}},
      {.guarantee = guarantee, .demand = {.cpu_milli = 200, .memory_bytes = 15 * kGiB}}};
  Entitlements entitlements;
  entitlements.compute(queues, {.cpu_milli = 8000, .memory_bytes = 30 * kGiB});
  EXPECT_EQ(entitlements.of(0), (ResourceVector{.cpu_milli = 2000, .memory_bytes = 15 * kGiB}));
  EXPECT_EQ(entitlements.of(1), (ResourceVector{.cpu_milli = 200, .memory_bytes = 15 * kGiB}));
}

TEST(Entitlement, LeftoverUnitsGoInTheOrderOfTheQueues) {
  const QueueClaim queue{.demand = {.gpu_units = 5}};
  Entitlements entitlements;
  entitlements.compute(std::vector<QueueClaim>(3, queue), {.gpu_units = 5});
  EXPECT_EQ(entitlements.of(0).gpu_units, 2);
  EXPECT_EQ(entitlements.of(1).gpu_units, 2);
  EXPECT_EQ(entitlements.of(2).gpu_units, 1);
}

TEST(Entitlement, HistoryShiftsTheSurplusOnly) {
  // Both have half of the weights, a had 3/4 of the past: 1/2 + 1 (1/2 - 3/4) = 1/4 against 3/4.
  const std::vector<GpuQueue> queues{{.guarantee = 4, .demand = 20, .usage_share = kShareOne * 3 / 4},
                                     {.demand = 20, .usage_share = kShareOne / 4}};
  EXPECT_THAT(entitled(12, queues, 1000), ElementsAre(6, 6));
  EXPECT_THAT(entitled(12, queues, 0), ElementsAre(8, 4));
}

TEST(Entitlement, WhoHasUsedAllOfThePastGetsWhatTheOthersLeave) {
  const std::vector<double> each =
      entitled(8, {{.demand = 8, .usage_share = kShareOne}, {.demand = 3}, {.priority = -1, .demand = 8}}, 1000);
  EXPECT_THAT(each, ElementsAre(5, 3, 0));
  EXPECT_THAT(entitled(8, {{.demand = 8, .usage_share = kShareOne}, {.demand = 8}}, 1000), ElementsAre(0, 8));
}

TEST(Entitlement, ComputesAnewEachTime) {
  Entitlements entitlements;
  entitlements.compute(claims_of({{.demand = 3}, {.demand = 3}, {.demand = 3}}), gpus(3));
  entitlements.compute(claims_of({{}, {.parent = 0, .demand = 9}}), gpus(4));
  ASSERT_EQ(entitlements.size(), 2U);
  EXPECT_EQ(entitlements.of(0), gpus(4));
  EXPECT_EQ(entitlements.of(1), gpus(4));
  entitlements.compute({}, gpus(4));
  EXPECT_EQ(entitlements.size(), 0U);
}

TEST(Entitlement, SharesArePartsOfTheWhole) {
  EXPECT_EQ(share_of(1, 4), kShareOne / 4);
  EXPECT_EQ(share_of(0, 0), 0);
  EXPECT_EQ(share_of(int64_t{1} << 61, int64_t{1} << 62), kShareOne / 2);
}

TEST(Entitlement, AParentMustComeBeforeItsChildren) {
  Entitlements entitlements;
  EXPECT_DEATH(entitlements.compute(claims_of({{.parent = 1}, {}}), gpus(1)), "parents come before");
}

}  // namespace
}  // namespace weft
