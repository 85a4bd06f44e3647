// Figures of the state alone: writes and their undoing, reads of the capacity index, growth, memory. Nothing here is a
// test.

#include "base/rng.h"
#include "model/catalogue.h"
#include "state/cluster_state.h"
#include "state/transaction.h"

#include <benchmark/benchmark.h>

#include <malloc.h>
#include <memory>
#include <numeric>
#include <string>

namespace weft {
namespace {

constexpr size_t kNodesInRack = 16;
constexpr size_t kRacksInBlock = 20;

NodeSpec node_spec(size_t n) {
  NodeSpec spec;
  spec.name = "n" + std::to_string(n);
  spec.devices.resize(8);
  for (DeviceSpec& device : spec.devices) device.model = "A100-SXM4-80GB";
  spec.labels = {{"rack", "r" + std::to_string(n / kNodesInRack)},
                 {"block", "b" + std::to_string(n / kNodesInRack / kRacksInBlock)}};
  return spec;
}

TaskDemand demand_of(int32_t gpus) {
  TaskDemand demand;
  demand.cpu_milli = 4000;
  demand.memory_bytes = 32 * kGiB;
  demand.devices.kind = DeviceNeedKind::kWhole;
  demand.devices.count = gpus;
  return demand;
}

TaskPlacement place_on(size_t node, DeviceMask devices) {
  TaskPlacement at;
  at.node = make_id<NodeId>(node);
  at.kind = DeviceNeedKind::kWhole;
  at.devices = devices;
  return at;
}

std::unique_ptr<ClusterState> make_cluster(size_t nodes) {
  auto state = std::make_unique<ClusterState>();
  WEFT_CHECK(state->define_topology({.levels = {"rack", "block"}}).has_value(), "levels of the benchmark");
  WEFT_CHECK(state->define_queue(QueueSpec{.name = "default"}).has_value(), "the queue of the benchmark");
  for (size_t n = 0; n < nodes; ++n) WEFT_CHECK(state->add_node(node_spec(n)).has_value(), "a node of the benchmark");
  return state;
}

/// 85 % of the devices taken, each node a random number of them.
void fill(ClusterState& state) {
  Rng rng(1);
  Transaction txn(state);
  for (size_t n = 0; n < state.nodes().size(); ++n) {
    if (rng.below(100) >= 95) continue;
    const auto gpus = static_cast<int32_t>(rng.below(10) < 7 ? 8 : rng.between(1, 7));
    txn.take(demand_of(gpus), place_on(n, low_bits(static_cast<unsigned>(gpus))));
  }
  txn.commit();
}

/// Nodes in an order that no cache line guesses.
std::vector<size_t> shuffled(size_t nodes) {
  std::vector<size_t> order(nodes);
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng(2);
  rng.shuffle(order);
  return order;
}

void take_give(benchmark::State& bench) {
  const auto state = make_cluster(static_cast<size_t>(bench.range(0)));
  const std::vector<size_t> order = shuffled(state->nodes().size());
  const TaskDemand demand = demand_of(8);
  Transaction txn(*state);
  size_t i = 0;
  for (auto _ : bench) {
    const TaskPlacement at = place_on(order[i], 0xff);
    txn.take(demand, at);
    txn.give(demand, at);
    txn.commit();
    if (++i == order.size()) i = 0;
  }
}

void take_rollback(benchmark::State& bench) {
  const auto state = make_cluster(static_cast<size_t>(bench.range(0)));
  const std::vector<size_t> order = shuffled(state->nodes().size());
  const TaskDemand demand = demand_of(8);
  Transaction txn(*state);
  size_t i = 0;
  for (auto _ : bench) {
    const Transaction::Mark mark = txn.mark();
    txn.take(demand, place_on(order[i], 0xff));
    txn.rollback(mark);
    if (++i == order.size()) i = 0;
  }
}

/// A gang of whole nodes: the writes of a what-if without its search.
void gang_rollback(benchmark::State& bench) {
  const auto state = make_cluster(10'000);
  const std::vector<size_t> order = shuffled(state->nodes().size());
  const TaskDemand demand = demand_of(8);
  const auto gang = static_cast<size_t>(bench.range(0));
  Transaction txn(*state);
  size_t first = 0;
  for (auto _ : bench) {
    const Transaction::Mark mark = txn.mark();
    for (size_t i = 0; i < gang; ++i) txn.take(demand, place_on(order[first + i], 0xff));
    txn.rollback(mark);
    first = first + 2 * gang < order.size() ? first + gang : 0;
  }
  bench.counters["per_task"] = benchmark::Counter(
      static_cast<double>(gang), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void take_charge_commit(benchmark::State& bench) {
  const auto state = make_cluster(static_cast<size_t>(bench.range(0)));
  const std::vector<size_t> order = shuffled(state->nodes().size());
  const TaskDemand demand = demand_of(8);
  const ResourceVector charge{8 * kGpuUnits, demand.cpu_milli, demand.memory_bytes};
  Transaction txn(*state);
  size_t i = 0;
  for (auto _ : bench) {
    const TaskPlacement at = place_on(order[i], 0xff);
    txn.take(demand, at);
    txn.charge(QueueId{0}, charge, 1);
    txn.commit();
    txn.give(demand, at);
    txn.charge(QueueId{0}, charge * -1, 1);
    txn.commit();
    if (++i == order.size()) i = 0;
  }
}

/// The first node of the fullest bucket that holds `k` devices.
void best_fit(benchmark::State& bench) {
  const auto state = make_cluster(static_cast<size_t>(bench.range(0)));
  fill(*state);
  const CapacityIndex& capacity = state->capacity();
  unsigned k = 1;
  for (auto _ : bench) {
    size_t found = SIZE_MAX;
    for (unsigned free = k; free <= capacity.free_max(PoolId{0}) && found == SIZE_MAX; ++free) {
      const BitSet& bucket = capacity.bucket(PoolId{0}, free);
      for (size_t w = 0; w < bucket.word_count(); ++w) {
        if (bucket.word(w) == 0) continue;
        found = w * 64 + static_cast<size_t>(std::countr_zero(bucket.word(w)));
        break;
      }
    }
    benchmark::DoNotOptimize(found);
    k = k % 8 + 1;
  }
}

/// "How many nodes have k free?" for the cluster and for a rack.
void suffix_sum(benchmark::State& bench) {
  const auto state = make_cluster(static_cast<size_t>(bench.range(0)));
  fill(*state);
  const auto racks = state->domains_at(LevelId{0});
  size_t i = 0;
  for (auto _ : bench) {
    uint32_t nodes = 0;
    const auto histogram = state->capacity().histogram(racks[i], PoolId{0});
    for (size_t free = 4; free < histogram.size(); ++free) nodes += histogram[free];
    benchmark::DoNotOptimize(nodes);
    if (++i == racks.size()) i = 0;
  }
}

void add_nodes(benchmark::State& bench) {
  for (auto _ : bench) {
    const auto state = make_cluster(static_cast<size_t>(bench.range(0)));
    benchmark::DoNotOptimize(state->nodes().size());
  }
}

/// Bytes on the heap for the cluster and for 100,000 waiting jobs of 200 shapes.
void memory(benchmark::State& bench) {
  for (auto _ : bench) {
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    const auto state = make_cluster(static_cast<size_t>(bench.range(0)));
    const size_t nodes = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (size_t j = 0; j < 100'000; ++j) {
      JobSpec spec{
          .name = "j", .queue = "default", .roles = {RoleSpec{.cpu_milli = static_cast<int64_t>(j % 200) * 100}}};
      auto shape = state->resolve(spec);
      state->add_job(state->intern(std::move(*shape)), UserId{0}, Instant{static_cast<int64_t>(j)}, kEndless);
    }
    const size_t jobs = mallinfo2().uordblks + mallinfo2().hblkhd;
    bench.counters["nodes_MB"] = static_cast<double>(nodes - before) * 1e-6;
    bench.counters["jobs_MB"] = static_cast<double>(jobs - nodes) * 1e-6;
  }
}

void audit(benchmark::State& bench) {
  const auto state = make_cluster(static_cast<size_t>(bench.range(0)));
  fill(*state);
  for (auto _ : bench) benchmark::DoNotOptimize(state->audit_indices().size());
}

BENCHMARK(take_give)->Arg(1'000)->Arg(10'000)->Arg(50'000);
BENCHMARK(take_rollback)->Arg(1'000)->Arg(10'000)->Arg(50'000);
BENCHMARK(take_charge_commit)->Arg(1'000)->Arg(10'000)->Arg(50'000);
BENCHMARK(gang_rollback)->Arg(2)->Arg(8)->Arg(64)->Arg(128);
BENCHMARK(best_fit)->Arg(1'000)->Arg(10'000)->Arg(50'000);
BENCHMARK(suffix_sum)->Arg(1'000)->Arg(10'000)->Arg(50'000);
BENCHMARK(add_nodes)->Arg(1'000)->Arg(10'000)->Arg(50'000)->Unit(benchmark::kMillisecond);
BENCHMARK(audit)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(memory)->Arg(10'000)->Arg(50'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft
