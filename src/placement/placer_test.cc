#include "placement/placer.h"

#include "placement/test_world.h"

namespace weft::testing {
namespace {

TEST(Placer, ASmallTaskGoesToTheNodeInUse) {
  TestWorld world;
  world.add(gpu_node("n0", 8));
  world.add(gpu_node("n1", 8));
  world.occupy(NodeId{1}, 0x01);
  EXPECT_EQ(world.start(job_of(1, whole(1))).nodes(world.state), "n1");
  EXPECT_EQ(world.start(job_of(1, whole(8))).nodes(world.state), "n0");
}

TEST(Placer, SpreadTakesTheEmptiestNodeForEachTask) {
  TestWorld world({}, PackOrSpread::kSpread);
  for (const char* name : {"n0", "n1", "n2"}) world.add(gpu_node(name, 4));
  world.occupy(NodeId{0}, 0x01);
  EXPECT_EQ(world.start(job_of(5, whole(1))).nodes(world.state), "n1 n2 n0 n1 n2");
}

TEST(Placer, OfEqualNodesTheOneWithTheMostDataIsTaken) {
  TestWorld world;
  for (const char* name : {"n0", "n1", "n2", "n3"}) world.add(gpu_node(name, 4));
  JobSpec job = job_of(1, whole(1));
  job.data = {{.size_bytes = 100, .nodes = {"n1", "n2"}}, {.size_bytes = 50, .nodes = {"n2"}}};
  EXPECT_EQ(world.start(job).nodes(world.state), "n2");
  job.data = {{.size_bytes = 100, .nodes = {"n3"}}};
  EXPECT_EQ(world.start(job).nodes(world.state), "n2") << "packing goes before data";
}

TEST(Placer, DataDecidesAmongEqualScoresToo) {
  TestWorld world;
  for (const char* name : {"n0", "n1", "n2"}) world.add(gpu_node(name, 1, ShareMode::kMps));
  JobSpec job = job_of(1, milli(500));
  job.data = {{.size_bytes = 100, .nodes = {"n1"}}};
  EXPECT_EQ(world.start(job).nodes(world.state), "n1");
}

TEST(Placer, AFractionOpensAFreeDeviceOnlyWhenNoSharedOneHasRoom) {
  TestWorld world;
  world.add(gpu_node("n0", 2, ShareMode::kMps));
  world.add(gpu_node("n1", 8, ShareMode::kMps));
  world.occupy(NodeId{0}, 0b01);
  JobSpec pinned = job_of(1, milli(500));
  pinned.roles[0].node = "n1";
  world.start(pinned);
  EXPECT_EQ(world.start(job_of(1, milli(400))).nodes(world.state), "n1");
  EXPECT_EQ(world.start(job_of(1, milli(400))).nodes(world.state), "n0") << "n0 has less left when one must be opened";
}

TEST(Placer, TasksWithoutDevicesKeepAwayFromFreeDevices) {
  TestWorld world;
  world.add(gpu_node("free", 4));
  world.add(gpu_node("busy", 4));
  world.occupy(NodeId{1}, 0b1111);
  EXPECT_EQ(world.start(job_of(2, {})).nodes(world.state), "busy busy");
}

TEST(Placer, AGangIsPlacedWholeOrNotAtAll) {
  TestWorld world;
  for (const char* name : {"n0", "n1", "n2"}) world.add(gpu_node(name, 1));
  world.occupy(NodeId{2}, 0b1);
  const Placed none = world.start(job_of(3, whole(1)));
  EXPECT_FALSE(none.is_yes());
  EXPECT_TRUE(none.at.tasks.empty());
  EXPECT_EQ(world.state.capacity().free_devices(DomainId{0}), 2);
  EXPECT_EQ(world.start(job_of(2, whole(1))).nodes(world.state), "n0 n1");
  EXPECT_TRUE(world.state.audit().empty());
}

TEST(Placer, TasksStandRoleByRole) {
  TestWorld world;
  world.add(gpu_node("n", 8));
  const Placed placed =
      world.start(job_of({role_of("launcher", 1, {}), role_of("small", 2, whole(1)), role_of("big", 1, whole(4))}));
  ASSERT_TRUE(placed.is_yes());
  EXPECT_EQ(placed.at.role, (std::vector<uint16_t>{0, 1, 1, 2}));
  EXPECT_EQ(placed.at.tasks[0].kind, DeviceNeedKind::kNone);
  EXPECT_EQ(popcount(placed.at.tasks[3].devices), 4U);
}

TEST(Placer, ARoleThatFitsAnywhereLeavesTheSpecialNodeToTheOneThatNeedsIt) {
  TestWorld world;
  world.add(with_label(gpu_node("a", 1), "kind", "fast"));
  world.add(gpu_node("b", 1));
  JobSpec job = job_of({role_of("any", 1, whole(1)), role_of("fast", 1, whole(1))});
  job.roles[1].labels = {{"kind", "fast"}};
  EXPECT_EQ(world.start(job).nodes(world.state), "b a");
}

TEST(Placer, WhatAGreedyOrderSpoilsTheSearchFinds) {
  // Two roles that each could take either node by devices, but whose CPUs and memory fit only crosswise.
  TestWorld world;
  NodeSpec a = gpu_node("a", 2);
  a.cpu_milli = 10'000;
  a.memory_bytes = 100 * kGiB;
  NodeSpec b = gpu_node("b", 3);
  b.cpu_milli = 100'000;
  b.memory_bytes = 20 * kGiB;
  world.add(a);
  world.add(b);
  JobSpec job = job_of({role_of("cpu", 1, whole(2)), role_of("memory", 1, whole(2))});
  job.roles[0].cpu_milli = 10'000;
  job.roles[0].memory_bytes = 20 * kGiB;
  job.roles[1].cpu_milli = 1000;
  job.roles[1].memory_bytes = 90 * kGiB;
  EXPECT_EQ(world.start(job).nodes(world.state), "b a");
}

TEST(Placer, AnExhaustedBudgetIsSaidAndLeavesNothingBehind) {
  TestWorld world;
  world.config.search_steps_max = 3;
  world.remake_placer();
  for (int i = 0; i < 6; ++i) {
    NodeSpec node = gpu_node("n" + std::to_string(i), 4, ShareMode::kMps);
    node.cpu_milli = 10'000 + i;
    world.add(node);
  }
  // Each role fits alone; together they lack one device.
  const Placed placed = world.start(job_of({role_of("a", 12, milli(600)), role_of("b", 13, milli(700))}));
  EXPECT_EQ(placed.verdict.reason, Reason::kBudget);
  EXPECT_TRUE(placed.at.tasks.empty());
  EXPECT_TRUE(world.state.audit_indices().empty());
  EXPECT_EQ(world.state.capacity().free_devices(DomainId{0}), 24);
}

TEST(Placer, OfAGroupThatNeedsOneOfTwoTheFirstThatFitsIsPlaced) {
  TestWorld world;
  world.add(gpu_node("a", 3));
  JobSpec job = job_of(
      {role_of("x", 1, whole(2)), role_of("k", 1, whole(1)), role_of("z", 1, whole(1)), role_of("v", 1, whole(1))});
  job.groups = {{.name = "either", .roles = {"x", "k"}, .min = 1}, {.name = "both", .roles = {"z", "v"}}};
  const Placed placed = world.start(job);
  ASSERT_TRUE(placed.is_yes());
  EXPECT_EQ(placed.at.role, (std::vector<uint16_t>{1, 2, 3}));
}

TEST(Placer, AWhatIfChangesNoLaterAnswer) {
  TestWorld world;
  for (const char* name : {"n0", "n1"}) world.add(gpu_node(name, 4, ShareMode::kMps));
  const Placed before = world.what_if(job_of(1, milli(500)));
  world.what_if(job_of(4, whole(1)));
  EXPECT_EQ(before.at.tasks, world.what_if(job_of(1, milli(500))).at.tasks);
  EXPECT_TRUE(world.state.audit().empty());
}

TEST(Placer, ANodeThatArrivesLaterIsSeenByWhatWasAskedBefore) {
  TestWorld world;
  world.add(with_label(gpu_node("a", 1), "kind", "slow"));
  JobSpec job = job_of(1, whole(1));
  job.roles[0].labels = {{"kind", "fast"}};
  EXPECT_EQ(world.start(job).verdict.reason, Reason::kLabel);
  world.add(with_label(gpu_node("b", 1), "kind", "fast"));
  EXPECT_EQ(world.start(job).nodes(world.state), "b");
}

TEST(Placer, CordonedNodesAndTaintedOnesAreLeftAlone) {
  TestWorld world;
  world.add(gpu_node("a", 1));
  NodeSpec tainted = gpu_node("b", 1);
  tainted.taints = {{.key = "keep", .value = "out"}};
  world.add(tainted);
  world.state.set_node_cordoned(NodeId{0}, 1);
  EXPECT_FALSE(world.start(job_of(1, whole(1))).is_yes());
  JobSpec tolerant = job_of(1, whole(1));
  tolerant.roles[0].tolerations = {"keep"};
  EXPECT_EQ(world.start(tolerant).nodes(world.state), "b");
  world.state.set_node_cordoned(NodeId{0}, 0);
  EXPECT_EQ(world.start(job_of(1, whole(1))).nodes(world.state), "a");
}

TEST(Placer, OfNodesWithEquallyMuchDataTheLowestGoesFirst) {
  TestWorld world;
  for (const char* name : {"n0", "n1", "n2"}) world.add(gpu_node(name, 4, ShareMode::kMps));
  JobSpec by_index = job_of(2, whole(4));
  by_index.data = {{.size_bytes = 100, .nodes = {"n1", "n2"}}};
  EXPECT_EQ(world.what_if(by_index).nodes(world.state), "n1 n2");
  JobSpec by_score = job_of(1, milli(500));
  by_score.data = by_index.data;
  EXPECT_EQ(world.what_if(by_score).nodes(world.state), "n1");
}

TEST(Placer, ALooseTaskMakesRoomForTheOneThatIsBoundToAZone) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 2);
  node.cpu_milli = 12'000;
  node.numa = {{.cpu_milli = 9000, .devices = 0b01}, {.cpu_milli = 3000, .devices = 0b10}};
  world.add(node);
  JobSpec job = job_of({role_of("loose", 1, whole(1)), role_of("bound", 1, whole(1))});
  job.roles[0].cpu_milli = 5000;  // the larger one goes first, and would take the first device
  job.roles[1].cpu_milli = 4000;
  job.roles[1].numa = NumaNeed::kOneZone;
  const Placed placed = world.start(job);
  ASSERT_TRUE(placed.is_yes());
  EXPECT_EQ(placed.at.tasks[0].devices, 0b10U);
  EXPECT_EQ(placed.at.tasks[1].devices, 0b01U);
}

}  // namespace
}  // namespace weft::testing
