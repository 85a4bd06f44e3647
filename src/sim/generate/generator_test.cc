#include "sim/generate/generator.h"

#include "base/hash.h"
#include "sim/generate/trace_totals.h"
#include "sim/simulation/simulation.h"
#include "sim/trace/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kHour = 3'600'000'000'000;

constexpr Duration hours_of_weeks(int64_t weeks) { return hours(weeks * 168); }

std::unique_ptr<JobGenerator> make(const GeneratorPlan& plan) {
  Result<std::unique_ptr<JobGenerator>> made = JobGenerator::make(plan);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : nullptr;
}

std::string error_of(const GeneratorPlan& plan) {
  const auto made = JobGenerator::make(plan);
  return made ? "" : made.error().message;
}

/// Gives every job to `see`.
template <typename Function>
void for_each_job(JobGenerator& generator, const Function& see) {
  TraceJob job;
  for (;;) {
    const Result<TraceReader::Step> step = generator.next(job);
    ASSERT_TRUE(step);
    if (*step == TraceReader::Step::kEnd) return;
    see(job);
  }
}

std::vector<TraceJob> jobs_of(const GeneratorPlan& plan) {
  std::vector<TraceJob> jobs;
  if (const auto generator = make(plan)) for_each_job(*generator, [&](const TraceJob& job) { jobs.push_back(job); });
  return jobs;
}

ClusterRoom grid(const std::string& written) { return room_of(*read_cluster(written)); }

TEST(JobGenerator, HasThePublishedFiguresOfEveryProfile) {
  for (const WorkloadProfile& profile : workload_profiles()) {
    for (const uint64_t seed : {7, 8}) {
      SCOPED_TRACE(profile.name);
      TraceTotals totals;
      const auto generator = make({.profile = std::string(profile.name), .jobs = 200'000, .seed = seed});
      for_each_job(*generator, [&](const TraceJob& job) { totals.add(job); });
      EXPECT_EQ(totals.jobs(), 200'000U);
      EXPECT_NEAR(totals.run_time_median_s() / profile.run_time_median_s, 1, 0.03);
      EXPECT_NEAR(totals.run_time_mean_s() / profile.run_time_mean_s, 1, 0.05);
      EXPECT_LE(totals.run_time_max().seconds(), profile.run_time_max_s);
      EXPECT_NEAR(totals.gpus_mean() / profile.gpus_mean, 1, 0.02);
      const auto share = [&](TraceEnd end) { return static_cast<double>(totals.ended(end)) / 200'000; };
      EXPECT_NEAR(share(TraceEnd::kFailed), profile.ends_of_jobs.failed, 0.01);
      EXPECT_NEAR(share(TraceEnd::kCancelled), profile.ends_of_jobs.cancelled, 0.01);
      if (profile.gpu_time_mean_s == 0) continue;
      // A few jobs of a thousand GPUs make up much of it.
      EXPECT_NEAR(totals.gpu_seconds() / 200'000 / profile.gpu_time_mean_s, 1, 0.1);
      EXPECT_NEAR(totals.gpu_seconds(TraceEnd::kFailed) / totals.gpu_seconds(), profile.ends_of_gpu_time.failed, 0.06);
    }
  }
}

TEST(JobGenerator, TheHoursAndDaysAreAsBusyAsTheProfileSays) {
  for (const char* const name : {"philly", "helios"}) {
    const WorkloadProfile& profile = *find_profile(name);
    std::array<double, 24> hours{};
    std::array<double, 7> days{};
    double all = 0;
    const auto generator =
        make({.profile = name, .jobs = 400'000, .span = hours_of_weeks(40), .first_day = Weekday::kThursday});
    for_each_job(*generator, [&](const TraceJob& job) {
      const int64_t hour = job.submit.ns / kHour;
      ++hours[static_cast<size_t>(hour % 24)];
      ++days[static_cast<size_t>((hour / 24 + 3) % 7)];
      ++all;
    });
    double hour_weights = 0, day_weights = 0;
    for (const double weight : profile.week.hours) hour_weights += weight;
    for (const double weight : profile.week.days) day_weights += weight;
    for (size_t i = 0; i < 24; ++i)
      EXPECT_NEAR(hours[i] / all / (profile.week.hours[i] / hour_weights), 1, 0.1) << name << ": hour " << i;
    for (size_t i = 0; i < 7; ++i)
      EXPECT_NEAR(days[i] / all / (profile.week.days[i] / day_weights), 1, 0.05) << name << ": day " << i;
  }
}

TEST(JobGenerator, ComesInOrderOfSubmissionWithIdsThatCountUp) {
  Instant before{0};
  uint64_t number = 0;
  const auto generator = make({.profile = "seren", .jobs = 50'000, .jobs_per_hour = 30'000});
  for_each_job(*generator, [&](const TraceJob& job) {
    ASSERT_EQ(job.id, "j" + std::to_string(++number));
    ASSERT_GE(job.submit, before);
    before = job.submit;
    ASSERT_GE(job.run_time, seconds(1));
    ASSERT_GE(job.limit, job.run_time) << "no job is to be ended by its limit";
    ASSERT_EQ(job.submit.ns % 1'000'000'000, 0);
    ASSERT_EQ(job.run_time.ns % 1'000'000'000, 0);
  });
  EXPECT_EQ(generator->notes().rows, 50'000U);
  TraceJob job;
  EXPECT_EQ(generator->next(job), TraceReader::Step::kEnd) << "and then the end, again and again";
}

/// A hash of every byte that is written of the jobs.
uint64_t hash_of(const GeneratorPlan& plan) {
  RunningHash hash;
  TraceCsvWriter writer;
  std::string row;
  const auto generator = make(plan);
  for_each_job(*generator, [&](const TraceJob& job) {
    row.clear();
    writer.write(job, row);
    hash.add(row);
  });
  return hash.value();
}

TEST(JobGenerator, TheSamePlanGivesTheSameJobsOnEveryMachine) {
  const GeneratorPlan plan{.profile = "philly", .jobs = 40'000, .seed = 7, .load = 0.9, .cluster = grid("310x8")};
  EXPECT_EQ(hash_of(plan), 3'340'605'544'615'438'342U);
  GeneratorPlan other = plan;
  other.seed = 8;
  EXPECT_NE(hash_of(other), hash_of(plan));
  other = plan;
  other.is_steady = 1;
  EXPECT_EQ(hash_of(other), 16'039'195'153'544'489'271U);
}

TEST(JobGenerator, ADifferentSeedMovesEverythingAboutTheJobs) {
  const std::vector<TraceJob> one = jobs_of({.jobs = 2000, .seed = 1});
  const std::vector<TraceJob> other = jobs_of({.jobs = 2000, .seed = 2});
  const auto equal = [&](const auto& field) {
    int count = 0;
    for (size_t i = 0; i < one.size(); ++i) count += std::invoke(field, one[i]) == std::invoke(field, other[i]) ? 1 : 0;
    return count;
  };
  EXPECT_LT(equal(&TraceJob::submit), 20);
  EXPECT_LT(equal(&TraceJob::run_time), 50);
  EXPECT_LT(equal(&TraceJob::user), 400);
  EXPECT_LT(equal(&TraceJob::name), 100);
}

TEST(JobGenerator, UsersRunTheSameProgramsAgainAndAgain) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> runs;
  for (const TraceJob& job : jobs_of({.profile = "helios", .jobs = 100'000})) {
    EXPECT_FALSE(job.queue.empty());
    if (job.end == TraceEnd::kDone) runs[{job.user, job.name}].push_back(std::log(job.run_time.seconds()));
  }
  size_t jobs = 0, recurring = 0, near = 0;
  for (auto& [program, times] : runs) {
    jobs += times.size();
    if (times.size() < 5) continue;
    recurring += times.size();
    std::ranges::sort(times);
    const double median = times[times.size() / 2];
    for (const double time : times) near += std::fabs(time - median) < std::log(2.0) ? 1 : 0;
  }
  EXPECT_GT(static_cast<double>(recurring), 0.65 * static_cast<double>(jobs))
      << "published: 65 % of tasks recur 5 times";
  EXPECT_GT(static_cast<double>(near), 0.7 * static_cast<double>(recurring)) << "published: 70 % within 100 %";
}

TEST(JobGenerator, TheLoadIsThatOfTheCluster) {
  for (const char* const cluster : {"310x8", "20x4", "1000x8"}) {
    const ClusterRoom room = grid(cluster);
    TraceTotals totals;
    const auto generator =
        make({.profile = "philly", .jobs = 100'000, .load = 0.9, .cluster = room, .first_day = Weekday::kSaturday});
    for_each_job(*generator, [&](const TraceJob& job) { totals.add(job); });
    EXPECT_NEAR(totals.gpu_seconds() / totals.span().seconds() / static_cast<double>(room.gpus), 0.9, 0.045) << cluster;
  }
}

TEST(JobGenerator, ASteadyTraceKeepsItsLoadFromTheFirstDayOn) {
  const ClusterRoom room = grid("310x8");
  const GeneratorPlan plan{.profile = "philly", .jobs = 60'000, .load = 0.9, .cluster = room, .is_steady = 1};
  // GPUs in use at moments, if everything starts at once.
  constexpr std::array kDays{0, 1, 4, 8, 12, 16};
  std::array<double, kDays.size()> in_use{};
  uint64_t at_once = 0;
  const auto generator = make(plan);
  for_each_job(*generator, [&](const TraceJob& job) {
    if (job.submit.ns == 0) ++at_once;
    for (size_t i = 0; i < kDays.size(); ++i) {
      const Instant at{kDays[i] * 24 * kHour + kHour / 2};
      if (job.submit <= at && at < job.submit + job.run_time) in_use[i] += static_cast<double>(job.gpu_count());
    }
  });
  EXPECT_EQ(at_once, generator->under_way_count());
  EXPECT_NEAR(static_cast<double>(at_once), 0.9 * 2480 / 61'039 * 18'006, 30) << "rate x mean run time";
  for (size_t i = 0; i < kDays.size(); ++i) EXPECT_NEAR(in_use[i] / 2480, 0.9, 0.2) << "day " << kDays[i];
}

TEST(JobGenerator, RateAndSpanAreKept) {
  const std::vector<TraceJob> by_rate = jobs_of({.jobs = 20'000, .jobs_per_hour = 500});
  EXPECT_NEAR(static_cast<double>(by_rate.back().submit.ns) / kHour, 40, 2);
  const std::vector<TraceJob> by_span = jobs_of({.jobs = 20'000, .span = hours_of_weeks(2)});
  EXPECT_NEAR(static_cast<double>(by_span.back().submit.ns) / kHour, 336, 12);
}

TEST(JobGenerator, OnlyJobsThatFitTheClusterCome) {
  for (const char* const cluster : {"1x1", "1x4", "3x8", "2x64"}) {
    const ClusterSpec spec = *read_cluster(cluster);
    for (const char* const profile : {"pai", "kalos"}) {
      const auto generator = make({.profile = profile, .jobs = 3000, .cluster = room_of(spec)});
      int32_t most = 0;
      for_each_job(*generator, [&](const TraceJob& job) { most = std::max(most, job.gpus_per_task); });
      EXPECT_LE(most, spec.gpu_count()) << cluster;
    }
  }
}

TEST(ClusterRoom, HoldsWhatTheSimulatorCouldPlace) {
  ClusterRoom room{.gpus = 20, .node_gpus_max = 8, .largest_nodes = 2, .node_gpus_next = 4};
  EXPECT_TRUE(room.fits(250));
  EXPECT_TRUE(room.fits(8000));
  EXPECT_TRUE(room.fits(16'000));
  EXPECT_TRUE(room.fits(20'000));
  EXPECT_FALSE(room.fits(24'000)) << "the rest of 8 has no node";
  room.node_gpus_next = 2;
  EXPECT_FALSE(room.fits(20'000));
  EXPECT_TRUE(room.fits(12'000));
}

TEST(JobGenerator, EveryGeneratedJobRunsOnTheClusterItIsFor) {
  for (const char* const profile : {"philly", "pai", "kalos"}) {
    const ClusterSpec cluster = *read_cluster("20x8");
    const auto generator = make({.profile = profile, .jobs = 1500, .load = 0.5, .cluster = room_of(cluster)});
    const Result<RunOutcome> outcome = simulate(*generator, RunPlan{.cluster = cluster});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->jobs.size(), 1500U);
    for (const JobOutcome& job : outcome->jobs) ASSERT_EQ(job.how, JobEnd::kDone) << job.id;
  }
}

TEST(JobGenerator, SaysInOneLineWhatIsWrongWithAPlan) {
  EXPECT_THAT(error_of({.profile = "phily"}), HasSubstr("there is no profile 'phily' (did you mean 'philly'?)"));
  EXPECT_THAT(error_of({.jobs = 0}), HasSubstr("jobs: expected at least one"));
  EXPECT_THAT(error_of({.jobs_per_hour = 5, .span = hours(3)}), HasSubstr("expected one of them"));
  EXPECT_THAT(error_of({.jobs_per_hour = 0}), HasSubstr("rate: expected more than 0"));
  EXPECT_THAT(error_of({.jobs_per_hour = NAN}), HasSubstr("rate: expected more than 0"));
  EXPECT_THAT(error_of({.span = Duration{0}}), HasSubstr("span: expected more than 0 s"));
  EXPECT_THAT(error_of({.load = 0.5}), HasSubstr("load: of which cluster?"));
  EXPECT_THAT(error_of({.load = -1, .cluster = grid("1x1")}), HasSubstr("load: expected more than 0"));
  EXPECT_THAT(error_of({.cluster = ClusterRoom{}}), HasSubstr("has no GPUs"));
  EXPECT_THAT(error_of({.jobs = 1'000'000, .jobs_per_hour = 1}), HasSubstr("expected at most 10"));
  EXPECT_THAT(error_of({.profile = "philly", .jobs = 100, .load = 0.9, .cluster = grid("310x8"), .is_steady = 1}),
              HasSubstr("658 jobs run already at the beginning; expected more jobs than that"));
}

}  // namespace
}  // namespace weft::sim
