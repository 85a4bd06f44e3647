#pragma once

#include "sim/simulation/outcome.h"
#include "sim/simulation/sample_series.h"

#include <string>

namespace weft::sim {

/// Three users' jobs on two nodes of two GPUs, in seconds: `a` has half of the cluster from 0 to 100; `b` is preempted
/// from 20 to 40 and ends at 80; `c` wants all of it at 10 and has it from 100 to 120; `d` is rejected.
inline RunOutcome small_outcome() {
  RunOutcome outcome{.policy = "srsf",
                     .placement = "count",
                     .trace = "small.csv",
                     .cluster = "2x2",
                     .rules = "native",
                     .seed = 42,
                     .nodes = {"n0", "n1"},
                     .total_gpu_milli = 4000,
                     .jobs = {},
                     .samples = {},
                     .spans = {},
                     .events = 12,
                     .decisions = 9,
                     .decision_hash = 0x00ab54a98ceb1f0aULL,
                     .wall_seconds = 0.25,
                     .read_seconds = 0.125};
  const auto add = [&](std::string id, std::string user, int32_t gpus, int64_t submit) -> JobOutcome& {
    return outcome.jobs.emplace_back(JobOutcome{.id = std::move(id),
                                                .user = std::move(user),
                                                .queue = {},
                                                .gpus = gpus,
                                                .gpu_milli = int64_t{1000} * gpus,
                                                .submit = Instant{} + seconds(submit),
                                                .why = {}});
  };
  const auto ran = [](JobOutcome& job, int64_t start, int64_t end, int64_t executed) {
    job.start = Instant{} + seconds(start);
    job.end = Instant{} + seconds(end);
    job.executed = job.run_time = seconds(executed);
    job.how = JobEnd::kDone;
  };
  ran(add("a", "ann", 2, 0), 0, 100, 100);
  JobOutcome& b = add("b", "bob", 2, 0);
  ran(b, 0, 80, 60);
  b.preempts = 1;
  b.lost = seconds(5);
  ran(add("c", "ann", 4, 10), 100, 120, 20);
  JobOutcome& d = add("d", "bob", 1, 50);
  d.how = JobEnd::kRejected;
  d.run_time = seconds(1000);
  d.why = "too much";
  SampleSeries series;
  const auto sample = [&](int64_t at, int64_t used, int64_t wanted, uint32_t running, uint32_t pending,
                          double fragments) {
    series.add({.at = Instant{} + seconds(at),
                .used_gpu_milli = 1000 * used,
                .pending_gpu_milli = 1000 * wanted,
                .running = running,
                .pending = pending,
                .fragment_gpu_milli = 1000 * fragments});
  };
  sample(0, 4, 0, 2, 0, 0);
  sample(20, 2, 6, 1, 2, 1);
  sample(40, 4, 4, 2, 1, 0);
  sample(80, 2, 4, 1, 1, 2);
  sample(100, 4, 0, 1, 0, 0);
  sample(120, 0, 0, 0, 0, 0);
  outcome.samples = series.take();
  outcome.integrals = series.integrals();
  const auto span = [&](uint32_t job, uint32_t node, int32_t gpus, int64_t from, int64_t to) {
    outcome.spans.push_back(
        {.job = job, .node = node, .gpus = gpus, .from = Instant{} + seconds(from), .to = Instant{} + seconds(to)});
  };
  span(0, 0, 2, 0, 100);
  span(1, 1, 2, 0, 20);
  span(1, 1, 2, 40, 80);
  span(2, 0, 2, 100, 120);
  span(2, 1, 2, 100, 120);
  return outcome;
}

}  // namespace weft::sim
