#include "base/rng.h"
#include "sim/byte_source.h"
#include "sim/simulation/simulation.h"
#include "sim/simulation/speed_table.h"
#include "sim/trace/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

constexpr Instant at(int64_t second) { return Instant{} + seconds(second); }

Result<RunOutcome> run(const std::vector<TraceJob>& jobs, const RunPlan& plan) {
  const std::string text = trace_csv(jobs);
  const auto reader = open_trace(bytes_of(text, "trace.csv"), {});
  if (!reader) return std::unexpected(reader.error());
  return simulate(**reader, plan);
}

RunPlan plan_of(const char* cluster, const char* policy, std::string_view speeds) {
  RunPlan plan{.cluster = *read_cluster(cluster), .policy = policy};
  if (!speeds.empty()) plan.speeds = *parse_speeds(speeds, "speeds.yaml");
  return plan;
}

TraceJob share(const char* id, int64_t submit, int64_t run_time) {
  return {.id = id, .submit = at(submit), .run_time = seconds(run_time), .gpu_milli = 500};
}

TEST(Speeds, ANeighbourOnTheSameGpuSlowsAJobWhileItIsThere) {
  const auto outcome =
      run({share("long", 0, 100), share("short", 40, 10)}, plan_of("1x1", "default", "sharing: {2: 0.5}\n"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->jobs[1].end, at(40 + 20)) << "half as fast all the time";
  EXPECT_EQ(outcome->jobs[0].end, at(110)) << "half as fast for 20 s";
  EXPECT_EQ(outcome->jobs[0].executed, seconds(110));
  EXPECT_EQ(outcome->jobs[0].lost, Duration{0}) << "to be slow is not to lose work";
}

TEST(Speeds, TheSlowestDeviceAndTheSpreadCount) {
  RunPlan plan = plan_of("2x4", "default", "models: {slow: 0.5}\nnodes: {2: 0.8}\n");
  plan.cluster.models = {"fast", "slow"};
  for (DeviceSpec& device : plan.cluster.nodes[0].devices) device.model = "fast";
  for (DeviceSpec& device : plan.cluster.nodes[1].devices) device.model = "slow";
  const TraceJob wide{.id = "wide", .run_time = seconds(100), .gpus_per_task = 8, .is_gpu_count = 1};
  const auto outcome = run({wide}, plan);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->jobs[0].end, at(250));
}

TEST(Speeds, CheckpointsCountWorkAndRestartsCostWallTime) {
  // At half speed; after 150 s 75 s are done, of which 60 stand in a checkpoint.
  const auto job = [](const char* id, int64_t submit, int64_t run_time) {
    return TraceJob{
        .id = id, .submit = at(submit), .run_time = seconds(run_time), .gpus_per_task = 8, .is_gpu_count = 1};
  };
  RunPlan plan = plan_of("2x4", "srtf", "nodes: {2: 0.5}\n");
  plan.restart_cost = seconds(30);
  plan.checkpoint_every = seconds(60);
  const auto outcome = run({job("long", 0, 1000), job("short", 150, 10)}, plan);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->jobs[1].end, at(170));
  EXPECT_EQ(outcome->jobs[0].end, at(170 + 30 + 2 * 940));
  EXPECT_EQ(outcome->jobs[0].lost, seconds(15 + 30));
}

TEST(Speeds, AnElectionHearsHowMuchWorkIsLeft) {
  // After 100 s at a tenth of the speed 90 s of work are left: more than the second needs.
  const std::vector<TraceJob> jobs{
      {.id = "spread", .run_time = seconds(100), .gpus_per_task = 8, .is_gpu_count = 1},
      {.id = "compact", .submit = at(100), .run_time = seconds(50), .gpus_per_task = 4, .is_gpu_count = 1}};
  const auto outcome = run(jobs, plan_of("2x4", "srtf", "nodes: {2: 0.1}\n"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->jobs[1].end, at(150));
  EXPECT_EQ(outcome->jobs[0].end, at(1050));
}

TEST(Speeds, TheTimeOfAStartIsNoProgress) {
  // Stopped by "quick" with 90 s of work to do, "long" starts again at 120 and works from 220 on. At 221 it still has
  // 89 s of work, more than the 80 of "late", although it has run 101 s of its second start.
  const auto job = [](const char* id, int64_t submit, int64_t run_time) {
    return TraceJob{.id = id, .submit = at(submit), .run_time = seconds(run_time), .gpus_per_task = 4};
  };
  RunPlan plan = plan_of("1x4", "srtf", "");
  plan.restart_cost = seconds(100);
  const auto outcome = run({job("long", 0, 200), job("quick", 110, 10), job("late", 221, 80)}, plan);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->jobs[2].end, at(301));
  EXPECT_EQ(outcome->jobs[0].end, at(301 + 100 + 89));
  EXPECT_EQ(outcome->jobs[0].lost, seconds(200));
}

/// No two jobs pass each other for ever, whatever stands between the seconds and the work.
TEST(Speeds, CostsAndSpeedsNeverMakeARunGoInCircles) {
  Rng rng(5);
  std::vector<TraceJob> jobs;
  Instant now;
  for (int i = 0; i < 200; ++i) {
    now = now + seconds(rng.between(0, 100));
    jobs.push_back({.id = std::to_string(i), .submit = now, .run_time = seconds(rng.between(1, 2000))});
    if (rng.below(2) == 0) {
      jobs.back().gpu_milli = static_cast<int32_t>(rng.between(1, 5) * 100);
    } else {
      jobs.back().gpus_per_task = static_cast<int32_t>(rng.between(1, 12));
      jobs.back().is_gpu_count = 1;
    }
  }
  for (const std::string_view policy : policy_names()) {
    SCOPED_TRACE(policy);
    RunPlan plan = plan_of("3x4", std::string(policy).c_str(), "nodes: {2: 0.3, 3: 2}\nsharing: {2: 0.7, 3: 0.2}\n");
    plan.restart_cost = seconds(40);
    plan.checkpoint_every = seconds(100);
    const auto outcome = run(jobs, plan);
    ASSERT_TRUE(outcome) << outcome.error().message;
    for (const JobOutcome& job : outcome->jobs) {
      ASSERT_EQ(job.how, JobEnd::kDone);
      ASSERT_LE(job.lost, job.executed + seconds(1));
    }
  }
}

TEST(Rounds, WhoRunsIsDecidedAtTheirMultiplesOnly) {
  const auto job = [](const char* id, int64_t submit, int64_t run_time) {
    return TraceJob{
        .id = id, .submit = at(submit), .run_time = seconds(run_time), .gpus_per_task = 8, .is_gpu_count = 1};
  };
  for (const char* const policy : {"fifo", "srtf"}) {
    RunPlan plan = plan_of("1x8", policy, "");
    plan.round = seconds(60);
    const auto outcome = run({job("a", 10, 100), job("b", 20, 30), job("c", 200, 5)}, plan);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const bool is_fifo = plan.policy == "fifo";
    EXPECT_EQ(outcome->jobs[is_fifo ? 0 : 1].start, at(60)) << policy;
    EXPECT_EQ(outcome->jobs[0].end, at(is_fifo ? 160 : 220)) << "its GPUs stay idle until the next round";
    EXPECT_EQ(outcome->jobs[1].start, at(is_fifo ? 180 : 60)) << policy;
    EXPECT_EQ(outcome->jobs[2].start, at(240)) << policy;
  }
}

TEST(Rounds, AnEventAtARoundBelongsToIt) {
  RunPlan plan = plan_of("1x1", "default", "");
  plan.round = seconds(60);
  const TraceJob first{.id = "first", .submit = at(60), .run_time = seconds(60), .gpus_per_task = 1};
  const TraceJob next{.id = "next", .submit = at(60), .run_time = seconds(1), .gpus_per_task = 1};
  const auto outcome = run({first, next}, plan);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->jobs[0].start, at(60));
  EXPECT_EQ(outcome->jobs[1].start, at(120));
}

TEST(Rounds, PublishedRulesHaveTheirOwnClock) {
  RunPlan plan = plan_of("1x1", "default", "nodes: {2: 0.5}\n");
  plan.rules = Rules::kTiresias;
  const auto slow = run({share("a", 0, 1)}, plan);
  ASSERT_FALSE(slow);
  EXPECT_THAT(slow.error().message, HasSubstr("--speeds: the rules of tiresias know one speed only"));
  plan.speeds.reset();
  plan.rules = Rules::kMuri;
  plan.round = seconds(60);
  const auto rounds = run({share("a", 0, 1)}, plan);
  ASSERT_FALSE(rounds);
  EXPECT_THAT(rounds.error().message, HasSubstr("--round: the rules of muri decide at every event"));
}

}  // namespace
}  // namespace weft::sim
