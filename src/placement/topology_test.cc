#include "placement/placer.h"
#include "placement/test_world.h"

namespace weft::testing {
namespace {

NodeSpec at(std::string name, unsigned gpus, std::string rack, std::string block = "") {
  NodeSpec node = with_label(gpu_node(std::move(name), gpus), "rack", std::move(rack));
  return block.empty() ? node : with_label(node, "block", std::move(block));
}

/// Seven devices in two blocks; the only rack with two free is b2-r2.
struct SmallBlocks : TestWorld {
  SmallBlocks() : TestWorld({"rack", "block"}) {
    add(at("x3", 1, "b1-r1", "b1"));
    add(at("x5", 1, "b1-r2", "b1"));
    add(at("x1", 1, "b1-r2", "b1"));
    add(at("x6", 1, "b1-r2", "b1"));
    add(at("x2", 1, "b2-r1", "b2"));
    add(at("x4", 2, "b2-r2", "b2"));
  }
};

TEST(Topology, TheRackThatTheGangFillsExactlyIsTaken) {
  SmallBlocks world;
  EXPECT_EQ(world.start(within(job_of(2, whole(1)), "rack")).nodes(world.state), "x4 x4");
}

TEST(Topology, APreferredBlockThatIsTooSmallKeepsNobodyFromRunning) {
  SmallBlocks world;
  EXPECT_TRUE(world.start(prefer(job_of(6, whole(1)), "block")).is_yes());
}

TEST(Topology, AGangLargerThanTheClusterIsToldTheTotal) {
  SmallBlocks world;
  const Verdict verdict = world.start(prefer(job_of(10, whole(1)), "block")).verdict;
  EXPECT_EQ(verdict.reason, Reason::kGpus);
  EXPECT_EQ(verdict.have, 7);
  EXPECT_EQ(verdict.need, 10);
  EXPECT_TRUE(verdict.is_never);
}

TEST(Topology, AGangThatMustStayInOneRackWaitsWhenNoneHoldsIt) {
  TestWorld world({"rack"});
  world.add(at("a", 2, "r1"));
  world.add(at("b", 1, "r1"));
  world.add(at("c", 2, "r2"));
  const Verdict verdict = world.start(within(job_of(2, whole(2)), "rack")).verdict;
  EXPECT_EQ(verdict.reason, Reason::kLevel);
  EXPECT_EQ(index(verdict.level), 0U);
}

TEST(Topology, APreferringGangTakesTheEmptyRackButRunsInTwoWhenItMust) {
  TestWorld world({"rack"});
  world.add(at("a", 2, "r1"));
  world.add(at("b", 2, "r2"));
  world.occupy(NodeId{0}, 0b01);
  EXPECT_EQ(world.what_if(prefer(job_of(2, whole(1)), "rack")).nodes(world.state), "b b");
  world.occupy(NodeId{1}, 0b01);
  EXPECT_EQ(world.start(prefer(job_of(2, whole(1)), "rack")).nodes(world.state), "a b");
}

TEST(Topology, ATaskThatNeedsASpecialNodeDecidesTheRackOfItsGang) {
  TestWorld world({"rack"});
  world.add(at("a", 1, "r1"));
  world.add(at("b", 1, "r1"));
  world.add(with_label(at("c", 1, "r2"), "kind", "fast"));
  world.add(with_label(at("d", 1, "r2"), "kind", "fast"));
  JobSpec job = within(job_of({role_of("x", 1, whole(1)), role_of("k", 1, whole(1))}), "rack");
  job.roles[0].labels = {{"kind", "fast"}};
  EXPECT_EQ(world.start(job).nodes(world.state), "c d");
}

JobSpec two_groups(std::string group_level, int32_t count) {
  JobSpec job = job_of({role_of("p", count, whole(1)), role_of("q", count, whole(1))});
  job.groups = {{.name = "first", .roles = {"p"}, .topology = {.within = group_level}},
                {.name = "second", .roles = {"q"}, .topology = {.within = group_level}}};
  return job;
}

TEST(Topology, TwoSubGroupsWaitWhenOnlyOneRackCouldHoldOne) {
  TestWorld world({"rack", "block"});
  world.add(at("x3", 3, "r1", "b1"));
  for (const char* rack : {"r2", "r3", "r4"}) world.add(at(std::string("x") + rack, 1, rack, "b1"));
  const Verdict verdict = world.start(within(two_groups("rack", 3), "block")).verdict;
  EXPECT_EQ(verdict.reason, Reason::kLevel);
}

TEST(Topology, OnlyTheBlockWhoseRacksHoldWholeSubGroupsIsChosen) {
  TestWorld world({"rack", "block"});
  for (const char* rack : {"r1", "r2", "r3"}) world.add(at(std::string("x") + rack, 2, rack, "b1"));
  world.add(at("x6", 3, "r4", "b2"));
  world.add(at("x2", 3, "r5", "b2"));
  EXPECT_EQ(world.start(within(two_groups("rack", 3), "block")).nodes(world.state), "x6 x6 x6 x2 x2 x2");
}

TEST(Topology, EachReplicaGetsARackAndTheJobOneZone) {
  TestWorld world({"rack", "block"});
  world.add(at("a", 4, "r1", "z1"));
  world.add(at("b", 4, "r2", "z1"));
  world.add(at("c", 4, "r3", "z2"));
  world.add(at("d", 4, "r4", "z2"));
  world.occupy(NodeId{0}, 0b0001);
  JobSpec job = prefer(job_of({role_of("x", 1, whole(2)), role_of("k", 1, whole(2)), role_of("u", 1, whole(2)),
                               role_of("v", 1, whole(2))}),
                       "block");
  job.groups = {{.name = "first", .roles = {"x", "k"}, .topology = {.within = "rack"}},
                {.name = "second", .roles = {"u", "v"}, .topology = {.within = "rack"}}};
  EXPECT_EQ(world.start(job).nodes(world.state), "c c d d");
}

TEST(Topology, AGrowingJobStaysBesideItsRunningTasks) {
  TestWorld world({"rack"});
  for (int i = 0; i < 4; ++i) world.add(at("a" + std::to_string(i), 1, "r1"));
  for (int i = 0; i < 4; ++i) world.add(at("b" + std::to_string(i), 1, "r2"));
  world.occupy(NodeId{4}, 0b1);
  JobSpec job = prefer(job_of(3, whole(1)), "rack");
  job.roles[0].min = 1;
  job.roles[0].node = "";
  ASSERT_EQ(world.start(job).nodes(world.state), "b1") << "the fuller rack that holds one";
  EXPECT_EQ(world.grow(world.last_job, {2}).nodes(world.state), "b2 b3");
}

TEST(Topology, ARequiredRackIsThatOfTheRunningTasks) {
  TestWorld world({"rack"});
  world.add(at("a", 2, "r1"));
  world.add(at("b", 4, "r2"));
  JobSpec job = within(job_of(3, whole(1)), "rack");
  job.roles[0].min = 1;
  ASSERT_EQ(world.start(job).nodes(world.state), "a");
  const Placed two = world.grow(world.last_job, {2});
  EXPECT_EQ(two.verdict.reason, Reason::kLevel);
  EXPECT_EQ(world.grow(world.last_job, {1}).nodes(world.state), "a");
}

TEST(Topology, InsideAWiderDomainAsFewPreferredOnesAsCanBeAreUsed) {
  TestWorld world({"rack", "block"});
  const std::vector<unsigned> free = {2, 3, 2, 4, 1, 2, 3, 1};
  for (size_t i = 0; i < free.size(); ++i)
    world.add(at("n" + std::to_string(i), free[i], "r" + std::to_string(i), "b"));
  EXPECT_EQ(world.what_if(prefer(job_of(5, whole(1)), "rack")).nodes(world.state), "n4 n3 n3 n3 n3");
  EXPECT_EQ(world.what_if(prefer(job_of(7, whole(1)), "rack")).nodes(world.state), "n1 n1 n1 n3 n3 n3 n3");
}

TEST(Topology, FewPreferredDomainsCountBeforeABetterFit) {
  TestWorld world({"rack", "block"});
  world.add(at("a", 2, "r1", "b1"));
  world.add(at("b", 3, "r2", "b1"));
  for (const char* rack : {"r3", "r4", "r5", "r6"}) world.add(at(std::string("c") + rack, 1, rack, "b2"));
  EXPECT_EQ(world.start(within(prefer(job_of(4, whole(1)), "rack"), "block")).nodes(world.state), "a a b b");
}

TEST(Topology, ANodeWithoutTheLabelIsInNoDomainOfTheLevel) {
  TestWorld world({"rack"});
  world.add(gpu_node("loose", 4));
  world.add(at("a", 2, "r1"));
  EXPECT_EQ(world.start(within(job_of(1, whole(1)), "rack")).nodes(world.state), "a");
  EXPECT_FALSE(world.start(within(job_of(2, whole(1)), "rack")).is_yes());
  EXPECT_TRUE(world.start(prefer(job_of(2, whole(1)), "rack")).is_yes()) << "a preference keeps nobody waiting";
}

TEST(Topology, WithinNodeKeepsAllTasksOnOneNode) {
  TestWorld world;
  world.add(gpu_node("a", 3));
  world.add(gpu_node("b", 4));
  EXPECT_EQ(world.what_if(within(job_of(3, whole(1)), "node")).nodes(world.state), "a a a");
  EXPECT_EQ(
      world.start(within(job_of({role_of("x", 2, whole(1)), role_of("k", 1, whole(2))}), "node")).nodes(world.state),
      "b b b");
  const Verdict verdict = world.start(within(job_of(4, whole(1)), "node")).verdict;
  EXPECT_EQ(verdict.reason, Reason::kGpus) << "three of four in the whole cluster";
}

/// Forty nodes with enough devices and CPUs in sum for the gang, of which only the last has them in the right pieces.
void add_forty(TestWorld& world) {
  for (int i = 0; i < 40; ++i) {
    NodeSpec node = gpu_node("n" + std::to_string(i), 4);
    node.cpu_milli = 9000;
    node.numa = {{.cpu_milli = 3000, .devices = 0b0011}, {.cpu_milli = 6000, .devices = 0b1100}};
    if (i == 39) node.numa = {{.cpu_milli = 4500, .devices = 0b0011}, {.cpu_milli = 4500, .devices = 0b1100}};
    world.add(node);
  }
}

JobSpec two_zones_of_a_node() {
  JobSpec job = job_of(2, whole(2));
  job.roles[0].numa = NumaNeed::kOneZone;
  job.roles[0].cpu_milli = 4000;
  return job;
}

TEST(Topology, TheLastOfManyNodesIsFoundWhenItIsTheOnlyOne) {
  TestWorld world;
  add_forty(world);
  EXPECT_EQ(world.start(within(two_zones_of_a_node(), "node")).nodes(world.state), "n39 n39");
  EXPECT_FALSE(world.start(within(two_zones_of_a_node(), "node")).is_yes());
}

TEST(Topology, APreferredNodeFarDownTheListGoesBeforeAWiderDomain) {
  TestWorld world;
  add_forty(world);
  EXPECT_EQ(world.start(prefer(two_zones_of_a_node(), "node")).nodes(world.state), "n39 n39");
  EXPECT_EQ(world.start(prefer(two_zones_of_a_node(), "node")).nodes(world.state), "n0 n1");
}

TEST(Topology, WithinNvlinkKeepsAllTasksInOneIsland) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 8);
  node.islands = {0x0f, 0xf0};
  world.add(node);
  world.occupy(NodeId{0}, 0x01);
  const Placed placed = world.start(within(job_of(3, whole(1)), "nvlink"));
  ASSERT_TRUE(placed.is_yes());
  DeviceMask all = 0;
  for (const TaskPlacement& task : placed.at.tasks) all |= task.devices;
  EXPECT_EQ(all, 0x0eU);
  EXPECT_FALSE(world.start(within(job_of(5, whole(1)), "nvlink")).is_yes());
  EXPECT_TRUE(world.start(within(job_of(2, whole(2)), "nvlink")).is_yes());
}

TEST(Topology, NvlinkThatOneIslandCannotGiveIsNamedWithTheBestCount) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 4);
  node.islands = {0b0011, 0b1100};
  world.add(node);
  world.occupy(NodeId{0}, 0b0001);
  world.occupy(NodeId{0}, 0b0100);
  const Verdict verdict = world.start(within(job_of(1, whole(2)), "nvlink")).verdict;
  EXPECT_EQ(verdict.reason, Reason::kNvlink);
  EXPECT_EQ(verdict.have, 1);
  EXPECT_EQ(verdict.need, 2);
  EXPECT_FALSE(verdict.is_never);
}

TEST(Topology, SpreadTakesTheDomainWhereTheMostStaysFree) {
  TestWorld world({"rack"}, PackOrSpread::kSpread);
  world.add(at("a", 2, "r1"));
  world.add(at("b", 4, "r2"));
  EXPECT_EQ(world.start(within(job_of(2, whole(1)), "rack")).nodes(world.state), "b b");
}

TEST(Topology, DomainsWhoseNodesAreNotOneRunAreServedToo) {
  TestWorld world({"rack"});
  for (int i = 0; i < 6; ++i) world.add(at("n" + std::to_string(i), 1, i % 2 == 0 ? "even" : "odd"));
  world.occupy(NodeId{2}, 0b1);
  EXPECT_EQ(world.start(within(job_of(3, whole(1)), "rack")).nodes(world.state), "n1 n3 n5");
  EXPECT_EQ(world.start(within(job_of(2, whole(1)), "rack")).nodes(world.state), "n0 n4");
}

TEST(Topology, PreferredDomainsThatHoldTheGangExactlyAreEnough) {
  TestWorld world({"rack", "block"});
  world.add(at("a", 2, "r1", "b"));
  world.add(at("b", 3, "r2", "b"));
  world.add(at("c", 1, "r3", "b"));
  EXPECT_EQ(world.start(prefer(job_of(5, whole(1)), "rack")).nodes(world.state), "a a b b b");
}

/// Puts the next pending task of the last job on the device, in `state`.
void put(TestWorld& world, const JobSpec& job, int32_t task, NodeId node, TaskState state) {
  const TaskDemand& demand = world.state.shapes()[world.shape(job)].roles[0].demand;
  TaskPlacement place{.node = node, .kind = DeviceNeedKind::kWhole, .devices = 1};
  place.charge = queue_charge(demand, 0, 0);
  Transaction txn(world.state);
  txn.take(demand, place);
  txn.set_task(make_id<TaskId>(index(world.state.jobs().first_task[index(world.last_job)]) + static_cast<size_t>(task)),
               state, place);
  txn.commit();
}

TEST(Topology, TasksThatAreOnlyHeldBindTheRestAsRunningOnesDo) {
  TestWorld world({"rack"});
  world.add(at("a", 2, "r1"));
  world.add(at("b", 4, "r2"));
  JobSpec job = within(job_of(3, whole(1)), "rack");
  job.roles[0].min = 1;
  world.last_job = world.state.add_job(world.shape(job), UserId{0}, Instant{}, kEndless);
  put(world, job, 0, NodeId{0}, TaskState::kHeld);
  EXPECT_EQ(world.grow(world.last_job, {2}).verdict.reason, Reason::kLevel);
  EXPECT_EQ(world.grow(world.last_job, {1}).nodes(world.state), "a");
}

TEST(Topology, TasksOnTwoNodesLeaveNoNodeThatHoldsTheJobWhole) {
  TestWorld world;
  for (const char* name : {"a", "b"}) world.add(gpu_node(name, 4));
  JobSpec job = within(job_of(3, whole(1)), "node");
  job.roles[0].min = 1;
  world.last_job = world.state.add_job(world.shape(job), UserId{0}, Instant{}, kEndless);
  put(world, job, 0, NodeId{0}, TaskState::kRunning);
  put(world, job, 1, NodeId{1}, TaskState::kRunning);
  EXPECT_FALSE(world.grow(world.last_job, {1}).is_yes());
}

}  // namespace
}  // namespace weft::testing
