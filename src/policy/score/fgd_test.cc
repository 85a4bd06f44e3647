#include "base/rng.h"
#include "placement/device_choice.h"
#include "placement/fragmentation.h"
#include "policy/registry.h"
#include "policy/score/device_pick.h"
#include "state/cluster_state.h"
#include "state/test_world.h"
#include "state/transaction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace weft {
namespace {

using testing::cpu_demand;
using testing::gpu_node;
using testing::on_node;
using testing::share_on;
using testing::whole_demand;
using testing::whole_on;

/// int(100 * sigmoid(x / 1000)) as it is written down. Falls that are zero but for rounding count as zero.
int32_t by_formula(double fall) {
  if (std::abs(fall) < 1e-6) fall = 0;
  return static_cast<int32_t>(100.0 * (1.0 / (1.0 + std::exp(-fall / 1000))));
}

struct Choice {
  int32_t score = -1;
  int device = -1;
};

/// The score by its definition: takes what the task would get in a transaction, measures, and puts it back.
class SlowFgd {
 public:
  SlowFgd(ClusterState& state, const TargetWorkload& workload) : state_(state), workload_(workload) {}

  Choice score(NodeId node, const TaskDemand& demand) {
    if (!is_fraction(demand.devices.kind)) {
      TaskPlacement at;
      EXPECT_EQ(choose_devices(state_, node, demand, {}, PackOrSpread::kPack, -1, at), Reason::kNone);
      return {.score = by_formula(fall(node, demand, at))};
    }
    Choice best;
    const unsigned devices = state_.nodes().device_count[index(node)];
    for (unsigned device = 0; device < devices; ++device) {
      TaskPlacement at;
      const Reason reason = choose_devices(state_, node, demand, {}, PackOrSpread::kPack, static_cast<int>(device), at);
      if (reason != Reason::kNone || at.devices != DeviceMask{1} << device) continue;
      const int32_t score = by_formula(fall(node, demand, at));
      if (score > best.score) best = {.score = score, .device = static_cast<int>(device)};
    }
    return best;
  }

 private:
  double fall(NodeId node, const TaskDemand& demand, const TaskPlacement& at) {
    const double before = node_fragmentation(state_, node, workload_);
    Transaction txn(state_);
    txn.take(demand, at);
    const double after = node_fragmentation(state_, node, workload_);
    return before - after;  // the transaction rolls back
  }

  ClusterState& state_;
  const TargetWorkload& workload_;
};

TargetTask task(int64_t cpu_milli, int32_t count, int32_t milli, double popularity) {
  return {.cpu_milli = cpu_milli, .gpu_count = count, .gpu_milli = milli, .models = {}, .popularity = popularity};
}

NodeSpec shared_node(std::string name, size_t gpus) {
  NodeSpec spec = gpu_node(std::move(name), gpus);
  spec.share = ShareMode::kTimeSlice;
  return spec;
}

TaskDemand fraction(int32_t milli, int64_t cpu_milli = 0) {
  TaskDemand demand = cpu_demand(cpu_milli);
  demand.devices.kind = DeviceNeedKind::kMilli;
  demand.devices.milli = milli;
  return demand;
}

TEST(FgdScore, WorkedExampleOfTheDocumentation) {
  // Two GPUs, one with 600 of 1,000 free. Half of what comes needs 600 of a GPU, half a whole one.
  ClusterState state;
  ASSERT_TRUE(state.add_node(shared_node("a", 2)));
  const NodeId node{0};
  Transaction txn(state);
  txn.take(cpu_demand(0), share_on(node, 1, 400, 1));
  txn.commit();
  const TargetWorkload workload{task(1000, 1, 600, 0.5), task(1000, 1, 1000, 0.5)};
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, workload), 300);  // 600 for the whole one, nothing for the other
  const auto fgd = make_node_score("fgd");
  int device = -1;
  // On GPU 1 the fragments fall to 0; on GPU 0, 400 and 600 stay: 0.5 * 400 + 0.5 * 1000 = 700.
  const ScoreContext context{.state = state, .workload = workload, .workload_version = 1};
  EXPECT_EQ((*fgd)->score(context, node, fraction(600), device), by_formula(300));
  EXPECT_EQ(device, 1);
}

TEST(FgdScore, NothingChangesWhereATaskTakesNothingThatCounts) {
  ClusterState state;
  ASSERT_TRUE(state.add_node(shared_node("a", 2)));
  const TargetWorkload workload{task(1000, 1, 1000, 1)};
  const auto fgd = make_node_score("fgd");
  int device = -1;
  const ScoreContext context{.state = state, .workload = workload, .workload_version = 1};
  EXPECT_EQ((*fgd)->score(context, NodeId{0}, cpu_demand(1000), device), 50);
  EXPECT_EQ((*fgd)->score(context, NodeId{0}, cpu_demand(64'000), device), by_formula(-2000)) << "the last CPUs go";
}

TEST(FgdScore, AChangedWorkloadIsSeen) {
  ClusterState state;
  ASSERT_TRUE(state.add_node(shared_node("a", 2)));
  TargetWorkload workload{task(1000, 1, 1000, 1)};
  const auto fgd = make_node_score("fgd");
  int device = -1;
  const auto score = [&](uint64_t version) {
    return (*fgd)->score({.state = state, .workload = workload, .workload_version = version}, NodeId{0},
                         whole_demand(1), device);
  };
  EXPECT_EQ(score(1), 50);
  workload[0].gpu_count = 2;  // same place and size: only the version tells
  EXPECT_EQ(score(2), by_formula(-1000));
}

TargetWorkload random_workload(const ClusterState& state, Rng& rng) {
  std::vector<TargetTask> tasks;
  for (int i = 0; i < 12; ++i) {
    TargetTask t = task(rng.between(0, 8) * 4000, static_cast<int32_t>(rng.between(0, 4)), 1000,
                        static_cast<double>(rng.between(1, 20)));
    if (t.gpu_count == 1 && rng.below(2) == 0) t.gpu_milli = static_cast<int32_t>(rng.between(1, 9) * 100);
    if (t.gpu_count == 0) t.gpu_milli = 0;
    if (rng.below(4) == 0) t.models = {state.names().devices.find(rng.below(2) == 0 ? "A100-SXM4-80GB" : "generic")};
    tasks.push_back(t);
  }
  return target_workload(tasks, 0.95);
}

TaskDemand random_demand(Rng& rng) {
  const int64_t cpu = rng.between(0, 8) * 1000;
  switch (rng.below(4)) {
    case 0: return cpu_demand(cpu);
    case 1: return whole_demand(static_cast<int32_t>(rng.between(1, 4)), cpu);
    case 2: {
      TaskDemand demand = cpu_demand(cpu);
      demand.devices.kind = DeviceNeedKind::kMemory;
      demand.devices.memory_bytes = rng.between(1, 60) * kGiB;
      return demand;
    }
    default: return fraction(static_cast<int32_t>(rng.between(1, 10)) * 100, cpu);
  }
}

/// Shared nodes whose devices differ in model, and in memory.
void add_uneven_nodes(ClusterState& state) {
  for (int i = 0; i < 4; ++i) {
    NodeSpec spec = shared_node("uneven" + std::to_string(i), 4);
    if (i % 2 == 0) spec.devices[1].model = spec.devices[3].model = "A100-SXM4-80GB";
    if (i % 2 == 1) spec.devices[2].memory_bytes = 40 * kGiB;
    ASSERT_TRUE(state.add_node(spec));
  }
}

TEST(FgdScore, AgreesWithTheDefinitionInRandomWorlds) {
  int compared = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Rng rng(seed);
    ClusterState state;
    testing::build_random_world(state, rng, 16);
    add_uneven_nodes(state);
    TargetWorkload workload = random_workload(state, rng);
    uint64_t version = 1;
    const auto fgd = make_node_score("fgd");
    for (int step = 0; step < 150; ++step) {
      Transaction txn(state);
      testing::Lease lease;
      if (testing::random_lease(state, rng, lease)) txn.take(lease.demand, lease.at);
      if (rng.below(4) != 0) txn.commit();
      txn.rollback(0);
      if (rng.below(30) == 0) {
        workload = random_workload(state, rng);
        ++version;
      }
    }
    SlowFgd slow(state, workload);
    for (int trial = 0; trial < 300; ++trial) {
      const NodeId node = make_id<NodeId>(rng.below(state.nodes().size()));
      const TaskDemand demand = random_demand(rng);
      TaskPlacement at;
      if (choose_devices(state, node, demand, {}, PackOrSpread::kPack, -1, at) != Reason::kNone) continue;
      const Choice expected = slow.score(node, demand);
      int device = -1;
      const int32_t score =
          (*fgd)->score({.state = state, .workload = workload, .workload_version = version}, node, demand, device);
      ASSERT_EQ(score, expected.score) << "seed " << seed << " trial " << trial;
      ASSERT_EQ(device, expected.device) << "seed " << seed << " trial " << trial;
      ++compared;
    }
  }
  EXPECT_GT(compared, 500);
}

TEST(FgdScore, WhatOthersTakeBetweenTwoAnswersIsSeen) {
  ClusterState state;
  ASSERT_TRUE(state.add_node(shared_node("a", 2)));
  const TargetWorkload workload{task(1000, 2, 1000, 1)};
  const auto fgd = make_node_score("fgd");
  int device = -1;
  const ScoreContext context{.state = state, .workload = workload, .workload_version = 1};
  EXPECT_EQ((*fgd)->score(context, NodeId{0}, whole_demand(1), device), by_formula(-1000)) << "the pair is broken";
  Transaction txn(state);
  txn.take(whole_demand(1), whole_on(NodeId{0}, 0b01));
  EXPECT_EQ((*fgd)->score(context, NodeId{0}, whole_demand(1), device), by_formula(1000)) << "a fragment is used";
  txn.rollback(0);
  EXPECT_EQ((*fgd)->score(context, NodeId{0}, whole_demand(1), device), by_formula(-1000));
}

TEST(FgdScore, CpusThatFitExactlyAreEnough) {
  ClusterState state;
  ASSERT_TRUE(state.add_node(shared_node("a", 2)));  // 64 CPUs
  const TargetWorkload workload{task(1000, 1, 1000, 1)};
  const auto fgd = make_node_score("fgd");
  int device = -1;
  const ScoreContext context{.state = state, .workload = workload, .workload_version = 1};
  EXPECT_EQ((*fgd)->score(context, NodeId{0}, cpu_demand(63'000), device), 50);
  EXPECT_EQ((*fgd)->score(context, NodeId{0}, cpu_demand(63'001), device), by_formula(-2000));
}

TEST(FgdScore, AWholeTaskOnAMixedNodeTakesDevicesOfItsModelOnly) {
  ClusterState state;
  NodeSpec spec = shared_node("mixed", 2);
  spec.devices[1].model = "A100-SXM4-80GB";
  ASSERT_TRUE(state.add_node(spec));
  TargetTask generic = task(1000, 1, 1000, 1);
  generic.models = {state.names().devices.find("generic")};
  const TargetWorkload workload{generic};
  const auto fgd = make_node_score("fgd");
  int device = -1;
  const ScoreContext context{.state = state, .workload = workload, .workload_version = 1};
  TaskDemand demand = whole_demand(1);
  demand.devices.models = {state.names().devices.find("A100-SXM4-80GB")};
  EXPECT_EQ((*fgd)->score(context, NodeId{0}, demand, device), by_formula(1000)) << "nobody else can use that device";
}

}  // namespace
}  // namespace weft
