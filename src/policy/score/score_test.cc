#include "policy/registry.h"
#include "policy/score/device_pick.h"
#include "state/cluster_state.h"
#include "state/test_world.h"
#include "state/transaction.h"

#include <gtest/gtest.h>

#include <set>

namespace weft {
namespace {

using testing::cpu_demand;
using testing::gpu_node;
using testing::share_on;
using testing::whole_demand;
using testing::whole_on;

class ScoreTest : public ::testing::Test {
 protected:
  NodeId node(size_t gpus, int64_t cpu_milli = 64'000) {
    NodeSpec spec = gpu_node("n" + std::to_string(state_.nodes().size()), gpus);
    spec.share = ShareMode::kTimeSlice;
    spec.cpu_milli = cpu_milli;
    const auto added = state_.add_node(spec);
    EXPECT_TRUE(added.has_value());
    return added.value_or(kNone<NodeId>);
  }

  void take_whole(NodeId at, DeviceMask devices, int64_t cpu_milli = 0) {
    Transaction txn(state_);
    txn.take(whole_demand(static_cast<int32_t>(popcount(devices)), cpu_milli), whole_on(at, devices));
    txn.commit();
  }
  void take_share(NodeId at, unsigned device, int32_t milli, int64_t cpu_milli = 0) {
    Transaction txn(state_);
    txn.take(cpu_demand(cpu_milli), share_on(at, device, milli, 1));
    txn.commit();
  }

  static TaskDemand fraction(int32_t milli, int64_t cpu_milli = 0) {
    TaskDemand demand = cpu_demand(cpu_milli);
    demand.devices.kind = DeviceNeedKind::kMilli;
    demand.devices.milli = milli;
    return demand;
  }

  int32_t score(std::string_view name, NodeId at, const TaskDemand& demand) {
    const auto made = make_node_score(name);
    EXPECT_TRUE(made.has_value());
    device_ = -1;
    return (*made)->score({.state = state_, .workload = workload_, .seed = seed_, .draw = draw_}, at, demand, device_);
  }

  ClusterState state_;
  TargetWorkload workload_;
  uint64_t seed_ = 0, draw_ = 0;
  int device_ = -1;  ///< what the last score chose
};

// ---- pack and spread

TEST_F(ScoreTest, PackRanksByTheDevicesThatAreFreeAndLetsTheIndexServeWholeOnes) {
  const NodeId full = node(8), half = node(8);
  take_whole(half, 0x0f);
  const auto pack = make_node_score("pack");
  EXPECT_EQ((*pack)->index_order(state_, whole_demand(1)), NodeScore::IndexOrder::kFewestFreeFirst);
  EXPECT_EQ((*pack)->index_order(state_, fraction(500)), NodeScore::IndexOrder::kNone);
  EXPECT_GT(score("pack", half, whole_demand(1)), score("pack", full, whole_demand(1)));
  EXPECT_GT(score("pack", half, fraction(500)), score("pack", full, fraction(500)));
}

TEST_F(ScoreTest, PackKeepsTasksWithoutDevicesAwayFromFreeOnesThenFillsUpCpus) {
  const NodeId gpus = node(1), empty = node(0), used = node(0);
  Transaction txn(state_);
  txn.take(cpu_demand(32'000), testing::on_node(used));
  txn.commit();
  const TaskDemand task = cpu_demand(1000);
  EXPECT_GT(score("pack", empty, task), score("pack", gpus, task));
  EXPECT_GT(score("pack", used, task), score("pack", empty, task));
}

TEST_F(ScoreTest, SpreadRanksTheOtherWayRound) {
  const NodeId full = node(8), half = node(8);
  take_whole(half, 0x0f);
  const auto spread = make_node_score("spread");
  EXPECT_EQ((*spread)->index_order(state_, whole_demand(1)), NodeScore::IndexOrder::kMostFreeFirst);
  EXPECT_GT(score("spread", full, whole_demand(1)), score("spread", half, whole_demand(1)));
  EXPECT_GT(score("spread", full, fraction(500)), score("spread", half, fraction(500)));
}

TEST_F(ScoreTest, SpreadFollowsMeasuredLoadOnceItIsReported) {
  const NodeId busy = node(8), idle = node(8);
  take_whole(idle, 0x01);
  EXPECT_GT(score("spread", busy, whole_demand(1)), score("spread", idle, whole_demand(1)));
  state_.set_node_load(busy, 900);
  EXPECT_LT(score("spread", busy, whole_demand(1)), score("spread", idle, whole_demand(1)));
  EXPECT_EQ((*make_node_score("spread"))->index_order(state_, whole_demand(1)), NodeScore::IndexOrder::kNone);
}

// ---- random

TEST_F(ScoreTest, RandomIsTheSameForTheSameSeedAndDrawAndElseDiffers) {
  const NodeId a = node(8);
  const int32_t first = score("random", a, whole_demand(1));
  EXPECT_EQ(score("random", a, whole_demand(1)), first);
  draw_ = 1;
  EXPECT_NE(score("random", a, whole_demand(1)), first);
  draw_ = 0;
  seed_ = 1;
  EXPECT_NE(score("random", a, whole_demand(1)), first);
}

TEST_F(ScoreTest, RandomPrefersEveryNodeAboutEquallyOften) {
  std::vector<NodeId> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back(node(1));
  std::vector<int> wins(4);
  for (draw_ = 0; draw_ < 4000; ++draw_) {
    size_t best = 0;
    for (size_t i = 1; i < nodes.size(); ++i) {
      if (score("random", nodes[i], whole_demand(1)) > score("random", nodes[best], whole_demand(1))) best = i;
    }
    ++wins[best];
  }
  for (const int count : wins) EXPECT_NEAR(count, 1000, 120);
}

TEST_F(ScoreTest, RandomPutsFractionsOnAnyDeviceWithRoom) {
  const NodeId a = node(4);
  take_whole(a, 0x1);
  take_share(a, 1, 800);
  std::set<int> chosen;
  for (draw_ = 0; draw_ < 100; ++draw_) {
    score("random", a, fraction(500));
    chosen.insert(device_);
  }
  EXPECT_EQ(chosen, (std::set<int>{2, 3}));
}

// ---- the published ones, against hand-worked values

TEST_F(ScoreTest, BestfitIsOneHundredMinusHalfOfEachRest) {
  const NodeId a = node(8, 128'000);
  // CPUs: (128,000 - 64,000) / 128,000 * 0.5 = 0.25; GPUs: (8,000 - 2,000) / 8,000 * 0.5 = 0.375
  EXPECT_EQ(score("bestfit", a, whole_demand(2, 64'000)), 37);
  EXPECT_EQ(device_, -1);
}

TEST_F(ScoreTest, DotprodIsOneHundredMinusHalfTheProductOfVectors) {
  const NodeId a = node(8, 128'000);
  // (1 * 0.5 + 1 * 0.25) / 2 = 0.375
  EXPECT_EQ(score("dotprod", a, whole_demand(2, 64'000)), 62);
}

TEST_F(ScoreTest, PublishedScoresPutFractionsOnTheDeviceThatTheyFitBest) {
  const NodeId a = node(4);
  take_share(a, 1, 300);
  take_share(a, 2, 450);
  take_share(a, 3, 600);
  for (const std::string_view name : {"bestfit", "dotprod", "packing", "clustering"}) {
    score(name, a, fraction(500));
    EXPECT_EQ(device_, 2) << name;  // 550 free
    score(name, a, fraction(800));
    EXPECT_EQ(device_, 0) << name;
  }
}

TEST_F(ScoreTest, PackingHasABandForUsedGpusOneForIdleGpusOfUsedNodesAndOneForIdleNodes) {
  const NodeId idle = node(8), used = node(8), shared = node(8);
  take_whole(used, 0x1);
  take_share(shared, 3, 300);
  EXPECT_EQ(score("packing", idle, whole_demand(1)), 33 - 8);
  EXPECT_EQ(score("packing", used, whole_demand(1)), 50 - 1);
  EXPECT_EQ(score("packing", used, whole_demand(4)), 50 - 4);
  EXPECT_EQ(score("packing", used, fraction(500)), 50 - 1) << "no used GPU has room";
  EXPECT_EQ(score("packing", shared, fraction(500)), 100 - 7) << "70 percent are free";
  EXPECT_EQ(score("packing", shared, fraction(800)), 50 - 1);
  EXPECT_EQ(score("packing", shared, cpu_demand(1000)), 0);
}

TEST_F(ScoreTest, PackingNeverLeavesItsBands) {
  const NodeId huge = node(64), used = node(64);
  take_whole(used, 0x1);
  EXPECT_EQ(score("packing", huge, whole_demand(1)), 0);
  EXPECT_EQ(score("packing", used, whole_demand(40)), 33);
}

TEST_F(ScoreTest, ClusteringGathersTasksOfOneClass) {
  const NodeId idle = node(8), ones = node(8), mixed = node(8), others = node(8);
  take_whole(ones, 0x1);
  take_whole(mixed, 0x1);
  take_whole(mixed, 0x6);  // a task of two
  take_whole(others, 0x3);
  EXPECT_EQ(score("clustering", idle, whole_demand(1)), 25);
  EXPECT_EQ(score("clustering", ones, whole_demand(1)), 75 + 3);  // 25 * 1000 / 8000
  EXPECT_EQ(score("clustering", mixed, whole_demand(1)), 50 + 9);
  EXPECT_EQ(score("clustering", others, whole_demand(1)), 6);
  EXPECT_EQ(score("clustering", others, whole_demand(2)), 75 + 6);
  EXPECT_EQ(score("clustering", ones, fraction(500)), 3);
  EXPECT_EQ(score("clustering", ones, cpu_demand(1)), 0);
}

TEST_F(ScoreTest, ClusteringForgetsAClassWhenItsLastTaskGoes) {
  const NodeId a = node(8);
  Transaction txn(state_);
  txn.take(whole_demand(2), whole_on(a, 0x3));
  txn.take(whole_demand(2), whole_on(a, 0xc));
  txn.give(whole_demand(2), whole_on(a, 0x3));
  txn.commit();
  EXPECT_EQ(score("clustering", a, whole_demand(2)), 75 + 6);
  txn.give(whole_demand(2), whole_on(a, 0xc));
  txn.commit();
  EXPECT_EQ(score("clustering", a, whole_demand(2)), 25);
}

TEST_F(ScoreTest, EveryScoreAnswersForNodesWithoutDevices) {
  const NodeId a = node(0);
  workload_ = {{.cpu_milli = 1000, .gpu_count = 1, .gpu_milli = 1000, .models = {}, .popularity = 1}};
  for (const std::string_view name : node_score_names()) {
    score(name, a, cpu_demand(1000));
    EXPECT_EQ(device_, -1) << name;
  }
}

// ---- what all of them must respect

TEST_F(ScoreTest, OfEqualDevicesAFractionTakesTheLowest) {
  const NodeId a = node(4);
  take_share(a, 1, 300);
  take_share(a, 2, 300);
  for (const std::string_view name : {"bestfit", "dotprod", "packing", "clustering"}) {
    score(name, a, fraction(500));
    EXPECT_EQ(device_, 1) << name;
    score(name, a, fraction(900));
    EXPECT_EQ(device_, 0) << name;
  }
}

TEST_F(ScoreTest, AFractionTakesADeviceOfTheModelAskedForThoughAnotherFitsBetter) {
  NodeSpec spec = gpu_node("mixed", 2);
  spec.share = ShareMode::kTimeSlice;
  spec.devices[1].model = "A100-SXM4-80GB";
  const NodeId a = state_.add_node(spec).value();
  take_share(a, 0, 400);
  TaskDemand demand = fraction(500);
  demand.devices.models = {state_.names().devices.find("A100-SXM4-80GB")};
  for (const std::string_view name : {"bestfit", "dotprod", "packing", "clustering"}) {
    score(name, a, demand);
    EXPECT_EQ(device_, 1) << name;
  }
}

TEST_F(ScoreTest, WhatIsLeftOfABrokenDeviceIsNotFree) {
  const NodeId broken = node(2, 128'000), whole = node(1, 128'000);
  take_share(broken, 1, 300);
  state_.set_device_healthy(broken, 1, 0);
  for (const std::string_view name : {"pack", "spread", "bestfit", "dotprod"})
    EXPECT_EQ(score(name, broken, fraction(500)), score(name, whole, fraction(500))) << name;
}

TEST_F(ScoreTest, FractionsCountTheRestOfSharedDevicesToo) {
  const NodeId fuller = node(2), emptier = node(2);
  take_share(fuller, 0, 600);
  take_share(emptier, 0, 300);
  EXPECT_GT(score("pack", fuller, fraction(200)), score("pack", emptier, fraction(200)));
  EXPECT_LT(score("spread", fuller, fraction(200)), score("spread", emptier, fraction(200)));
}

TEST_F(ScoreTest, AShareOfMemoryWeighsAsItsPartOfADevice) {
  NodeSpec spec = gpu_node("n", 4);
  spec.share = ShareMode::kTimeSlice;
  spec.cpu_milli = 128'000;
  for (DeviceSpec& device : spec.devices) device.memory_bytes = 80 * kGiB;
  const NodeId a = state_.add_node(spec).value();
  TaskDemand demand = cpu_demand(0);
  demand.devices.kind = DeviceNeedKind::kMemory;
  demand.devices.memory_bytes = 40 * kGiB;
  EXPECT_EQ(score("bestfit", a, demand), score("bestfit", a, fraction(500)));
  EXPECT_EQ(score("dotprod", a, demand), score("dotprod", a, fraction(500)));
  EXPECT_NE(score("dotprod", a, demand), score("dotprod", a, cpu_demand(0)));
}

TEST_F(ScoreTest, AFreeDeviceWeighsMoreThanAllCpusForATaskWithoutDevices) {
  const NodeId device = node(1), cpus = node(0);
  Transaction txn(state_);
  txn.take(cpu_demand(63'000), testing::on_node(device));
  txn.commit();
  EXPECT_GT(score("pack", cpus, cpu_demand(1000)), score("pack", device, cpu_demand(1000)));
}

TEST_F(ScoreTest, ScoresOfMigTasksSeeTheInstancesInUse) {
  NodeSpec spec = gpu_node("idle", 1, "A100-SXM4-80GB");
  spec.devices[0].mig_mode = MigMode::kOn;
  const NodeId idle = state_.add_node(spec).value();
  spec.name = "cut";
  const NodeId cut = state_.add_node(spec).value();
  const DeviceModelId id = state_.names().devices.find("A100-SXM4-80GB");
  const MigProfileIndex small = find_mig_profile(state_.names().devices.model(id), "1g.10gb");
  TaskDemand demand = cpu_demand(0);
  demand.devices.kind = DeviceNeedKind::kMig;
  demand.devices.mig = {{id, small}};
  TaskPlacement at{.node = cut, .kind = DeviceNeedKind::kMig, .devices = 1};
  at.mig_profile = small;
  Transaction txn(state_);
  txn.take(demand, at);
  txn.commit();
  EXPECT_GT(score("pack", cut, demand), score("pack", idle, demand)) << "six slices are left, not seven";
  EXPECT_GT(score("clustering", cut, demand), score("clustering", idle, demand)) << "a task of its class is there";
}

TEST_F(ScoreTest, ClusteringKnowsTasksOfEightGpusAndMore) {
  const NodeId idle = node(16), eights = node(16), twelves = node(16);
  take_whole(eights, 0x00ff);
  take_whole(twelves, 0x0fff);
  for (const int32_t count : {8, 9}) {
    EXPECT_GE(score("clustering", eights, whole_demand(count)), 75) << count;
    EXPECT_GE(score("clustering", twelves, whole_demand(count)), 75) << count;
  }
  EXPECT_LT(score("clustering", eights, whole_demand(7)), score("clustering", idle, whole_demand(7)) + 25);
  EXPECT_LT(score("clustering", eights, whole_demand(7)), 25) << "other classes only";
}

TEST_F(ScoreTest, RandomIsNotKeptPerNode) {
  EXPECT_EQ((*make_node_score("random"))->depends_on(), NodeScore::DependsOn::kCluster);
  for (const std::string_view name : {"pack", "spread", "bestfit", "dotprod", "packing", "clustering", "fgd"})
    EXPECT_EQ((*make_node_score(name))->depends_on(), NodeScore::DependsOn::kNode) << name;
}

}  // namespace
}  // namespace weft
