#include "base/rng.h"
#include "base/test_folder.h"
#include "sim/byte_source.h"
#include "sim/simulation/simulation.h"
#include "sim/trace/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

/// A cluster of 4 x 8 GPUs with these queues.
ClusterSpec cluster_with(std::string_view queues) {
  const TestFolder folder;
  const std::string file = folder.path() + "/c.yaml";
  std::ofstream(file) << "cluster: {nodes: [{name: n, count: 4, gpus: 8, cpus: 1000}]}\nqueues:\n" << queues;
  auto cluster = read_cluster(file);
  EXPECT_TRUE(cluster) << cluster.error().message;
  if (!cluster) return {};
  cluster->name = "c.yaml";
  return *cluster;
}

std::vector<TraceJob> jobs_of(const std::vector<std::string>& queues, size_t count) {
  Rng rng(5);
  std::vector<TraceJob> jobs;
  Instant now;
  for (size_t i = 0; i < count; ++i) {
    now = now + seconds(rng.between(0, 60));
    jobs.push_back({.id = std::to_string(i),
                    .queue = queues[rng.below(queues.size())],
                    .submit = now,
                    .run_time = seconds(rng.between(1, 2000)),
                    .gpus_per_task = static_cast<int32_t>(int64_t{1} << rng.below(3)),
                    .is_gpu_count = 1});
  }
  return jobs;
}

Result<RunOutcome> run(const std::vector<TraceJob>& jobs, const RunPlan& plan) {
  const std::string text = trace_csv(jobs);
  auto source = bytes_of(text, "trace.csv");
  const auto reader = open_trace(std::move(source), {});
  EXPECT_TRUE(reader) << reader.error().message;
  return simulate(**reader, plan);
}

/// The most GPUs that jobs of these queues held at any instant.
int64_t most_gpus(const RunOutcome& outcome, const std::vector<std::string>& queues) {
  std::map<Instant, int64_t> change;
  for (const JobSpan& span : outcome.spans) {
    if (std::ranges::find(queues, outcome.jobs[span.job].queue) == queues.end()) continue;
    change[span.from] += span.gpus;
    change[span.to] -= span.gpus;
  }
  int64_t used = 0, most = 0;
  for (const auto& [at, gpus] : change) most = std::max(most, used += gpus);
  return most;
}

constexpr std::string_view kQueues =
    "  - {name: org, limit: {gpu: 20}}\n"
    "  - {name: red, parent: org, limit: {gpu: 8}}\n"
    "  - {name: blue, parent: org}\n"
    "  - {name: free}\n";

TEST(SimulatedQueues, LimitsHoldAtEveryInstantWhateverTheCycle) {
  const std::vector<TraceJob> jobs = jobs_of({"red", "blue", "free"}, 400);
  for (const char* const policy : {"default", "fifo", "fjf", "srtf", "2d-las"}) {
    for (const char* const placement : {"count", "pack"}) {
      SCOPED_TRACE(std::string(policy) + " " + placement);
      RunPlan plan{.cluster = cluster_with(kQueues), .policy = policy, .placement = placement, .wants_spans = 1};
      const auto outcome = run(jobs, plan);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_TRUE(std::ranges::all_of(outcome->jobs, [](const JobOutcome& job) { return job.how == JobEnd::kDone; }));
      EXPECT_EQ(most_gpus(*outcome, {"red"}), 8) << "it is crowded";
      EXPECT_LE(most_gpus(*outcome, {"red", "blue"}), 20);
      EXPECT_GT(most_gpus(*outcome, {"red", "blue"}), 16);
    }
  }
}

TEST(SimulatedQueues, AQueueOfHigherPriorityGoesFirst) {
  const std::vector<TraceJob> jobs = jobs_of({"low", "high"}, 300);
  const auto waits = [&](std::string_view queues) {
    const auto outcome = run(jobs, {.cluster = cluster_with(queues)});
    EXPECT_TRUE(outcome);
    std::map<std::string, double> seconds_waited;
    for (const JobOutcome& job : outcome->jobs) seconds_waited[job.queue] += job.waited().seconds();
    return seconds_waited;
  };
  auto alike = waits("  - {name: low}\n  - {name: high}\n");
  auto ranked = waits("  - {name: low}\n  - {name: high, priority: 1}\n");
  EXPECT_LT(ranked["high"] * 2, alike["high"]);
  EXPECT_GT(ranked["low"], alike["low"]);
}

TEST(SimulatedQueues, AJobOfAQueueThatIsNotThereIsRefusedByNameOrCounted) {
  const std::vector<TraceJob> jobs = jobs_of({"red", "org", "green"}, 60);
  RunPlan plan{.cluster = cluster_with(kQueues)};
  const auto refused = run(jobs, plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(refused.error().message,
              HasSubstr("that takes jobs; expected blue, free, red, or a queue called default"));
  plan.skips_impossible = 1;
  const auto skipped = run(jobs, plan);
  ASSERT_TRUE(skipped);
  for (const JobOutcome& job : skipped->jobs) {
    EXPECT_EQ(job.how, job.queue == "red" ? JobEnd::kDone : JobEnd::kRejected) << job.queue;
    EXPECT_EQ(job.why.empty(), job.queue == "red");
  }
}

TEST(SimulatedQueues, AQueueCalledDefaultTakesAllOthers) {
  const std::vector<TraceJob> jobs = jobs_of({"red", "green", ""}, 200);
  RunPlan plan{.cluster = cluster_with("  - {name: default, limit: {gpu: 4}}\n  - {name: red}\n"), .wants_spans = 1};
  const auto outcome = run(jobs, plan);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(most_gpus(*outcome, {"green", ""}), 4);
}

TEST(SimulatedQueues, AJobThatNoLimitWouldEverLetRunIsRefusedByName) {
  std::vector<TraceJob> jobs = jobs_of({"red"}, 3);
  jobs[1].gpus_per_task = 9;
  const auto refused = run(jobs, {.cluster = cluster_with(kQueues)});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("job 1: asks for more GPUs than the limit of its queue 'red'"));
  jobs[1].queue = "blue";
  jobs[1].gpus_per_task = 21;
  EXPECT_THAT(run(jobs, {.cluster = cluster_with(kQueues)}).error().message, HasSubstr("'blue'")) << "org's limit";
  jobs[1].gpus_per_task = 20;
  EXPECT_TRUE(run(jobs, {.cluster = cluster_with(kQueues)}));
}

TEST(SimulatedQueues, WithoutQueuesAllJobsAreOfOne) {
  const std::vector<TraceJob> jobs = jobs_of({"red", "green"}, 50);
  const auto grid = run(jobs, {.cluster = *read_cluster("4x8")});
  ASSERT_TRUE(grid);
  EXPECT_TRUE(std::ranges::all_of(grid->jobs, [](const JobOutcome& job) { return job.how == JobEnd::kDone; }));
}

}  // namespace
}  // namespace weft::sim
