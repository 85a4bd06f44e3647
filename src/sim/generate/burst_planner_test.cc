#include "sim/generate/burst_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace weft::sim {
namespace {

std::vector<JobClass> two_classes(EndShares ends = {}) {
  return {{.gpu_milli = 1000, .share = 0.75, .run_time_s = LogNormal({5, 1.5, 1e5}), .ends = ends},
          {.gpu_milli = 64'000, .is_long = 1, .share = 0.25, .run_time_s = LogNormal({9, 1.5, 1e6}), .ends = ends}};
}

size_t jobs_in(std::span<const Burst> bursts) {
  size_t jobs = 0;
  for (const Burst& burst : bursts) jobs += burst.jobs.size();
  return jobs;
}

TEST(BurstPlanner, ABlockHasAsManyJobsAsAskedForAndOfEachClassItsShare) {
  const std::vector<JobClass> classes = two_classes();
  BurstPlanner planner(classes, 5);
  for (const uint64_t jobs : {1, 2, 3, 7, 100, 1001, 16'384}) {
    const std::span<const Burst> bursts = planner.plan(jobs);
    ASSERT_EQ(jobs_in(bursts), jobs);
    std::map<uint32_t, double> of_class;
    for (const Burst& burst : bursts) {
      ASSERT_FALSE(burst.jobs.empty());
      of_class[burst.class_index] += static_cast<double>(burst.jobs.size());
    }
    EXPECT_NEAR(of_class[1], 0.25 * static_cast<double>(jobs), 1) << jobs;
  }
}

TEST(BurstPlanner, RareClassesComeAsOftenAsTheyShould) {
  std::vector<JobClass> classes = two_classes();
  classes[0].share = 0.9999;
  classes[1].share = 0.0001;
  BurstPlanner planner(classes, 1);
  size_t rare = 0;
  constexpr size_t kBlocks = 5000;
  for (size_t i = 0; i < kBlocks; ++i) {
    for (const Burst& burst : planner.plan(1000)) rare += burst.class_index == 1 ? burst.jobs.size() : 0;
  }
  EXPECT_NEAR(static_cast<double>(rare), 0.1 * kBlocks, 60) << "one in ten blocks";
}

TEST(BurstPlanner, TheRunTimesOfAClassCoverItsLawEvenly) {
  const std::vector<JobClass> classes = two_classes({.failed = 0.3, .cancelled = 0.2});
  BurstPlanner planner(classes, 2);
  std::vector<double> times;
  for (const Burst& burst : planner.plan(4000)) {
    for (const PlannedJob& job : burst.jobs) {
      if (burst.class_index == 0) times.push_back(static_cast<double>(job.run_time_s));
    }
  }
  std::ranges::sort(times);
  ASSERT_EQ(times.size(), 3000U);
  for (size_t i = 0; i < times.size(); ++i) {
    const double lowest = classes[0].run_time_s.quantile((static_cast<double>(i) + 1e-9) / 3000);
    const double highest = classes[0].run_time_s.quantile((static_cast<double>(i) + 1 - 1e-9) / 3000);
    ASSERT_GE(times[i], std::max(1.0, lowest - 0.5));
    ASSERT_LE(times[i], std::max(1.0, highest + 0.5));
  }
}

TEST(BurstPlanner, JobsOfABurstAreAlikeButForThoseThatFail) {
  const std::vector<JobClass> classes = two_classes({.failed = 0.3, .cancelled = 0.1});
  BurstPlanner planner(classes, 3);
  const std::span<const Burst> bursts = planner.plan(BurstPlanner::kBlockJobs);
  size_t several = 0, alike = 0, failed = 0, earlier = 0, alone = 0;
  for (const Burst& burst : bursts) {
    int64_t low = INT64_MAX, high = 0;
    for (const PlannedJob& job : burst.jobs) {
      if (job.end == TraceEnd::kFailed) {
        ++failed;
        EXPECT_LE(static_cast<double>(job.run_time_s), burst.intended_s + 0.5);
        if (static_cast<double>(job.run_time_s) < 0.7 * burst.intended_s) ++earlier;
        continue;
      }
      low = std::min(low, job.run_time_s);
      high = std::max(high, job.run_time_s);
    }
    if (high > 0) {
      EXPECT_EQ(static_cast<double>(high), burst.intended_s);
    }
    if (burst.jobs.size() == 1) ++alone;
    if (high == 0 || burst.jobs.size() == 1) continue;
    ++several;
    if (static_cast<double>(high) <= 1.1 * static_cast<double>(low) + 2) ++alike;
  }
  EXPECT_GT(several, 1000U);
  EXPECT_GT(static_cast<double>(alike), 0.95 * static_cast<double>(several));
  EXPECT_NEAR(static_cast<double>(failed), 0.3 * 16'384, 250);
  EXPECT_GT(static_cast<double>(earlier), 0.6 * static_cast<double>(failed)) << "failed jobs end early";
  EXPECT_NEAR(static_cast<double>(alone) / 16'384, 0.27, 0.08) << "measured";
}

TEST(BurstPlanner, OfWhatIsUnderWayAShareIsLeft) {
  std::vector<JobClass> classes = two_classes();
  for (JobClass& each : classes) {
    each.is_under_way = 1;
    each.run_time_s = LogNormal({8, 0.1, 1e5});  // all nearly equal: 2,980 s
  }
  BurstPlanner planner(classes, 3);
  double sum = 0;
  int64_t least = INT64_MAX;
  for (const Burst& burst : planner.plan(10'000)) {
    for (const PlannedJob& job : burst.jobs) {
      sum += static_cast<double>(job.run_time_s);
      least = std::min(least, job.run_time_s);
    }
  }
  EXPECT_NEAR(sum / 10'000, 2980 * 1.005 / 2, 30);
  EXPECT_LT(least, 10);
}

}  // namespace
}  // namespace weft::sim
