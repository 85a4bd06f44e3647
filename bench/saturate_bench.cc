// Figures of filling a cluster, and of the scores: seconds and pods/s for one whole run under each policy on the public
// openb trace where WEFT_DATA names it (else on one of the same make), nanoseconds for one score. Nothing here is a
// test.

#include "base/check.h"
#include "base/rng.h"
#include "placement/fragmentation.h"
#include "policy/registry.h"
#include "sim/saturation/saturation.h"
#include "sim/text_file.h"
#include "state/cluster_state.h"
#include "state/transaction.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <string>

namespace weft {
namespace {

/// A cluster and a list of pods of the trace's make: its kinds of nodes, its mix of pods.
sim::SaturationInput made_up_input() {
  Rng rng(1);
  sim::SaturationInput input;
  for (int i = 0; i < 1200; ++i) {
    const bool is_large = i % 2 == 0;
    input.nodes.push_back({.name = "n" + std::to_string(10'000 + i),
                           .cpu_milli = is_large ? 96'000 : 64'000,
                           .memory_mib = 393'216,
                           .gpus = is_large ? 8 : 2,
                           .model = is_large ? "G2" : "T4"});
  }
  constexpr std::array kMilli{100, 200, 250, 330, 460, 500, 670, 810};
  for (int i = 0; i < 8000; ++i) {
    sim::OpenbPod pod{
        .name = "p" + std::to_string(10'000 + i), .cpu_milli = rng.between(1, 16) * 1000, .memory_mib = 16'384};
    const uint64_t kind = rng.below(100);
    if (kind >= 13) {
      pod.gpus = kind < 99 ? 1 : 8;
      pod.gpu_milli = kind < 51 ? kMilli[rng.below(kMilli.size())] : 1000;
    }
    input.pods.push_back(std::move(pod));
  }
  return input;
}

const sim::SaturationInput& input() {
  static const sim::SaturationInput made = [] {
    const char* data = std::getenv("WEFT_DATA");
    if (data == nullptr) return made_up_input();
    const std::string folder = std::string(data) + "/openb/";
    const auto nodes = sim::read_text_file(folder + "openb_node_list_gpu_node.csv");
    const auto pods = sim::read_text_file(folder + "openb_pod_list_default.csv");
    if (!nodes || !pods) return made_up_input();
    return sim::SaturationInput{.nodes = sim::read_openb_nodes(*nodes, "nodes").value(),
                                .pods = sim::read_openb_pods(*pods, "pods").value()};
  }();
  return made;
}

void fill(benchmark::State& bench, const std::string& policy) {
  (void)input();
  double pods = 0;
  for (auto _ : bench) {
    const auto run = sim::saturate(input(), {.policy = policy, .seed = 42});
    WEFT_CHECK(run.has_value(), "the trace is sound");
    pods += static_cast<double>(run->arrived);
  }
  bench.counters["pods/s"] = benchmark::Counter(pods, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(fill, fgd, std::string("fgd"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill, pack, std::string("pack"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill, bestfit, std::string("bestfit"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill, dotprod, std::string("dotprod"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill, packing, std::string("packing"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill, clustering, std::string("clustering"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill, random, std::string("random"))->Unit(benchmark::kMillisecond);

/// Nodes of 8 shared GPUs, each with some parts given away.
void build_nodes(ClusterState& state, size_t count) {
  Rng rng(2);
  for (size_t i = 0; i < count; ++i) {
    NodeSpec spec{.name = "n" + std::to_string(i), .cpu_milli = 96'000, .share = ShareMode::kTimeSlice};
    spec.devices.resize(8);
    const auto node = state.add_node(spec);
    WEFT_CHECK(node.has_value(), "a node of the benchmark");
    Transaction txn(state);
    for (unsigned device = 0; device < 4; ++device) {
      TaskDemand demand{.cpu_milli = 1000};
      TaskPlacement at{.node = *node,
                       .kind = DeviceNeedKind::kMilli,
                       .devices = uint64_t{1} << device,
                       .milli = static_cast<int32_t>(rng.between(1, 9) * 100),
                       .memory_bytes = 1};
      txn.take(demand, at);
    }
    txn.commit();
  }
}

/// The 35 shapes that the openb default trace comes down to, or nearly so.
TargetWorkload workload() {
  Rng rng(3);
  std::vector<TargetTask> tasks;
  for (int i = 0; i < 35; ++i) {
    const bool is_part = rng.below(2) == 0;
    tasks.push_back({.cpu_milli = rng.between(1, 16) * 1000,
                     .gpu_count = i < 5 ? 0 : 1,
                     .gpu_milli = i < 5     ? 0
                                  : is_part ? static_cast<int32_t>(rng.between(1, 9) * 100)
                                            : 1000,
                     .models = {},
                     .popularity = static_cast<double>(rng.between(1, 50))});
  }
  return target_workload(tasks, 1);
}

void score(benchmark::State& bench, const std::string& name, const DeviceDemand& devices) {
  constexpr size_t kNodes = 1000;
  ClusterState state;
  build_nodes(state, kNodes);
  const TargetWorkload target = workload();
  const auto made = make_node_score(name);
  TaskDemand demand{.cpu_milli = 4000};
  demand.devices = devices;
  size_t node = 0;
  for (auto _ : bench) {
    int device = -1;
    benchmark::DoNotOptimize((*made)->score({.state = state, .workload = target, .workload_version = 1},
                                            make_id<NodeId>(node), demand, device));
    node = (node + 1) % kNodes;
  }
}
const DeviceDemand kWhole{.kind = DeviceNeedKind::kWhole, .count = 1};
const DeviceDemand kPart{.kind = DeviceNeedKind::kMilli, .milli = 300};
BENCHMARK_CAPTURE(score, fgd_whole, std::string("fgd"), kWhole);
BENCHMARK_CAPTURE(score, fgd_part, std::string("fgd"), kPart);
BENCHMARK_CAPTURE(score, bestfit_part, std::string("bestfit"), kPart);
BENCHMARK_CAPTURE(score, packing_part, std::string("packing"), kPart);
BENCHMARK_CAPTURE(score, clustering_part, std::string("clustering"), kPart);
BENCHMARK_CAPTURE(score, pack_part, std::string("pack"), kPart);

void measure_fragments(benchmark::State& bench) {
  ClusterState state;
  build_nodes(state, 10'000);
  FragmentationMeter meter;
  meter.set_workload(workload());
  benchmark::DoNotOptimize(meter.measure(state));
  Transaction txn(state);
  const TaskDemand demand{.cpu_milli = 1000};
  for (auto _ : bench) {
    const TaskPlacement at{.node = NodeId{77}};
    txn.take(demand, at);
    benchmark::DoNotOptimize(meter.measure(state));
    txn.rollback(0);
  }
}
BENCHMARK(measure_fragments);

}  // namespace
}  // namespace weft
