// Figures of reading traces: MB/s and jobs/s from the bytes of a file to the last TraceJob, in one thread, for traces
// of a hundred thousand to ten million jobs that are made here; and what gzip costs. Nothing here is a test.

#include "base/check.h"
#include "base/rng.h"
#include "sim/byte_source.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_writer.h"

#include <benchmark/benchmark.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>

namespace weft::sim {
namespace {

int64_t gpus(Rng& rng) { return int64_t{1} << rng.below(6); }

/// The columns of the reduced Philly CSV; `disorder` seconds of it, since the published file is not sorted either.
std::string philly(int64_t jobs, int64_t disorder) {
  Rng rng(1);
  std::string text = "timestamp,duration,num_gpus,gpu_time,cluster\n";
  int64_t now = 1'504'521'041;
  for (int64_t i = 0; i < jobs; ++i) {
    now += rng.between(0, 2);
    const int64_t run_time = rng.between(1, 100'000);
    const int64_t count = gpus(rng);
    const std::chrono::sys_seconds at{std::chrono::seconds(now - rng.between(0, disorder))};
    fmt::format_to(std::back_inserter(text), "{:%Y-%m-%d %H:%M:%S},{}.0,{},{}.0,{:06x}\n", at, run_time, count,
                   run_time * count, rng.below(15) * 1'118'481);
  }
  return text;
}

std::string tiresias(int64_t jobs) {
  Rng rng(2);
  std::string text = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n";
  int64_t now = 0;
  for (int64_t i = 0; i < jobs; ++i) {
    const int64_t interval = rng.between(0, 300);
    fmt::format_to(std::back_inserter(text), "{},{},{},{},vgg16,{},{}\n", i, gpus(rng), now, rng.between(1, 1'000'000),
                   rng.between(1, 100'000), interval);
    now += interval;
  }
  return text;
}

std::string weft_csv(int64_t jobs) {
  Rng rng(3);
  std::string text;
  TraceCsvWriter writer;
  TraceJob job;
  for (int64_t i = 0; i < jobs; ++i) {
    job.id = fmt::format("job-{}", i);
    job.user = fmt::format("user{}", rng.below(100));
    job.queue = fmt::format("team{}", rng.below(10));
    job.submit = job.submit + milliseconds(rng.between(0, 60'000));
    job.run_time = milliseconds(rng.between(1, 100'000'000));
    job.gpus_per_task = static_cast<int32_t>(gpus(rng));
    writer.write(job, text);
  }
  return text;
}

void read(benchmark::State& bench, const std::string& text) {
  int64_t jobs = 0;
  for (auto _ : bench) {
    auto reader = open_trace(bytes_of(text, "made", size_t{1} << 20), {});
    WEFT_CHECK(reader.has_value(), "the trace is sound");
    TraceJob job;
    for (;;) {
      const auto step = (*reader)->next(job);
      WEFT_CHECK(step.has_value(), "the trace is sound");
      if (*step == TraceReader::Step::kEnd) break;
      benchmark::DoNotOptimize(job);
      ++jobs;
    }
  }
  bench.SetBytesProcessed(bench.iterations() * static_cast<int64_t>(text.size()));
  bench.counters["jobs/s"] = benchmark::Counter(static_cast<double>(jobs), benchmark::Counter::kIsRate);
}

constexpr int64_t kDay = 86'400;

void read_philly(benchmark::State& bench) { read(bench, philly(bench.range(0), kDay)); }
void read_philly_in_order(benchmark::State& bench) { read(bench, philly(bench.range(0), 0)); }
void read_tiresias(benchmark::State& bench) { read(bench, tiresias(bench.range(0))); }
void read_weft_csv(benchmark::State& bench) { read(bench, weft_csv(bench.range(0))); }
BENCHMARK(read_philly)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(read_philly_in_order)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(read_tiresias)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(read_weft_csv)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void write_weft_csv(benchmark::State& bench) {
  TraceJob job{.id = "job-123456",
               .user = "user7",
               .submit = Instant{} + milliseconds(123'456'789),
               .run_time = milliseconds(7'654'321)};
  job.gpus_per_task = 8;
  TraceCsvWriter writer;
  std::string text;
  int64_t bytes = 0;
  for (auto _ : bench) {
    text.clear();
    writer.write(job, text);
    bytes += static_cast<int64_t>(text.size());
  }
  bench.SetBytesProcessed(bytes);
}
BENCHMARK(write_weft_csv);

}  // namespace
}  // namespace weft::sim
