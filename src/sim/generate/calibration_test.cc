#include "sim/generate/calibration.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

bool any_size(int32_t /*gpu_milli*/) { return true; }

/// A sum over the classes.
template <typename Function>
double sum(const CalibratedWorkload& workload, const Function& of) {
  double total = 0;
  for (const JobClass& each : workload.classes) total += of(each);
  return total;
}

TEST(Calibration, EveryProfileHasItsPublishedFigures) {
  for (const WorkloadProfile& profile : workload_profiles()) {
    SCOPED_TRACE(profile.name);
    const CalibratedWorkload workload = calibrate(profile, any_size);
    EXPECT_EQ(workload.left_out, 0);
    EXPECT_NEAR(sum(workload, [](const JobClass& of) { return of.share; }), 1, 1e-9);
    const double run_time = sum(workload, [](const JobClass& of) { return of.share * of.run_time_s.mean(); });
    EXPECT_NEAR(run_time / profile.run_time_mean_s, 1, 1e-6);
    EXPECT_NEAR(workload.run_time_mean_s, run_time, 1e-6);
    EXPECT_NEAR(
        sum(workload,
            [&](const JobClass& of) { return of.share * of.run_time_s.share_below(profile.run_time_median_s); }),
        0.5, 1e-6);
    EXPECT_NEAR(sum(workload, [](const JobClass& of) { return of.share * of.gpus(); }) / profile.gpus_mean, 1, 1e-9);
    const auto gpu_time = [](const JobClass& of) { return of.share * of.gpus() * of.run_time_s.mean(); };
    const double all = sum(workload, gpu_time);
    EXPECT_NEAR(workload.gpu_time_mean_s, all, all * 1e-9);
    const double published =
        profile.gpu_time_mean_s > 0 ? profile.gpu_time_mean_s : profile.run_time_mean_s * profile.gpus_mean;
    EXPECT_NEAR(all / published, 1, 1e-6);
    for (const auto part : {&EndShares::failed, &EndShares::cancelled}) {
      EXPECT_NEAR(sum(workload, [&](const JobClass& of) { return of.share * of.ends.*part; }),
                  profile.ends_of_jobs.*part, 1e-6);
      EXPECT_NEAR(sum(workload, [&](const JobClass& of) { return gpu_time(of) * of.ends.*part; }) / all,
                  profile.ends_of_gpu_time.*part, 1e-6);
    }
  }
}

TEST(Calibration, HalfOfTheJobsAskForTheCommonestSizeOrLess) {
  for (const WorkloadProfile& profile : workload_profiles()) {  // the published median
    const CalibratedWorkload workload = calibrate(profile, any_size);
    const auto share_of = [&](int32_t most) {
      return sum(workload, [&](const JobClass& of) { return of.gpu_milli <= most ? of.share : 0; });
    };
    EXPECT_GE(share_of(profile.common_gpu_milli), 0.5) << profile.name;
    EXPECT_LT(share_of(profile.common_gpu_milli - 1), 0.5) << profile.name;
  }
}

TEST(Calibration, LargeJobsAreMoreOftenLong) {
  const CalibratedWorkload workload = calibrate(*find_profile("seren"), any_size);
  double before = 0;
  for (size_t i = 0; i < workload.classes.size(); i += 2) {
    const JobClass& of_short = workload.classes[i];
    const JobClass& of_long = workload.classes[i + 1];
    ASSERT_EQ(of_short.gpu_milli, of_long.gpu_milli);
    const double long_share = of_long.share / (of_short.share + of_long.share);
    EXPECT_GT(long_share, before) << of_long.gpu_milli;
    before = long_share;
  }
  EXPECT_GT(before, 0.5);
}

TEST(Calibration, SizesThatDoNotFitGoToThoseThatDo) {
  const WorkloadProfile& philly = *find_profile("philly");
  const CalibratedWorkload workload = calibrate(philly, [](int32_t gpu_milli) { return gpu_milli <= 8000; });
  EXPECT_NEAR(sum(workload, [](const JobClass& of) { return of.share; }), 1, 1e-9);
  for (const JobClass& each : workload.classes) EXPECT_LE(each.gpu_milli, 8000);
  EXPECT_NEAR(workload.left_out, 0.0108, 0.001);
  EXPECT_LT(workload.gpus_mean, philly.gpus_mean);
  EXPECT_LT(workload.gpu_time_mean_s, philly.gpu_time_mean_s);
}

TEST(Calibration, WhatIsUnderWayIsOfLongJobsFirstOfAll) {
  const CalibratedWorkload workload = calibrate(*find_profile("philly"), any_size);
  const std::vector<JobClass> classes = under_way(workload);
  double all = 0;
  double of_long = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    EXPECT_EQ(classes[i].is_under_way, 1);
    EXPECT_NEAR(classes[i].share,
                workload.classes[i].share * workload.classes[i].run_time_s.mean() / workload.run_time_mean_s, 1e-12);
    all += classes[i].share;
    if (classes[i].is_long != 0) of_long += classes[i].share;
  }
  EXPECT_NEAR(all, 1, 1e-9);
  EXPECT_GT(of_long, 0.8);
}

TEST(WorkloadProfiles, AreKnownByName) {
  EXPECT_EQ(profile_names().front(), "default");
  for (const std::string_view name : {"philly", "helios", "pai", "seren", "kalos"})
    EXPECT_NE(find_profile(name), nullptr);
  EXPECT_EQ(find_profile("phily"), nullptr);
}

}  // namespace
}  // namespace weft::sim
