// Placement alone, without a scheduler: tasks placed and committed, what-if gangs, verdicts, and a fill of a public
// cluster under FGD.

#include "base/check.h"
#include "base/rng.h"
#include "placement/fragmentation.h"
#include "placement/placer.h"
#include "policy/registry.h"
#include "state/cluster_state.h"
#include "state/transaction.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace weft {
namespace {

/// The specs of this file are right.
template <typename T>
void must(const Result<T>& result) {
  WEFT_CHECK(result.has_value(), "what a benchmark builds is valid");
}

NodeSpec node_spec(size_t i) {
  NodeSpec spec;
  spec.name = "n" + std::to_string(i);
  spec.cpu_milli = 128'000;
  spec.memory_bytes = 1024 * kGiB;
  spec.devices.resize(8);
  for (unsigned d = 0; d < 8; ++d) spec.devices[d].numa_zone = d < 4 ? 0 : 1;
  spec.islands = {0x0f, 0xf0};
  spec.labels = {{"rack", "r" + std::to_string(i / 32)}, {"block", "b" + std::to_string(i / 512)}};
  return spec;
}

/// Nodes of 8 devices in racks of 32 and blocks of 512.
struct Cluster {
  explicit Cluster(size_t nodes, std::string_view policy = "pack") {
    must(state.define_topology({.levels = {"rack", "block"}}));
    must(state.define_queue({.name = "default"}));
    for (size_t i = 0; i < nodes; ++i) must(state.add_node(node_spec(i)));
    score = *make_node_score(policy);
    placer = std::make_unique<Placer>(config, std::vector<ActiveScore>{{score.get(), 1}});
  }

  ShapeId shape(int32_t count, int32_t gpus, std::string within = "") {
    JobSpec job;
    job.name = "job";
    RoleSpec role;
    role.count = count;
    role.devices = {.kind = DeviceNeedKind::kWhole, .count = gpus};
    job.roles = {role};
    job.topology.within = std::move(within);
    return state.intern(*state.resolve(job));
  }

  Verdict place(Transaction& txn, ShapeId id, const std::vector<int32_t>& counts) {
    return placer->place_gang(txn, {.shape_id = id, .counts = counts}, at);
  }

  /// Takes random devices until `percent` of the cluster is in use.
  void fill(int64_t percent, uint64_t seed = 1) {
    Rng rng(seed);
    Transaction txn(state);
    TaskDemand demand;
    demand.cpu_milli = 1000;
    demand.devices = {.kind = DeviceNeedKind::kWhole, .count = 1};
    for (size_t n = 0; n < state.nodes().size(); ++n) {
      const NodeId node = make_id<NodeId>(n);
      // Some nodes stay free as a whole, the rest lose devices at random.
      if (static_cast<int64_t>(rng.below(100)) >= percent + (100 - percent) / 2) continue;
      for (unsigned d = 0; d < 8; ++d) {
        if (rng.below(10) == 0) continue;
        txn.take(demand, {.node = node, .kind = DeviceNeedKind::kWhole, .devices = DeviceMask{1} << d});
      }
    }
    txn.commit();
  }

  /// One device of every node stays free, so that every node must be looked at.
  void leave_one_device() {
    Transaction txn(state);
    TaskDemand demand;
    demand.cpu_milli = 1000;
    demand.devices = {.kind = DeviceNeedKind::kWhole, .count = 1};
    for (size_t n = 0; n < state.nodes().size(); ++n) {
      for (unsigned d = 1; d < 8; ++d) {
        txn.take(demand, {.node = make_id<NodeId>(n), .kind = DeviceNeedKind::kWhole, .devices = DeviceMask{1} << d});
      }
    }
    txn.commit();
  }

  ClusterState state;
  PolicyConfig config;
  std::unique_ptr<NodeScore> score;
  std::unique_ptr<Placer> placer;
  GangPlacement at;
};

/// Single tasks of 1, 2, 4 and 8 GPUs, each its own transaction and commit, until the cluster is nearly full; then all
/// are given back.
void place_and_commit(benchmark::State& bench) {
  Cluster cluster(static_cast<size_t>(bench.range(0)));
  const std::vector<ShapeId> shapes{cluster.shape(1, 1), cluster.shape(1, 2), cluster.shape(1, 4), cluster.shape(1, 8)};
  const std::vector<int32_t> one{1};
  const auto batch = static_cast<size_t>(bench.range(0)) * 2;
  std::vector<std::pair<ShapeId, TaskPlacement>> taken;
  Rng rng(7);
  int64_t tasks = 0;
  for (auto _ : bench) {
    for (size_t i = 0; i < batch; ++i) {
      const ShapeId shape = shapes[rng.below(shapes.size())];
      Transaction txn(cluster.state);
      if (!cluster.place(txn, shape, one).is_yes()) break;
      txn.commit();
      taken.emplace_back(shape, cluster.at.tasks.front());
      ++tasks;
    }
    bench.PauseTiming();
    Transaction txn(cluster.state);
    for (const auto& [shape, at] : taken) txn.give(cluster.state.shapes()[shape].roles[0].demand, at);
    txn.commit();
    taken.clear();
    bench.ResumeTiming();
  }
  bench.SetItemsProcessed(tasks);
}
BENCHMARK(place_and_commit)->Arg(1000)->Arg(10'000)->Arg(50'000)->Unit(benchmark::kMillisecond);

/// A gang of whole nodes at 10,000 nodes, 85 % full, and its rollback.
void what_if_gang(benchmark::State& bench, const std::string& within) {
  Cluster cluster(10'000);
  cluster.fill(85);
  const auto count = static_cast<int32_t>(bench.range(0));
  const ShapeId shape = cluster.shape(count, 8, within);
  const std::vector<int32_t> counts{count};
  int64_t placed = 0;
  for (auto _ : bench) {
    Transaction txn(cluster.state);
    placed += cluster.place(txn, shape, counts).is_yes() ? 1 : 0;
  }
  if (placed == 0) bench.SkipWithError("the gang does not fit");
}
BENCHMARK_CAPTURE(what_if_gang, anywhere, "")->Arg(2)->Arg(8)->Arg(64)->Arg(128);
BENCHMARK_CAPTURE(what_if_gang, one_block, "block")->Arg(2)->Arg(8)->Arg(16);

void what_if_growth(benchmark::State& bench) {
  Cluster cluster(static_cast<size_t>(bench.range(0)));
  cluster.fill(85);
  const ShapeId shape = cluster.shape(16, 8);
  const std::vector<int32_t> counts{16};
  for (auto _ : bench) {
    Transaction txn(cluster.state);
    benchmark::DoNotOptimize(cluster.place(txn, shape, counts));
  }
}
BENCHMARK(what_if_growth)->Arg(1000)->Arg(5000)->Arg(10'000)->Arg(50'000);

enum class Obstacle { kTotal, kNode, kModel, kCpus, kNever };

/// "Cannot run" with its full verdict, by search and by counting alone.
void cannot_run(benchmark::State& bench, Obstacle obstacle) {
  Cluster cluster(10'000);
  cluster.leave_one_device();
  JobSpec job;
  job.name = "job";
  RoleSpec role;
  role.devices = {.kind = DeviceNeedKind::kWhole, .count = 1};
  if (obstacle == Obstacle::kTotal) role.count = 10'001;
  if (obstacle == Obstacle::kNode) role.devices.count = 2;
  if (obstacle == Obstacle::kModel) role.constraint.models = {"H100-SXM5-80GB"};
  if (obstacle == Obstacle::kCpus) role.cpu_milli = 128'000;
  if (obstacle == Obstacle::kNever) role.devices.count = 9;
  job.roles = {role};
  const ShapeId shape = cluster.state.intern(*cluster.state.resolve(job));
  const std::vector<int32_t> counts{role.count};
  for (auto _ : bench) {
    Transaction txn(cluster.state);
    benchmark::DoNotOptimize(cluster.place(txn, shape, counts));
  }
}
BENCHMARK_CAPTURE(cannot_run, total, Obstacle::kTotal);
BENCHMARK_CAPTURE(cannot_run, node, Obstacle::kNode);
BENCHMARK_CAPTURE(cannot_run, model, Obstacle::kModel);
BENCHMARK_CAPTURE(cannot_run, cpus, Obstacle::kCpus);
BENCHMARK_CAPTURE(cannot_run, never, Obstacle::kNever);

std::vector<std::vector<std::string>> read_csv(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> cells;
    std::stringstream cells_of(line);
    for (std::string cell; std::getline(cells_of, cell, ',');) cells.push_back(cell);
    cells.resize(12);
    rows.push_back(std::move(cells));
  }
  return rows;
}

/// The openb cluster with the shapes of its pods in a random order, 1.3 times the capacity.
struct Openb {
  explicit Openb(const std::string& folder) {
    must(state.define_queue({.name = "default"}));
    for (const auto& row : read_csv(folder + "/openb_node_list_gpu_node.csv")) add_node(row);
    std::vector<TargetTask> kinds;
    std::vector<std::pair<ShapeId, int64_t>> pods;
    for (const auto& row : read_csv(folder + "/openb_pod_list_default.csv")) pods.push_back(add_pod(row, kinds));
    workload = target_workload(kinds, 0.95);
    Rng rng(42);
    rng.shuffle(pods);
    int64_t asked = 0;
    int64_t capacity = 0;
    for (const uint16_t devices : state.nodes().device_count) capacity += 1000 * devices;
    for (const auto& [shape, gpu_milli] : pods) asked += gpu_milli;
    while (asked < capacity * 13 / 10) {
      pods.push_back(pods[rng.below(8152)]);
      asked += pods.back().second;
    }
    for (const auto& [shape, gpu_milli] : pods) arrivals.push_back(shape);
  }

  void add_node(const std::vector<std::string>& row) {
    NodeSpec spec;
    spec.name = row[0];
    spec.cpu_milli = std::stoll(row[1]);
    spec.memory_bytes = std::stoll(row[2]) * kMiB;
    spec.share = ShareMode::kTimeSlice;
    DeviceModel model;
    model.name = row[4];
    model.vendor = "openb";
    model.memory_bytes = 16 * kGiB;
    state.names().devices.add(model);
    spec.devices.resize(static_cast<size_t>(std::stoi(row[3])));
    for (DeviceSpec& device : spec.devices) device.model = row[4];
    must(state.add_node(spec));
  }

  std::pair<ShapeId, int64_t> add_pod(const std::vector<std::string>& row, std::vector<TargetTask>& kinds) {
    JobSpec job;
    job.name = "pod";
    RoleSpec role;
    role.cpu_milli = std::stoll(row[1]);
    role.memory_bytes = std::stoll(row[2]) * kMiB;
    const int32_t count = std::stoi(row[3]);
    const int32_t milli = count > 0 ? std::stoi(row[4]) : 0;
    if (count > 0 && milli < 1000) role.devices = {.kind = DeviceNeedKind::kMilli, .milli = milli};
    if (count > 0 && milli >= 1000) role.devices = {.kind = DeviceNeedKind::kWhole, .count = count};
    std::stringstream models(row[5]);
    for (std::string model; std::getline(models, model, '|');) role.constraint.models.push_back(model);
    job.roles = {role};
    const ShapeId shape = state.intern(*state.resolve(job));
    kinds.push_back({.cpu_milli = role.cpu_milli,
                     .gpu_count = count,
                     .gpu_milli = milli,
                     .models = state.shapes()[shape].roles[0].demand.devices.models,
                     .popularity = 1});
    return {shape, int64_t{count} * milli};
  }

  ClusterState state;
  std::vector<ShapeId> arrivals;
  TargetWorkload workload;
};

void fill_openb(benchmark::State& bench, const std::string& policy) {
  const char* const data = std::getenv("WEFT_DATA");
  if (data == nullptr) {
    bench.SkipWithError("not run: set WEFT_DATA to the folder that holds openb/");
    return;
  }
  Openb openb(std::string(data) + "/openb");
  const std::unique_ptr<NodeScore> score = *make_node_score(policy);
  const std::vector<int32_t> one{1};
  GangPlacement at;
  int64_t placed = 0;
  int64_t milli = 0;
  for (auto _ : bench) {
    Placer placer({}, {{score.get(), 1}});
    placer.set_workload(openb.workload);
    Transaction txn(openb.state);  // rolled back at the end of each run
    placed = 0;
    milli = 0;
    for (size_t i = 0; i < openb.arrivals.size(); ++i) {
      const GangRequest request{.shape_id = openb.arrivals[i], .counts = one};
      if (!placer.place_gang(txn, request, at).is_yes()) continue;
      ++placed;
      milli += at.tasks[0].kind == DeviceNeedKind::kWhole ? 1000 * popcount(at.tasks[0].devices) : at.tasks[0].milli;
    }
  }
  bench.SetItemsProcessed(static_cast<int64_t>(bench.iterations() * openb.arrivals.size()));
  bench.counters["allocated_percent"] = static_cast<double>(milli) / 62120.0;
  bench.counters["placed"] = static_cast<double>(placed);
}
BENCHMARK_CAPTURE(fill_openb, fgd, "fgd")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill_openb, dotprod, "dotprod")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill_openb, bestfit, "bestfit")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill_openb, random, "random")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill_openb, pack, "pack")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft
