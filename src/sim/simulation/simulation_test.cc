#include "sim/simulation/simulation.h"

#include "base/rng.h"
#include "sim/byte_source.h"
#include "sim/trace/trace_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

/// A trace in the CSV of Tiresias, in order of submission.
std::string tiresias_csv(const std::vector<TraceJob>& jobs) {
  std::string text = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n";
  for (const TraceJob& job : jobs) {
    text += fmt::format("{},{},{},{},{},{},0\n", job.id, job.gpus_per_task, job.submit.ns / 1'000'000'000,
                        job.iterations, job.model, job.run_time.ns / 1'000'000'000);
  }
  return text;
}

/// Jobs that crowd a cluster of 4 x 8 GPUs for a while.
std::vector<TraceJob> crowd(uint64_t seed, size_t count) {
  Rng rng(seed);
  std::vector<TraceJob> jobs;
  Instant now;
  for (size_t i = 0; i < count; ++i) {
    now = now + seconds(rng.between(0, 200));
    jobs.push_back({.id = std::to_string(i),
                    .model = "resnet18",
                    .submit = now,
                    .run_time = seconds(rng.between(1, 100) * rng.between(1, 100)),
                    .gpus_per_task = static_cast<int32_t>(int64_t{1} << rng.below(5)),
                    .is_gpu_count = 1,
                    .iterations = 1});
  }
  return jobs;
}

Result<RunOutcome> run(std::string_view text, const RunPlan& plan) {
  auto source = bytes_of(text, "trace.csv");
  const auto reader = open_trace(std::move(source), {});
  if (!reader) return std::unexpected(reader.error());
  return simulate(**reader, plan);
}

RunPlan plan_of(std::string policy, std::string placement = "") {
  return {.cluster = *read_cluster("4x8"), .policy = std::move(policy), .placement = std::move(placement)};
}

TEST(Simulation, DecisionHashIsOneWhateverTheFormatAndTheCompiler) {
  const std::vector<TraceJob> jobs = crowd(7, 400);
  const std::string theirs = tiresias_csv(jobs);
  const std::string ours = trace_csv(jobs);
  for (const std::string_view policy : policy_names()) {
    for (const char* const placement : {"count", "pack"}) {
      const auto first = run(theirs, plan_of(std::string(policy), placement));
      ASSERT_TRUE(first) << first.error().message;
      const auto again = run(theirs, plan_of(std::string(policy), placement));
      const auto other = run(ours, plan_of(std::string(policy), placement));
      ASSERT_TRUE(other) << other.error().message;
      EXPECT_EQ(again->decision_hash, first->decision_hash) << policy << " " << placement;
      EXPECT_EQ(other->decision_hash, first->decision_hash) << policy << " " << placement;
      std::printf("decision_hash simulate-%s-%s %llu\n", std::string(policy).c_str(), placement,
                  static_cast<unsigned long long>(first->decision_hash));
    }
  }
}

/// What holds of every run, whatever the policy.
TEST(Simulation, EveryJobRunsForItsTimeAndNeverOnMoreGpusThanThereAre) {
  const std::vector<TraceJob> jobs = crowd(11, 300);
  for (const std::string_view policy : policy_names()) {
    for (const char* const placement : {"count", "consolidated", "spread"}) {
      SCOPED_TRACE(fmt::format("{} {}", policy, placement));
      RunPlan plan = plan_of(std::string(policy), placement);
      plan.wants_spans = 1;
      const auto outcome = run(trace_csv(jobs), plan);
      ASSERT_TRUE(outcome) << outcome.error().message;
      ASSERT_EQ(outcome->jobs.size(), jobs.size());
      double busy = 0;
      for (size_t i = 0; i < jobs.size(); ++i) {
        const JobOutcome& job = outcome->jobs[i];
        ASSERT_EQ(job.how, JobEnd::kDone) << i;
        ASSERT_EQ(job.executed, jobs[i].run_time) << i;
        ASSERT_EQ(job.lost, Duration{0}) << i;
        ASSERT_GE(job.start, job.submit) << i;
        ASSERT_GE(job.end - job.start, job.executed) << i;
        busy += job.executed.seconds() * job.gpus;
      }
      EXPECT_NEAR(outcome->busy_gpu_seconds, busy, 1e-6 * busy);
      for (const RunSample& sample : outcome->samples) ASSERT_LE(sample.used_gpu_milli, outcome->total_gpu_milli);
      // The use of every node over time, from the spans.
      std::map<std::pair<uint32_t, Instant>, int64_t> change;
      for (const JobSpan& span : outcome->spans) {
        change[{span.node, span.from}] += span.gpus;
        change[{span.node, span.to}] -= span.gpus;
      }
      int64_t used = 0;
      for (const auto& [at, gpus] : change) {
        used += gpus;
        ASSERT_LE(used, 8) << "node " << at.first;
        ASSERT_GE(used, 0);
      }
    }
  }
}

TEST(Simulation, StopsCostWhatThePlanSays) {
  // A long job of all GPUs is stopped by a short one after 100 s of its work.
  const std::vector<TraceJob> jobs{{.id = "long", .run_time = seconds(1000), .gpus_per_task = 32, .is_gpu_count = 1},
                                   {.id = "short",
                                    .submit = Instant{} + seconds(100),
                                    .run_time = seconds(10),
                                    .gpus_per_task = 32,
                                    .is_gpu_count = 1}};
  RunPlan plan = plan_of("srtf", "count");
  plan.restart_cost = seconds(30);
  plan.checkpoint_every = seconds(60);
  const auto outcome = run(trace_csv(jobs), plan);
  ASSERT_TRUE(outcome);
  const JobOutcome& job = outcome->jobs[0];
  EXPECT_EQ(job.preempts, 1);
  EXPECT_EQ(job.end, Instant{} + seconds(110 + 30 + 940)) << "60 s of its work were kept";
  EXPECT_EQ(job.lost, seconds(40 + 30));
  EXPECT_EQ(outcome->jobs[1].end, Instant{} + seconds(110));
}

/// Jobs of few lengths, so that many have equal times left, under every policy, where starts cost time, stops cost work
/// and decisions come at every event or in rounds: they all come to their end, and so does every instant.
TEST(Simulation, WhereStopsCostSomethingEveryJobEndsAllTheSame) {
  Rng rng(5);
  std::vector<TraceJob> jobs;
  Instant now;
  for (size_t i = 0; i < 250; ++i) {
    now = now + seconds(10 * rng.between(0, 10));
    jobs.push_back({.id = std::to_string(i),
                    .submit = now,
                    .run_time = seconds(60 * rng.between(1, 20)),
                    .gpus_per_task = static_cast<int32_t>(int64_t{1} << rng.below(5)),
                    .is_gpu_count = 1});
  }
  const std::string text = trace_csv(jobs);
  for (const std::string_view policy : policy_names()) {
    for (const auto& [restart, checkpoint, round] :
         {std::array{30, 0, 0}, std::array{60, 0, 60}, std::array{10, 120, 0}, std::array{40, 60, 60}}) {
      RunPlan plan = plan_of(std::string(policy), "pack");
      plan.restart_cost = seconds(restart);
      plan.checkpoint_every = seconds(checkpoint);
      plan.round = seconds(round);
      const auto outcome = run(text, plan);
      ASSERT_TRUE(outcome) << policy << ": " << outcome.error().message;
      for (const JobOutcome& job : outcome->jobs) {
        ASSERT_EQ(job.how, JobEnd::kDone) << policy << ", job " << job.id;
        ASSERT_GE(job.executed, job.run_time) << policy << ", job " << job.id;
      }
    }
  }
}

TEST(Simulation, ADeadlineIsItsOwnJobsOnly) {
  // Jobs come one by one, so that each is told to the core in the place of the one before.
  const auto job = [](const char* id, int64_t at, Instant deadline) {
    return TraceJob{.id = id,
                    .submit = Instant{} + seconds(at),
                    .run_time = seconds(100),
                    .deadline = deadline,
                    .gpus_per_task = 32,
                    .is_gpu_count = 1};
  };
  const std::vector<TraceJob> jobs{job("urgent", 0, Instant{} + seconds(120)), job("whenever", 10, kNever),
                                   job("soon", 20, Instant{} + seconds(400))};
  const auto outcome = run(trace_csv(jobs), plan_of("deadline", "count"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->jobs[0].end, Instant{} + seconds(100));
  EXPECT_EQ(outcome->jobs[2].end, Instant{} + seconds(200));
  EXPECT_EQ(outcome->jobs[1].end, Instant{} + seconds(300)) << "it has no deadline, so it goes last";
}

TEST(Simulation, AJobThatTheClusterCouldNeverRunIsRefusedByItsIdOrCounted) {
  const std::vector<TraceJob> jobs{{.id = "huge", .run_time = seconds(10), .gpus_per_task = 33, .is_gpu_count = 1},
                                   {.id = "small",
                                    .submit = Instant{} + seconds(1),
                                    .run_time = seconds(10),
                                    .gpus_per_task = 1,
                                    .is_gpu_count = 1}};
  for (const char* const policy : {"default", "srtf"}) {
    RunPlan plan = plan_of(policy, "count");
    const auto refused = run(trace_csv(jobs), plan);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(refused.error().message, HasSubstr("job huge: can never run here"));
    plan.skips_impossible = 1;
    const auto skipped = run(trace_csv(jobs), plan);
    ASSERT_TRUE(skipped);
    EXPECT_EQ(skipped->jobs[0].how, JobEnd::kRejected);
    EXPECT_EQ(skipped->pending_max, 0U) << "a job that is left out does not wait";
    EXPECT_THAT(skipped->jobs[0].why, HasSubstr("can never run here"));
    EXPECT_EQ(skipped->jobs[1].how, JobEnd::kDone);
  }
}

TEST(Simulation, NoiseOfEstimatesChangesTheOrderAndFollowsTheSeed) {
  const std::string text = trace_csv(crowd(3, 300));
  RunPlan plan = plan_of("srtf", "count");
  const uint64_t truth = run(text, plan)->decision_hash;
  plan.estimates = {.kind = Estimates::Kind::kNoise, .sigma = 1};
  plan.seed = 1;
  const uint64_t one = run(text, plan)->decision_hash;
  EXPECT_NE(one, truth);
  EXPECT_EQ(run(text, plan)->decision_hash, one);
  plan.seed = 2;
  EXPECT_NE(run(text, plan)->decision_hash, one);
}

TEST(Simulation, TheTracesErrorsAreTheRunsErrors) {
  const auto outcome =
      run("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,1,m,5,0\n1,1,5,1,m,x,0\n",
          plan_of("fifo"));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("trace.csv:3:11"));
}

}  // namespace
}  // namespace weft::sim
