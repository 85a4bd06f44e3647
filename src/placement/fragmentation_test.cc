#include "placement/fragmentation.h"

#include "base/rng.h"
#include "state/cluster_state.h"
#include "state/test_world.h"
#include "state/transaction.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

using testing::cpu_demand;
using testing::gpu_node;
using testing::share_on;
using testing::whole_demand;
using testing::whole_on;

NodeSpec shared_node(std::string name, size_t gpus, int64_t cpu_milli, std::string_view model = "generic") {
  NodeSpec spec = gpu_node(std::move(name), gpus, model);
  spec.share = ShareMode::kTimeSlice;
  spec.cpu_milli = cpu_milli;
  return spec;
}

NodeId must_add(ClusterState& state, const NodeSpec& spec) {
  const auto node = state.add_node(spec);
  EXPECT_TRUE(node.has_value()) << (node ? "" : node.error().message);
  return node.value_or(kNone<NodeId>);
}

void take(ClusterState& state, const TaskDemand& demand, const TaskPlacement& at) {
  Transaction txn(state);
  txn.take(demand, at);
  txn.commit();
}

TargetTask task(int64_t cpu_milli, int32_t count, int32_t milli, double popularity) {
  return {.cpu_milli = cpu_milli, .gpu_count = count, .gpu_milli = milli, .popularity = popularity};
}

TEST(Fragmentation, FreeGpusThatATaskCannotReachAreFragments) {
  ClusterState state;
  const NodeId node = must_add(state, shared_node("a", 2, 8000));
  take(state, cpu_demand(1000), share_on(node, 0, 700, 1));  // leaves 300 and 1,000

  const auto of = [&](const TargetTask& m) { return node_fragmentation(state, node, {m}); };
  EXPECT_DOUBLE_EQ(of(task(1000, 1, 300, 1)), 0) << "fits everywhere";
  EXPECT_DOUBLE_EQ(of(task(1000, 1, 500, 1)), 300) << "the remainder of the first GPU is too small";
  EXPECT_DOUBLE_EQ(of(task(1000, 1, 1000, 1)), 300);
  EXPECT_DOUBLE_EQ(of(task(1000, 2, 1000, 1)), 1300) << "two whole GPUs are not there, so nothing can be used";
  EXPECT_DOUBLE_EQ(of(task(9000, 1, 300, 1)), 1300) << "not enough CPUs, so nothing can be used";
}

TEST(Fragmentation, ATaskWithoutGpusCountsEveryFreeGpuAsAFragmentEvenWhereItFits) {
  ClusterState state;
  const NodeId node = must_add(state, shared_node("a", 2, 8000));
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, {task(1000, 0, 0, 1)}), 2000);
}

TEST(Fragmentation, IsTheMeanOverTheWorkloadByPopularity) {
  ClusterState state;
  const NodeId node = must_add(state, shared_node("a", 1, 8000));
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, {task(1000, 1, 1000, 0.75), task(1000, 2, 1000, 0.25)}), 250);
}

TEST(Fragmentation, AModelThatATaskDoesNotTakeIsOutOfItsReach) {
  ClusterState state;
  const NodeId node = must_add(state, shared_node("a", 1, 8000, "T4"));
  TargetTask other = task(1000, 1, 1000, 1);
  other.models = {state.names().devices.find("A100-SXM4-80GB")};
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, {other}), 1000);
  other.models = {state.names().devices.find("T4")};
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, {other}), 0);
}

TEST(Fragmentation, AFractionCannotUseDevicesThatAreNotShared) {
  ClusterState state;
  const NodeId node = must_add(state, gpu_node("a", 2));
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, {task(1000, 1, 500, 1)}), 2000);
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, {task(1000, 1, 1000, 1)}), 0);
}

TEST(Fragmentation, WhatIsBrokenCordonedOrTakenIsNotFree) {
  ClusterState state;
  const NodeId node = must_add(state, shared_node("a", 4, 8000));
  const TargetWorkload impossible{task(1000, 8, 1000, 1)};
  state.set_device_healthy(node, 3, 0);
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, impossible), 3000);
  take(state, whole_demand(1), whole_on(node, 1));
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, impossible), 2000);
  state.set_node_cordoned(node, 1);
  EXPECT_DOUBLE_EQ(node_fragmentation(state, node, impossible), 0);
}

/// Shapes of all kinds, with models of the random world.
TargetWorkload random_workload(const ClusterState& state, Rng& rng) {
  std::vector<TargetTask> tasks;
  for (int i = 0; i < 12; ++i) {
    TargetTask t = task(rng.between(0, 8) * 4000, static_cast<int32_t>(rng.between(0, 4)), 1000, 0);
    if (t.gpu_count == 1 && rng.below(2) == 0) t.gpu_milli = static_cast<int32_t>(rng.between(1, 9) * 100);
    if (t.gpu_count == 0) t.gpu_milli = 0;
    if (rng.below(4) == 0) t.models = {state.names().devices.find(rng.below(2) == 0 ? "A100-SXM4-80GB" : "generic")};
    t.popularity = static_cast<double>(rng.between(1, 20));
    tasks.push_back(t);
  }
  return target_workload(tasks, 0.95);
}

TEST(FragmentationMeter, AgreesWithTheDefinitionAfterRandomWritesAndRollbacks) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    ClusterState state;
    testing::build_random_world(state, rng, 24);
    FragmentationMeter meter;
    meter.set_workload(random_workload(state, rng));
    for (int step = 0; step < 400; ++step) {
      Transaction txn(state);
      for (uint64_t writes = rng.below(4); writes > 0; --writes) {
        testing::Lease lease;
        if (testing::random_lease(state, rng, lease)) txn.take(lease.demand, lease.at);
      }
      if (rng.below(3) == 0) meter.measure(state);  // in the middle of a transaction that is rolled back
      if (rng.below(2) == 0) txn.commit();
      txn.rollback(0);
      if (rng.below(20) == 0) meter.set_workload(random_workload(state, rng));
      if (rng.below(3) != 0) continue;
      double expected = 0;
      for (size_t n = 0; n < state.nodes().size(); ++n)
        expected += node_fragmentation(state, make_id<NodeId>(n), meter.workload());
      ASSERT_NEAR(meter.measure(state).fragment_milli, expected, 0.01) << "seed " << seed << " step " << step;
    }
  }
}

TEST(FragmentationMeter, SeesNodesThatComeAndDevicesThatBreak) {
  ClusterState state;
  FragmentationMeter meter;
  meter.set_workload({task(1000, 8, 1000, 1)});
  must_add(state, shared_node("a", 2, 8000));
  EXPECT_DOUBLE_EQ(meter.measure(state).fragment_milli, 2000);
  const NodeId b = must_add(state, shared_node("b", 4, 8000));
  EXPECT_DOUBLE_EQ(meter.measure(state).fragment_milli, 6000);
  EXPECT_EQ(meter.measure(state).gpu_milli_total, 6000);
  state.set_device_healthy(b, 0, 0);
  EXPECT_DOUBLE_EQ(meter.measure(state).fragment_milli, 5000);
  EXPECT_EQ(meter.measure(state).gpu_milli_free, 5000);
  EXPECT_DOUBLE_EQ(meter.measure(state).ratio(), 1);
}

TEST(TargetWorkload, KeepsTheMostPopularShapesUpToTheCoverageAndSumsToOne) {
  std::vector<TargetTask> tasks;
  for (int i = 0; i < 2; ++i) tasks.push_back(task(1000, 1, 500, 0));
  for (int i = 0; i < 5; ++i) tasks.push_back(task(2000, 1, 1000, 0));
  for (int i = 0; i < 2; ++i) tasks.push_back(task(3000, 0, 0, 0));
  tasks.push_back(task(4000, 2, 1000, 0));
  const TargetWorkload workload = target_workload(tasks, 0.85);  // 5 + 2 + 2 of 10; 7 are not enough
  ASSERT_EQ(workload.size(), 3U);
  EXPECT_EQ(workload[0].cpu_milli, 2000);
  EXPECT_EQ(workload[1].cpu_milli, 1000) << "of equally popular shapes the one that came first";
  EXPECT_EQ(workload[2].cpu_milli, 3000);
  EXPECT_DOUBLE_EQ(workload[0].popularity, 5.0 / 9);
  EXPECT_DOUBLE_EQ(workload[1].popularity + workload[2].popularity, 4.0 / 9);
}

TEST(TargetWorkload, CountsATaskAsOftenAsItsPopularitySays) {
  const TargetWorkload workload = target_workload({task(1000, 1, 500, 3), task(2000, 1, 500, 1)}, 1);
  EXPECT_DOUBLE_EQ(workload[0].popularity, 0.75);
}

TEST(TargetWorkload, ShapesDifferByModels) {
  TargetTask a = task(1000, 1, 1000, 0), b = a;
  b.models = {DeviceModelId{1}};
  EXPECT_EQ(target_workload({a, b, a}, 1).size(), 2U);
  EXPECT_TRUE(target_workload({}, 0.95).empty());
}

TEST(FragmentationMeter, CpusAndThousandthsThatFitExactlyAreEnough) {
  ClusterState state;
  FragmentationMeter meter;
  meter.set_workload({task(8000, 1, 300, 1)});
  const NodeId node = must_add(state, shared_node("a", 1, 8000));
  EXPECT_DOUBLE_EQ(meter.measure(state).fragment_milli, 0);
  take(state, cpu_demand(0), share_on(node, 0, 700, 1));
  EXPECT_DOUBLE_EQ(meter.measure(state).fragment_milli, 0);
  take(state, cpu_demand(1), testing::on_node(node));
  EXPECT_DOUBLE_EQ(meter.measure(state).fragment_milli, 300) << "one thousandth of a CPU too few";
}

TEST(FragmentationMeter, FollowsWhatIsFreeAsTasksComeAndGo) {
  ClusterState state;
  FragmentationMeter meter;
  meter.set_workload({task(1000, 8, 1000, 1)});
  const NodeId node = must_add(state, shared_node("a", 4, 8000));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(meter.measure(state).gpu_milli_free, 4000) << "round " << round;
    Transaction txn(state);
    txn.take(whole_demand(1), whole_on(node, 1));
    EXPECT_EQ(meter.measure(state).gpu_milli_free, 3000) << "round " << round;
  }
}

TEST(FragmentationMeter, CatchesUpWhenMoreHasChangedThanTheLogKeeps) {
  ClusterState state;
  FragmentationMeter meter;
  meter.set_workload({task(1000, 8, 1000, 1)});
  const NodeId first = must_add(state, shared_node("a", 1, 8000));
  const NodeId second = must_add(state, shared_node("b", 1, 8000));
  EXPECT_EQ(meter.measure(state).gpu_milli_free, 2000);
  take(state, whole_demand(1), whole_on(first, 1));
  for (uint64_t i = 0; i <= state.changes_kept(); ++i) {
    Transaction txn(state);
    txn.take(cpu_demand(1), testing::on_node(second));
  }
  EXPECT_EQ(meter.measure(state).gpu_milli_free, 1000);
}

TEST(TargetWorkload, KeepsNothingBeyondACoverageThatIsReachedExactly) {
  const std::vector<TargetTask> tasks{task(1000, 1, 500, 2), task(2000, 1, 500, 1), task(3000, 1, 500, 1)};
  EXPECT_EQ(target_workload(tasks, 0.5).size(), 1U);
  EXPECT_EQ(target_workload(tasks, 0.51).size(), 2U);
}

}  // namespace
}  // namespace weft
