#include "sim/report/run_metrics.h"

#include "sim/report/run_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace weft::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<RunGroup>& groups) {
  std::vector<std::string> names;
  for (const RunGroup& group : groups) names.push_back(group.name);
  return names;
}

TEST(RunMetrics, AValueAtAPercentIsThePublishedSimulatorsOne) {
  std::vector<double> ten{9, 0, 8, 1, 7, 2, 6, 3, 5, 4};
  const Distribution d = distribution_of(ten);
  EXPECT_EQ(d.count, 10U);
  EXPECT_DOUBLE_EQ(d.mean, 4.5);
  EXPECT_EQ(d.median, 5) << "the upper one of the two in the middle";
  EXPECT_EQ(d.p90, 9) << "place 9 of 0 to 9, where the nearest rank would be 8";
  EXPECT_EQ(d.p95, 9);
  EXPECT_EQ(d.p99, 9);
  EXPECT_EQ(d.max, 9);
  std::vector<Duration> hundred;
  for (int64_t i = 100; i > 0; --i) hundred.push_back(seconds(i));
  EXPECT_EQ(distribution_of(hundred).p99, 100) << "29, 57 and 58 % of 100 are no whole numbers in doubles; 99 must be";
  EXPECT_EQ(distribution_of(hundred).p95, 96);
}

TEST(RunMetrics, NothingHasNoDistribution) {
  const Distribution d = distribution_of(std::vector<double>{});
  EXPECT_EQ(d.count, 0U);
  EXPECT_TRUE(std::isnan(d.mean) && std::isnan(d.median) && std::isnan(d.max));
}

TEST(RunMetrics, AMeanOfManyYearsDoesNotOverflow) {
  const Duration year = hours(24 * 365);
  EXPECT_DOUBLE_EQ(distribution_of(std::vector<Duration>(1000, year)).mean, year.seconds());
  EXPECT_DOUBLE_EQ(distribution_of({year + milliseconds(250), milliseconds(500)}).mean, year.seconds() / 2 + 0.375);
}

TEST(RunMetrics, TimesAreThoseOfTheJobsThatRanToAnEnd) {
  const RunMetrics metrics = measure(small_outcome());
  const RunGroup& all = metrics.all;
  EXPECT_EQ(all.jobs, 4U);
  EXPECT_EQ(all.jct.count, 3U) << "one was rejected";
  EXPECT_DOUBLE_EQ(all.jct.mean, 290.0 / 3);
  EXPECT_EQ(all.jct.median, 100);
  EXPECT_EQ(all.jct.max, 110);
  EXPECT_DOUBLE_EQ(all.waited.mean, 110.0 / 3);
  EXPECT_EQ(all.waited.median, 20) << "what it waited for after it was preempted counts too";
  EXPECT_DOUBLE_EQ(all.slowdown.mean, (1 + 80.0 / 60 + 110.0 / 20) / 3);
  EXPECT_EQ(all.preempts, 1);
  EXPECT_DOUBLE_EQ(all.gpu_seconds, 400);
  EXPECT_DOUBLE_EQ(all.lost_gpu_seconds, 10);
  EXPECT_EQ(metrics.makespan, 120);
  EXPECT_DOUBLE_EQ(metrics.utilization, 400.0 / 480);
  EXPECT_EQ(metrics.done, 3U);
  EXPECT_EQ(metrics.rejected, 1U);
}

TEST(RunMetrics, ASlowdownIsBoundedForShortJobs) {
  JobOutcome job{.id = "j", .user = {}, .queue = {}, .submit = {}, .why = {}};
  job.start = Instant{} + seconds(59);
  job.end = Instant{} + seconds(60);
  job.run_time = job.executed = seconds(1);
  EXPECT_DOUBLE_EQ(bounded_slowdown(job), 6) << "60 s over the bound of 10 s";
  job.end = Instant{} + seconds(2);
  EXPECT_DOUBLE_EQ(bounded_slowdown(job), 1) << "never below";
  job.run_time = Duration{0};
  job.executed = seconds(20);
  job.end = Instant{} + seconds(80);
  EXPECT_DOUBLE_EQ(bounded_slowdown(job), 4) << "a trace without run times: what it ran";
}

TEST(RunMetrics, TheClusterIsMeasuredByTime) {
  const RunOccupancy occupancy = measure(small_outcome()).occupancy;
  EXPECT_DOUBLE_EQ(occupancy.allocation_mean, 400.0 / 480);
  EXPECT_DOUBLE_EQ(occupancy.allocation_max, 1);
  EXPECT_DOUBLE_EQ(occupancy.fragment_mean, 60.0 / 480);
  EXPECT_DOUBLE_EQ(occupancy.fragment_free_mean, 0.75) << "half of the free for 20 s, all of it for 20 s";
  EXPECT_DOUBLE_EQ(occupancy.pending_mean, 100.0 / 120);
  EXPECT_DOUBLE_EQ(occupancy.pending_max, 2);
  EXPECT_DOUBLE_EQ(occupancy.pending_gpus_mean, 3);
  EXPECT_DOUBLE_EQ(occupancy.running_mean, (2 * 20 + 20 + 2 * 40 + 20 + 20) / 120.0);
}

TEST(RunMetrics, FragmentsThatNobodyMeasuredAreUnknown) {
  RunOutcome outcome = small_outcome();
  for (RunSample& sample : outcome.samples) sample.fragment_gpu_milli = RunSample{}.fragment_gpu_milli;
  const RunOccupancy occupancy = measure(outcome).occupancy;
  EXPECT_TRUE(std::isnan(occupancy.fragment_mean) && std::isnan(occupancy.fragment_free_mean));
  EXPECT_DOUBLE_EQ(occupancy.allocation_mean, 400.0 / 480);
}

TEST(RunMetrics, FairnessComparesWithAShareOfOnesOwn) {
  const RunFairness fairness = measure(small_outcome()).fairness;
  EXPECT_EQ(fairness.kind, FairParties::kUsers);
  EXPECT_EQ(fairness.parties, 2U);
  // Alone on two GPUs `a` would take 100 s as it did, `c` would end at 140, and `b` would take 60 s.
  EXPECT_EQ(fairness.finish_time_ratio.count, 3U);
  EXPECT_DOUBLE_EQ(fairness.finish_time_ratio.mean, (1 + 110.0 / 130 + 80.0 / 60) / 3);
  EXPECT_DOUBLE_EQ(fairness.finish_time_ratio.max, 80.0 / 60);
  EXPECT_DOUBLE_EQ(fairness.share_above_one, 1.0 / 3);
  const double c = 20.0 / 110;
  EXPECT_DOUBLE_EQ(fairness.jain_jobs, (1.75 + c) * (1.75 + c) / (3 * (1 + 0.5625 + c * c)));
  const double ann = (1 + c) / 2;
  EXPECT_DOUBLE_EQ(fairness.jain_parties, (ann + 0.75) * (ann + 0.75) / (2 * (ann * ann + 0.5625)));
}

TEST(RunMetrics, AJobSmallerThanItsShareIsNotFasterThanItsRunTime) {
  RunOutcome outcome = small_outcome();
  outcome.jobs.resize(2);
  outcome.jobs[0].gpus = 1;
  outcome.jobs[0].gpu_milli = 1000;
  const RunFairness fairness = measure(outcome).fairness;
  EXPECT_DOUBLE_EQ(fairness.finish_time_ratio.max, 80.0 / 60) << "`a` takes its run time: its ratio stays 1";
  EXPECT_DOUBLE_EQ(fairness.finish_time_ratio.mean, (1 + 80.0 / 60) / 2);
}

TEST(RunMetrics, ARejectedJobTakesNothingOfItsOwnersShare) {
  RunOutcome outcome = small_outcome();
  std::ranges::rotate(outcome.jobs, outcome.jobs.end() - 1);
  outcome.jobs.front().submit = Instant{};
  EXPECT_DOUBLE_EQ(measure(outcome).fairness.finish_time_ratio.max, 80.0 / 60);
}

TEST(RunMetrics, QueuesShareTheClusterWhereNoUserIsNamed) {
  RunOutcome outcome = small_outcome();
  for (JobOutcome& job : outcome.jobs) {
    job.queue = std::exchange(job.user, "");
  }
  const RunMetrics metrics = measure(outcome);
  EXPECT_EQ(metrics.fairness.kind, FairParties::kQueues);
  EXPECT_DOUBLE_EQ(metrics.fairness.finish_time_ratio.max, 80.0 / 60);
  EXPECT_THAT(metrics.by_user, IsEmpty());
  EXPECT_THAT(names_of(metrics.by_queue), ElementsAre("ann", "bob"));
  for (JobOutcome& job : outcome.jobs) job.queue = "";
  const RunFairness nobody = measure(outcome).fairness;
  EXPECT_EQ(nobody.kind, FairParties::kNone);
  EXPECT_EQ(nobody.finish_time_ratio.count, 0U);
  EXPECT_TRUE(std::isnan(nobody.jain_parties));
  EXPECT_GT(nobody.jain_jobs, 0);
}

TEST(RunMetrics, JainsIndexIsOneForEqualSharesAndOneOfNForTheWinner) {
  EXPECT_DOUBLE_EQ(jain_index({2, 2, 2, 2}), 1);
  EXPECT_DOUBLE_EQ(jain_index({0, 0, 5, 0}), 0.25);
  EXPECT_TRUE(std::isnan(jain_index({})));
}

TEST(RunMetrics, GroupsStandByGpuTimeAndSizesInOrder) {
  const RunMetrics metrics = measure(small_outcome());
  ASSERT_THAT(names_of(metrics.by_user), ElementsAre("ann", "bob"));
  EXPECT_DOUBLE_EQ(metrics.by_user[0].gpu_seconds, 280);
  EXPECT_DOUBLE_EQ(metrics.by_user[0].jct.mean, 105);
  EXPECT_EQ(metrics.by_user[1].jobs, 2U);
  EXPECT_EQ(metrics.by_user[1].preempts, 1);
  EXPECT_THAT(metrics.by_queue, IsEmpty()) << "the trace names none";
  ASSERT_THAT(names_of(metrics.by_size), ElementsAre("1", "2-4"));
  EXPECT_EQ(metrics.by_size[1].jct.count, 3U);
}

TEST(RunMetrics, OfManyUsersOnlyTheLargestAreListed) {
  RunOutcome outcome = small_outcome();
  for (int i = 0; i < 40; ++i) {
    JobOutcome& job = outcome.jobs.emplace_back(outcome.jobs[0]);
    job.user = "user" + std::to_string(i);
    job.executed = seconds(1000 + i);
  }
  const RunMetrics metrics = measure(outcome);
  ASSERT_EQ(metrics.by_user.size(), kGroupsMax);
  EXPECT_EQ(metrics.users_left_out, 42 - kGroupsMax);
  EXPECT_EQ(metrics.by_user.front().name, "user39");
}

TEST(RunMetrics, SizesFallIntoClasses) {
  const std::vector<std::pair<int32_t, std::string_view>> cases{{0, "1"},      {1, "1"},      {2, "2-4"},  {4, "2-4"},
                                                                {5, "5-8"},    {8, "5-8"},    {9, "9-16"}, {16, "9-16"},
                                                                {17, "17-64"}, {64, "17-64"}, {65, ">64"}};
  for (const auto& [gpus, name] : cases) EXPECT_EQ(size_class_name(size_class(gpus)), name) << gpus;
}

TEST(RunMetrics, WhatStillRanWhenTheSimulationStoppedHasUsedTheClusterToo) {
  RunOutcome outcome = small_outcome();
  JobOutcome& cut = outcome.jobs[2];
  cut.end = kNever;
  cut.how = JobEnd::kUnfinished;
  const RunMetrics metrics = measure(outcome);
  EXPECT_EQ(metrics.unfinished, 1U);
  EXPECT_EQ(metrics.makespan, 100) << "of the jobs that ended";
  EXPECT_DOUBLE_EQ(metrics.utilization, 400.0 / 480) << "up to the last sample";
}

TEST(RunMetrics, AnEmptyRunIsUnknownAndNoBug) {
  const RunMetrics metrics = measure(RunOutcome{});
  EXPECT_EQ(metrics.all.jobs, 0U);
  EXPECT_TRUE(std::isnan(metrics.makespan) && std::isnan(metrics.utilization));
  EXPECT_THAT(metrics.by_size, IsEmpty());
}

}  // namespace
}  // namespace weft::sim
