// The scheduler through its facade, one thread. Figures, not tests: see the counters of each line.
#include "base/rng.h"
#include "scheduler/scheduler.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <sys/resource.h>
#include <vector>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

double micros_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

JobSpec gang(int32_t count, int32_t gpus, int64_t cpu_milli = 1000) {
  JobSpec job{.name = "job"};
  job.roles.push_back(
      {.count = count, .cpu_milli = cpu_milli, .devices = {.kind = DeviceNeedKind::kWhole, .count = gpus}});
  return job;
}

/// A scheduler, and an engine that says yes to everything.
struct World {
  std::unique_ptr<Scheduler> scheduler = std::move(Scheduler::create({})).value();
  std::vector<Event> events;

  explicit World(int64_t nodes) {
    events.push_back({{}, TopologyDefined{{.levels = {"rack", "block"}}}});
    events.push_back({{}, QueueDefined{{.name = "default"}}});
    for (int64_t n = 0; n < nodes; ++n) {
      NodeSpec node{.name = fmt::format("n{}", n)};
      node.devices.resize(8);
      node.labels = {{"rack", fmt::format("r{}", n / 32)}, {"block", fmt::format("b{}", n / 512)}};
      events.push_back({{}, NodeAdded{std::move(node)}});
    }
    scheduler->apply(events);
  }

  void submit(const JobSpec& job) { events.push_back({{}, JobSubmitted{job}}); }
  void absorb() {
    scheduler->absorb(events);
    events.clear();
  }
  /// Holds and starts of the last decisions are answered with yes, until there are none left.
  void answer(const Decisions& decisions) {
    const Decisions* last = &decisions;
    for (;;) {
      events.clear();
      for (const Decision& d : last->list) {
        if (d.kind == DecisionKind::kHold) events.push_back({{}, HoldAccepted{d.job, d.attempt}});
        if (d.kind == DecisionKind::kStart) events.push_back({{}, GangStarted{d.job, d.attempt}});
      }
      if (events.empty()) return;
      last = &scheduler->absorb(events);
    }
  }
};

/// 10,000 nodes are full, and 100,000 jobs of 200 shapes wait.
void crowd(World& world) {
  for (int job = 0; job < 10'000; ++job) world.submit(gang(1, 8));
  world.absorb();
  world.answer(world.scheduler->apply(Event{}));
  for (int job = 0; job < 100'000; ++job) world.submit(gang(1 + job % 10, 1 + job % 8, 500 + 100 * (job % 200 / 8)));
  world.absorb();
  world.scheduler->apply(Event{});
}

/// Every waiting job is tried, none fits.
void pass_over_pending(benchmark::State& state) {
  World world(10'000);
  crowd(world);
  for (auto _ : state) {
    world.scheduler->try_everybody();
    benchmark::DoNotOptimize(world.scheduler->apply(Event{}).list.size());
  }
  state.counters["peak_MB"] = peak_megabytes();
}
BENCHMARK(pass_over_pending)->Unit(benchmark::kMillisecond);

/// What the end of one job costs while everybody waits: 8 GPUs come free, one of the 200 shapes takes them.
void one_job_ends_on_a_full_cluster(benchmark::State& state) {
  World world(10'000);
  crowd(world);
  std::vector<double> micros;
  size_t next = 0;
  for (auto _ : state) {
    if (next == 10'000) break;
    const auto start = Clock::now();
    const Decisions& made =
        world.scheduler->apply(Event{{}, TaskEnded{make_id<JobId>(next++), 1, 0, TaskOutcome::kDone, 0}});
    micros.push_back(micros_since(start));
    state.PauseTiming();
    world.answer(made);
    state.ResumeTiming();
  }
  std::ranges::sort(micros);
  state.counters["p50_us"] = micros[micros.size() / 2];
  state.counters["p99_us"] = micros[micros.size() * 99 / 100];
}
BENCHMARK(one_job_ends_on_a_full_cluster)->Unit(benchmark::kMicrosecond)->Iterations(2'000);

/// An empty cluster is filled in one pass: `tasks` tasks of one GPU per job.
void fill_cluster(benchmark::State& state) {
  const int64_t nodes = state.range(0);
  const auto tasks = static_cast<int32_t>(state.range(1));
  const int64_t gpus = nodes * 8;
  for (auto _ : state) {
    state.PauseTiming();
    auto world = std::make_unique<World>(nodes);
    world->events.clear();
    for (int64_t job = 0; job < gpus / tasks; ++job) world->submit(gang(tasks, 1));
    world->absorb();
    state.ResumeTiming();
    const Decisions& made = world->scheduler->apply(Event{});
    state.PauseTiming();
    if (std::ssize(made.placements) != gpus / tasks * tasks) state.SkipWithError("not everybody was placed");
    world.reset();
    state.ResumeTiming();
  }
  state.counters["tasks_per_s"] = benchmark::Counter(
      static_cast<double>(gpus) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["peak_MB"] = peak_megabytes();
}
BENCHMARK(fill_cluster)->Args({10'000, 1})->Args({10'000, 8})->Args({10'000, 64})->Unit(benchmark::kMillisecond);

/// The life of small jobs on a cluster that is three quarters full: submit, hold, accept, start, started, ended; one
/// apply() each.
void life_of_a_job(benchmark::State& state) {
  World world(state.range(0));
  for (int64_t job = 0; job < state.range(0) * 3 / 4; ++job) world.submit(gang(1, 8));
  world.absorb();
  world.answer(world.scheduler->apply(Event{}));
  const JobSpec spec = gang(1, 1);
  std::deque<JobId> running;
  std::vector<double> micros;
  int64_t events = 0;
  for (auto _ : state) {
    const JobId job = world.scheduler->next_job_id();
    const auto start = Clock::now();
    world.scheduler->apply(Event{{}, JobSubmitted{spec}});
    micros.push_back(micros_since(start));
    world.scheduler->apply(Event{{}, HoldAccepted{job, 1}});
    world.scheduler->apply(Event{{}, GangStarted{job, 1}});
    running.push_back(job);
    events += 3;
    if (running.size() <= 1000) continue;
    world.scheduler->apply(Event{{}, TaskEnded{running.front(), 1, 0, TaskOutcome::kDone, 0}});
    running.pop_front();
    ++events;
  }
  std::ranges::sort(micros);
  state.counters["events_per_s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["submit_p50_us"] = micros[micros.size() / 2];
  state.counters["submit_p99_us"] = micros[micros.size() * 99 / 100];
}
BENCHMARK(life_of_a_job)->Arg(1'000)->Arg(10'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

/// One gang of 64 nodes comes and goes on a cluster that is three quarters full; growth with the number of nodes.
void gang_comes_and_goes(benchmark::State& state) {
  World world(state.range(0));
  for (int64_t job = 0; job < state.range(0) * 3 / 4; ++job) world.submit(gang(1, 8));
  world.absorb();
  world.answer(world.scheduler->apply(Event{}));
  const JobSpec spec = gang(64, 8);
  std::vector<double> micros;
  std::vector<Event> ends;
  for (auto _ : state) {
    const JobId job = world.scheduler->next_job_id();
    const auto start = Clock::now();
    const Decisions& made = world.scheduler->apply(Event{{}, JobSubmitted{spec}});
    micros.push_back(micros_since(start));
    if (made.placements.size() != 64) state.SkipWithError("the gang was not placed");
    world.scheduler->apply(Event{{}, HoldAccepted{job, 1}});
    world.scheduler->apply(Event{{}, GangStarted{job, 1}});
    ends.clear();
    for (int32_t task = 0; task < 64; ++task) ends.push_back({{}, TaskEnded{job, 1, task, TaskOutcome::kDone, 0}});
    world.scheduler->apply(ends);
  }
  std::ranges::sort(micros);
  state.counters["decision_p50_us"] = micros[micros.size() / 2];
  state.counters["decision_p99_us"] = micros[micros.size() * 99 / 100];
}
BENCHMARK(gang_comes_and_goes)->Arg(1'000)->Arg(10'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weft
