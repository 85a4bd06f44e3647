#include "placement/device_choice.h"

#include "placement/test_world.h"

namespace weft::testing {
namespace {

NodeSpec linked_pairs() {
  NodeSpec node = gpu_node("n", 4);
  node.islands = {0b0011, 0b1100};
  return node;
}

NodeSpec linked_quads(std::string name = "n") {
  NodeSpec node = gpu_node(std::move(name), 8);
  node.islands = {0x0f, 0xf0};
  return node;
}

TEST(DeviceChoice, ASingleGpuIsTakenNextToTheOneInUse) {
  TestWorld world;
  world.occupy(world.add(linked_pairs()), 0b0001);
  EXPECT_EQ(world.start(job_of(1, whole(1))).at.tasks.at(0).devices, 0b0010U);
  EXPECT_EQ(world.start(within(job_of(1, whole(2)), "nvlink")).at.tasks.at(0).devices, 0b1100U);
}

TEST(DeviceChoice, APairGoesIntoTheBrokenIsland) {
  TestWorld world;
  world.occupy(world.add(linked_quads()), 0x01);
  EXPECT_EQ(world.start(within(job_of(1, whole(2)), "nvlink")).at.tasks.at(0).devices, 0x06U);
  EXPECT_EQ(world.start(within(job_of(1, whole(4)), "nvlink")).at.tasks.at(0).devices, 0xf0U);
}

TEST(DeviceChoice, SpreadTakesTheIslandWhereTheMostStaysFree) {
  TestWorld world({}, PackOrSpread::kSpread);
  world.occupy(world.add(linked_quads()), 0x01);
  EXPECT_EQ(world.start(job_of(1, whole(2))).at.tasks.at(0).devices, 0x30U);
}

TEST(DeviceChoice, ThreeOfTwoPairsAndAQuadComeFromTheQuad) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 8);
  node.islands = {0x03, 0x0c, 0xf0};
  world.add(node);
  EXPECT_EQ(world.start(job_of(1, whole(3))).at.tasks.at(0).devices, 0x70U);
  // No island of three is left: a pair and the single one, so that the other pair stays whole.
  EXPECT_EQ(world.start(job_of(1, whole(3))).at.tasks.at(0).devices, 0x83U);
}

TEST(DeviceChoice, WithoutIslandsTheBetterLinksOfAMatrixDecide) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 4);
  node.link_quality = {0, 10, 50, 10, 10, 0, 10, 90, 50, 10, 0, 10, 10, 90, 10, 0};
  world.add(node);
  EXPECT_EQ(world.start(job_of(1, whole(2))).at.tasks.at(0).devices, 0b1010U);
}

TEST(DeviceChoice, SixteenDevicesAreServedWithoutATable) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 16);
  node.islands = {0x00ff, 0xff00};
  world.occupy(world.add(node), 0x0007);
  EXPECT_EQ(world.start(job_of(1, whole(4))).at.tasks.at(0).devices, 0x0078U);
  EXPECT_EQ(world.start(job_of(1, whole(8))).at.tasks.at(0).devices, 0xff00U);
}

NodeSpec two_zones() {
  NodeSpec node = gpu_node("n", 4);
  node.cpu_milli = 32'000;
  node.numa = {{.cpu_milli = 16'000, .devices = 0b0011}, {.cpu_milli = 16'000, .devices = 0b1100}};
  return node;
}

JobSpec one_zone(JobSpec job, int64_t cpu_milli = 1000) {
  job.roles[0].numa = NumaNeed::kOneZone;
  job.roles[0].cpu_milli = cpu_milli;
  return job;
}

TEST(DeviceChoice, TwoZonesServeALooseTaskButNotOneThatNeedsASingleZone) {
  TestWorld world;
  const NodeId node = world.add(two_zones());
  world.occupy(node, 0b0001);
  world.occupy(node, 0b0100);
  const Placed strict = world.start(one_zone(job_of(1, whole(2))));
  EXPECT_EQ(strict.verdict.reason, Reason::kNuma);
  EXPECT_EQ(world.start(job_of(1, whole(2))).at.tasks.at(0).devices, 0b1010U);
}

TEST(DeviceChoice, AZoneIsChosenByBestFitAndGivesItsCpus) {
  TestWorld world;
  const NodeId node = world.add(two_zones());
  world.occupy(node, 0b0100);
  const Placed first = world.start(one_zone(job_of(1, whole(1)), 10'000));
  EXPECT_EQ(first.at.tasks.at(0).devices, 0b1000U);
  EXPECT_EQ(first.at.tasks.at(0).numa_zone, 1);
  const Placed second = world.start(one_zone(job_of(1, whole(1)), 10'000));
  EXPECT_EQ(second.at.tasks.at(0).numa_zone, 0);
  EXPECT_EQ(world.start(one_zone(job_of(1, whole(1)), 10'000)).verdict.reason, Reason::kNuma);
}

TEST(DeviceChoice, ATaskWithoutDevicesTakesTheFullerZone) {
  TestWorld world;
  world.add(two_zones());
  EXPECT_EQ(world.start(one_zone(job_of(1, {}), 4000)).at.tasks.at(0).numa_zone, 0);
  EXPECT_EQ(world.start(one_zone(job_of(1, {}), 14'000)).at.tasks.at(0).numa_zone, 1);
  EXPECT_EQ(world.start(one_zone(job_of(1, {}), 2000)).at.tasks.at(0).numa_zone, 1);
}

TEST(DeviceChoice, AFractionJoinsTheSharedDeviceWithTheLeastLeft) {
  TestWorld world;
  world.add(gpu_node("n", 4, ShareMode::kMps));
  EXPECT_EQ(world.start(job_of(1, milli(300))).at.tasks.at(0).devices, 0b0001U);
  EXPECT_EQ(world.start(job_of(1, milli(800))).at.tasks.at(0).devices, 0b0010U);
  EXPECT_EQ(world.start(job_of(1, milli(200))).at.tasks.at(0).devices, 0b0010U);
  EXPECT_EQ(world.start(job_of(1, milli(200))).at.tasks.at(0).devices, 0b0001U);
  EXPECT_EQ(world.start(job_of(1, milli(600))).at.tasks.at(0).devices, 0b0100U);
}

TEST(DeviceChoice, SpreadPutsFractionsOnTheEmptiestDevice) {
  TestWorld world({}, PackOrSpread::kSpread);
  world.add(gpu_node("n", 2, ShareMode::kMps));
  EXPECT_EQ(world.start(job_of(1, milli(300))).at.tasks.at(0).devices, 0b01U);
  EXPECT_EQ(world.start(job_of(1, milli(300))).at.tasks.at(0).devices, 0b10U);
  EXPECT_EQ(world.start(job_of(1, milli(100))).at.tasks.at(0).devices, 0b01U);
  EXPECT_EQ(world.start(job_of(1, milli(100))).at.tasks.at(0).devices, 0b10U);
}

TEST(DeviceChoice, TenTenthsFitOnADeviceWhoseMemoryIsNotDivisible) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 1, ShareMode::kTimeSlice);
  node.devices[0].memory_bytes = 16 * kGiB + 7;
  world.add(node);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(world.start(job_of(1, milli(100))).is_yes()) << i;
  EXPECT_FALSE(world.start(job_of(1, milli(100))).is_yes());
}

TEST(DeviceChoice, AShareOfMemoryTakesItsPartOfTheTimeRoundedDown) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 1, ShareMode::kMps);
  node.devices[0].memory_bytes = 90 * kGiB;
  world.add(node);
  const Placed placed = world.start(job_of(1, memory(40 * kGiB)));
  EXPECT_EQ(placed.at.tasks.at(0).milli, 444);
  EXPECT_EQ(placed.at.tasks.at(0).memory_bytes, 40 * kGiB);
  EXPECT_EQ(placed.at.tasks.at(0).charge.gpu_units, kGpuUnits * 40 / 90);
  EXPECT_TRUE(world.start(job_of(1, memory(50 * kGiB))).is_yes());
  EXPECT_FALSE(world.start(job_of(1, memory(kMiB))).is_yes()) << "time is left over by the rounding, but no memory";
}

TEST(DeviceChoice, FractionsAreNotPlacedOnExclusiveNodes) {
  TestWorld world;
  world.add(gpu_node("n", 4));
  const Placed placed = world.start(job_of(1, milli(500)));
  EXPECT_EQ(placed.verdict.reason, Reason::kGpus);
  EXPECT_TRUE(placed.verdict.is_never);
}

TEST(DeviceChoice, AWholeDeviceIsOneThatIsNotShared) {
  TestWorld world;
  world.add(gpu_node("n", 2, ShareMode::kTimeSlice));
  world.start(job_of(1, milli(500)));
  EXPECT_EQ(world.start(job_of(1, whole(1))).at.tasks.at(0).devices, 0b10U);
  EXPECT_FALSE(world.start(job_of(1, whole(1))).is_yes());
}

TEST(DeviceChoice, ModelsMemoryAndCapabilityBoundTheChoiceOnAMixedNode) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 3);
  node.devices[0].model = "A100-SXM4-40GB";
  node.devices[1].model = "H100-SXM5-80GB";
  node.devices[2].model = "A100-SXM4-80GB";
  world.add(node);
  const auto devices_for = [&](const DeviceConstraint& constraint) {
    JobSpec job = job_of(1, whole(1));
    job.roles[0].constraint = constraint;
    const Placed placed = world.what_if(job);
    return placed.is_yes() ? placed.at.tasks.at(0).devices : 0;
  };
  EXPECT_EQ(devices_for({}), 0b001U);
  EXPECT_EQ(devices_for({.models = {"H100-SXM5-80GB"}}), 0b010U);
  EXPECT_EQ(devices_for({.memory_bytes_min = 60 * kGiB}), 0b010U);
  EXPECT_EQ(devices_for({.models = {"A100-SXM4-40GB", "A100-SXM4-80GB"}, .memory_bytes_min = 60 * kGiB}), 0b100U);
  EXPECT_EQ(devices_for({.compute_capability_min = 90}), 0b010U);
}

NodeSpec mig_node(std::string name, unsigned gpus, std::vector<std::string> fixed = {}) {
  NodeSpec node = gpu_node(std::move(name), gpus);
  for (DeviceSpec& device : node.devices) {
    device.model = "A100-SXM4-80GB";
    device.mig_mode = MigMode::kOn;
    for (const std::string& profile : fixed) device.mig_instances.push_back({.profile = profile});
    if (!fixed.empty()) device.mig_cut = MigCut::kFixed;
  }
  return node;
}

TEST(DeviceChoice, AnInstanceIsCutWhereTheMostPlacementsStayPossible) {
  TestWorld world;
  world.add(mig_node("n", 1));
  // A small slice at the end leaves room for one of four sevenths.
  EXPECT_EQ(world.start(job_of(1, mig("1g.10gb"))).at.tasks.at(0).mig_start, 6);
  EXPECT_TRUE(world.start(job_of(1, mig("4g.40gb"))).is_yes());
  EXPECT_TRUE(world.start(job_of(1, mig("2g.20gb"))).is_yes());
  EXPECT_FALSE(world.start(job_of(1, mig("1g.10gb"))).is_yes());
}

TEST(DeviceChoice, SevenSmallestInstancesFitOnOneDeviceAndTheEighthWaits) {
  TestWorld world;
  world.add(mig_node("n", 1));
  EXPECT_TRUE(world.start(job_of(7, mig("1g.10gb"))).is_yes());
  EXPECT_FALSE(world.start(job_of(1, mig("1g.10gb"))).is_yes());
}

TEST(DeviceChoice, TheDeviceThatIsCutAlreadyIsCutOn) {
  TestWorld world;
  world.add(mig_node("n", 2));
  EXPECT_EQ(world.start(job_of(1, mig("2g.20gb"))).at.tasks.at(0).devices, 0b01U);
  EXPECT_EQ(world.start(job_of(1, mig("3g.40gb"))).at.tasks.at(0).devices, 0b01U);
  EXPECT_EQ(world.start(job_of(1, mig("7g.80gb"))).at.tasks.at(0).devices, 0b10U);
}

TEST(DeviceChoice, AFixedInstanceIsUsedBeforeADeviceIsCut) {
  TestWorld world;
  NodeSpec node = mig_node("n", 2);
  node.devices[1].mig_cut = MigCut::kFixed;
  node.devices[1].mig_instances = {{.profile = "1g.10gb"}, {.profile = "2g.20gb"}};
  world.add(node);
  EXPECT_EQ(world.start(job_of(1, mig("2g.20gb"))).at.tasks.at(0).devices, 0b10U);
  EXPECT_EQ(world.start(job_of(1, mig("2g.20gb"))).at.tasks.at(0).devices, 0b01U);
  EXPECT_EQ(world.start(job_of(1, mig("1g.10gb"))).at.tasks.at(0).devices, 0b10U);
}

TEST(DeviceChoice, InstancesAreNeverCutFromADeviceThatIsNotInMigMode) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 1);
  node.devices[0].model = "A100-SXM4-80GB";
  world.add(node);
  const Placed placed = world.start(job_of(1, mig("1g.10gb")));
  EXPECT_EQ(placed.verdict.reason, Reason::kMig);
  EXPECT_TRUE(placed.verdict.is_never);
  EXPECT_TRUE(world.start(job_of(1, whole(1))).is_yes());
}

TEST(DeviceChoice, AnUnhealthyDeviceIsNeverChosen) {
  TestWorld world;
  const NodeId node = world.add(gpu_node("n", 2, ShareMode::kMps));
  world.state.set_device_healthy(node, 0, 0);
  EXPECT_EQ(world.start(job_of(1, milli(500))).at.tasks.at(0).devices, 0b10U);
  EXPECT_FALSE(world.start(job_of(1, whole(1))).is_yes());
}

TEST(DeviceChoice, TheFreeFunctionAgreesWithTheTablesAndHonoursTheDevice) {
  TestWorld world;
  const NodeId node = world.add(linked_quads());
  world.occupy(node, 0x21);
  const TaskDemand demand = world.state.shapes()[world.shape(job_of(1, whole(3)))].roles[0].demand;
  TaskPlacement alone;
  ASSERT_EQ(choose_devices(world.state, node, demand, {}, PackOrSpread::kPack, -1, alone), Reason::kNone);
  EXPECT_EQ(alone, world.what_if(job_of(1, whole(3))).at.tasks.at(0));

  const NodeId shared = world.add(gpu_node("s", 2, ShareMode::kMps));
  const TaskDemand part = world.state.shapes()[world.shape(job_of(1, milli(500)))].roles[0].demand;
  ASSERT_EQ(choose_devices(world.state, shared, part, {}, PackOrSpread::kPack, 1, alone), Reason::kNone);
  EXPECT_EQ(alone.devices, 0b10U);
  EXPECT_EQ(choose_devices(world.state, shared, part, {}, PackOrSpread::kPack, 2, alone), Reason::kGpus);
}

TEST(DeviceChoice, TheFirstFilterThatFailsIsNamed) {
  TestWorld world;
  NodeSpec spec = with_label(linked_pairs(), "kind", "fast");
  spec.taints = {{.key = "mine", .value = ""}};
  const NodeId node = world.add(spec);
  world.occupy(node, 0b0001);
  JobSpec job = job_of(1, whole(2));
  const auto reason = [&](LevelNeed island) {
    TaskPlacement at;
    return choose_devices(world.state, node, world.state.shapes()[world.shape(job)].roles[0].demand, island,
                          PackOrSpread::kPack, -1, at);
  };
  EXPECT_EQ(reason({}), Reason::kTaint);
  job.roles[0].tolerations = {"mine"};
  EXPECT_EQ(reason({}), Reason::kNone);
  job.roles[0].labels = {{"kind", "slow"}};
  EXPECT_EQ(reason({}), Reason::kLabel);
  job.roles[0].labels = {{"kind", "fast"}};
  job.roles[0].devices.count = 4;
  EXPECT_EQ(reason({}), Reason::kGpus);
  job.roles[0].devices.count = 3;
  EXPECT_EQ(reason({.kind = LevelNeed::Kind::kNvlink}), Reason::kNvlink);
  job.roles[0].cpu_milli = 64'000;
  EXPECT_EQ(reason({}), Reason::kCpus);
  job.roles[0].cpu_milli = 1000;
  job.roles[0].memory_bytes = 512 * kGiB;
  EXPECT_EQ(reason({}), Reason::kMemory);
  world.state.set_node_cordoned(node, 1);
  EXPECT_EQ(reason({}), Reason::kUnavailable);
}

TEST(DeviceChoice, OfEqualZonesTheFirstIsTaken) {
  for (const PackOrSpread mode : {PackOrSpread::kPack, PackOrSpread::kSpread}) {
    TestWorld world({}, mode);
    world.add(two_zones());
    EXPECT_EQ(world.what_if(one_zone(job_of(1, whole(1)))).at.tasks.at(0).numa_zone, 0);
    EXPECT_EQ(world.what_if(one_zone(job_of(1, {}))).at.tasks.at(0).numa_zone, 0);
  }
}

TEST(DeviceChoice, AFractionTakesItsPartOfTheMemoryToTheByte) {
  const DeviceDemand half{.kind = DeviceNeedKind::kMilli, .milli = 500};
  EXPECT_EQ(fraction_of(half, 1500).memory_bytes, 750);
  EXPECT_EQ(fraction_of(half, 80 * kGiB + 6).memory_bytes, 40 * kGiB + 3);
  EXPECT_EQ(fraction_of(half, 7).memory_bytes, 3) << "rounded down";
}

}  // namespace
}  // namespace weft::testing
