#include "placement/explain.h"

#include "base/rng.h"
#include "placement/test_world.h"

namespace weft::testing {
namespace {

uint32_t nodes_for(const Verdict& verdict, Reason reason) {
  return verdict.nodes_by_reason[static_cast<size_t>(reason)];
}

constexpr WakeMask kAdded = wake_bit(WakeKind::kNodeAdded);
constexpr WakeMask kFreed = wake_bit(WakeKind::kCapacityFreed) | kAdded;

TEST(Explain, TheClustersTotalIsNamedFirst) {
  TestWorld world;
  for (const char* name : {"n0", "n1"}) world.add(gpu_node(name, 8));
  world.occupy(NodeId{0}, 0x7f);
  world.occupy(NodeId{1}, 0x3f);
  const Verdict verdict = world.start(job_of(1, whole(4))).verdict;
  EXPECT_EQ(verdict.reason, Reason::kGpus);
  EXPECT_EQ(verdict.have, 3);
  EXPECT_EQ(verdict.need, 4);
  EXPECT_EQ(verdict.most_free_gpus, 2);
  EXPECT_EQ(verdict.task_gpus, 4);
  EXPECT_EQ(nodes_for(verdict, Reason::kGpus), 2U);
  EXPECT_FALSE(verdict.is_never);
  EXPECT_EQ(verdict.wakes_on, kFreed);
}

TEST(Explain, EnoughInTotalButNoSingleNodeHoldsIt) {
  TestWorld world;
  for (const char* name : {"n0", "n1"}) world.add(gpu_node(name, 8));
  world.occupy(NodeId{0}, 0x0f);
  world.occupy(NodeId{1}, 0x07);
  const Verdict verdict = world.start(job_of(1, whole(8))).verdict;
  EXPECT_EQ(verdict.reason, Reason::kNode);
  EXPECT_EQ(verdict.node, NodeId{1});
  EXPECT_EQ(verdict.have, 5);
  EXPECT_EQ(verdict.need, 8);
  EXPECT_EQ(verdict.wakes_on, kFreed);
}

TEST(Explain, AGangIsToldHowManyOfItsTasksFit) {
  TestWorld world;
  for (const char* name : {"n0", "n1"}) world.add(gpu_node(name, 8));
  world.occupy(NodeId{0}, 0x07);
  world.occupy(NodeId{1}, 0x07);
  const Verdict verdict = world.start(job_of(3, whole(3))).verdict;
  EXPECT_EQ(verdict.reason, Reason::kNode);
  EXPECT_EQ(verdict.unit, CountUnit::kTasks);
  EXPECT_EQ(verdict.have, 2) << "one on each node, although ten GPUs are free";
  EXPECT_EQ(verdict.need, 3);
  EXPECT_EQ(nodes_for(verdict, Reason::kNone), 2U);
}

TEST(Explain, ADomainIsNamedWithTheCountOfItsBest) {
  TestWorld world({"rack"});
  for (int i = 0; i < 4; ++i) world.add(with_label(gpu_node("n" + std::to_string(i), 4), "rack", i < 2 ? "r1" : "r2"));
  world.occupy(NodeId{0}, 0b0001);
  world.occupy(NodeId{2}, 0b0011);
  const Verdict verdict = world.start(within(job_of(8, whole(1)), "rack")).verdict;
  EXPECT_EQ(verdict.reason, Reason::kLevel);
  EXPECT_EQ(verdict.have, 7);
  EXPECT_EQ(verdict.need, 8);
  EXPECT_EQ(world.state.names().domains[index(verdict.domain)], "r1");
  EXPECT_EQ(verdict.wakes_on, kFreed);
}

TEST(Explain, StandingFiltersAreNamedWhenNoNodePassesThem) {
  TestWorld world;
  NodeSpec tainted = with_label(gpu_node("a", 4), "kind", "fast");
  tainted.taints = {{.key = "keep", .value = "out"}};
  world.add(tainted);
  JobSpec job = job_of(1, whole(1));
  EXPECT_EQ(world.start(job).verdict.reason, Reason::kTaint);
  job.roles[0].tolerations = {"keep"};
  job.roles[0].labels = {{"kind", "slow"}};
  EXPECT_EQ(world.start(job).verdict.reason, Reason::kLabel);
  job.roles[0].labels.clear();
  job.roles[0].constraint.models = {"H100-SXM5-80GB"};
  const Verdict model = world.start(job).verdict;
  EXPECT_EQ(model.reason, Reason::kModel);
  EXPECT_TRUE(model.is_never);
  EXPECT_EQ(model.model, world.state.names().devices.find("H100-SXM5-80GB"));
  EXPECT_EQ(model.wakes_on, kAdded);
  job.roles[0].constraint.models = {"H100"};
  EXPECT_EQ(world.start(job).verdict.reason, Reason::kModel);
  EXPECT_EQ(world.start(job).verdict.model, kNone<DeviceModelId>) << "nobody asked for one of them by name";
  job.roles[0].constraint = {.memory_bytes_min = 100 * kGiB};
  EXPECT_EQ(world.start(job).verdict.reason, Reason::kGpuMemory);
}

TEST(Explain, AModelThatIsThereButTakenIsCounted) {
  TestWorld world;
  NodeSpec fast = gpu_node("a", 2);
  for (DeviceSpec& device : fast.devices) device.model = "H100-SXM5-80GB";
  world.add(fast);
  world.add(gpu_node("b", 8));
  world.occupy(NodeId{0}, 0b01);
  JobSpec job = job_of(1, whole(2));
  job.roles[0].constraint.models = {"H100-SXM5-80GB"};
  const Verdict verdict = world.start(job).verdict;
  EXPECT_EQ(verdict.reason, Reason::kModel);
  EXPECT_EQ(verdict.have, 1);
  EXPECT_EQ(verdict.need, 2);
  EXPECT_EQ(nodes_for(verdict, Reason::kModel), 1U);
  EXPECT_EQ(nodes_for(verdict, Reason::kGpus), 1U);
  EXPECT_FALSE(verdict.is_never);
}

TEST(Explain, CpusAndMemoryAreNamedInTotalAndOnOneNode) {
  TestWorld world;
  for (const char* name : {"a", "b"}) {
    NodeSpec node = gpu_node(name, 4);
    node.cpu_milli = 8000;
    node.memory_bytes = 16 * kGiB;
    world.add(node);
  }
  JobSpec filler = job_of(2, {});
  filler.roles[0].cpu_milli = 5000;
  filler.roles[0].memory_bytes = 10 * kGiB;
  ASSERT_TRUE(world.start(filler).is_yes());
  JobSpec job = job_of(1, whole(1));
  job.roles[0].cpu_milli = 7000;
  Verdict verdict = world.start(job).verdict;
  EXPECT_EQ(verdict.reason, Reason::kCpus);
  EXPECT_EQ(verdict.unit, CountUnit::kMilliCpu);
  EXPECT_EQ(verdict.have, 6000) << "the total goes first";
  job.roles[0].cpu_milli = 4000;
  verdict = world.start(job).verdict;
  EXPECT_EQ(verdict.reason, Reason::kCpus);
  EXPECT_EQ(verdict.have, 3000) << "of the best node";
  EXPECT_EQ(verdict.need, 4000);
  EXPECT_EQ(nodes_for(verdict, Reason::kCpus), 2U);
  job.roles[0].cpu_milli = 1000;
  job.roles[0].memory_bytes = 8 * kGiB;
  verdict = world.start(job).verdict;
  EXPECT_EQ(verdict.reason, Reason::kMemory);
  EXPECT_EQ(verdict.have, 6 * kGiB);
}

TEST(Explain, FractionsAreCountedInThousandths) {
  TestWorld world;
  world.add(gpu_node("n", 2, ShareMode::kMps));
  world.start(job_of(2, milli(600)));
  Verdict verdict = world.start(job_of(1, milli(700))).verdict;
  EXPECT_EQ(verdict.reason, Reason::kNode) << "0.8 in sum, but on two devices";
  EXPECT_EQ(verdict.unit, CountUnit::kMilliGpu);
  EXPECT_EQ(verdict.have, 400);
  EXPECT_EQ(verdict.need, 700);
  verdict = world.start(job_of(1, milli(900))).verdict;
  EXPECT_EQ(verdict.reason, Reason::kGpus);
  EXPECT_EQ(verdict.have, 800);
}

TEST(Explain, MigInstancesAreCountedInSlices) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 1);
  node.devices[0].model = "A100-SXM4-80GB";
  node.devices[0].mig_mode = MigMode::kOn;
  world.add(node);
  ASSERT_TRUE(world.start(job_of(5, mig("1g.10gb"))).is_yes());
  Verdict verdict = world.start(job_of(1, mig("3g.40gb"))).verdict;
  EXPECT_EQ(verdict.reason, Reason::kMig);
  EXPECT_EQ(verdict.unit, CountUnit::kSlices);
  EXPECT_EQ(verdict.have, 2);
  EXPECT_EQ(verdict.need, 3);
  EXPECT_FALSE(verdict.is_never);
  verdict = world.start(job_of(2, mig("4g.40gb"))).verdict;
  EXPECT_TRUE(verdict.is_never);
}

TEST(Explain, NumaIsNamedAlthoughTheNodeAsAWholeHasRoom) {
  TestWorld world;
  NodeSpec node = gpu_node("n", 0);
  node.cpu_milli = 8000;
  node.numa = {{.cpu_milli = 4000}, {.cpu_milli = 4000}};
  world.add(node);
  JobSpec job = job_of(1, {});
  job.roles[0].cpu_milli = 6000;
  job.roles[0].numa = NumaNeed::kOneZone;
  const Verdict verdict = world.start(job).verdict;
  EXPECT_EQ(verdict.reason, Reason::kNuma);
  EXPECT_TRUE(verdict.is_never);
}

TEST(Explain, NodesThatAreAwayAreToldApart) {
  TestWorld world;
  for (const char* name : {"a", "b", "c"}) world.add(gpu_node(name, 1));
  world.state.set_node_up(NodeId{0}, 0);
  world.state.set_node_cordoned(NodeId{1}, 1);
  world.occupy(NodeId{2}, 0b1);
  const Verdict verdict = world.start(job_of(1, whole(1))).verdict;
  EXPECT_EQ(verdict.reason, Reason::kGpus);
  EXPECT_EQ(nodes_for(verdict, Reason::kUnavailable), 2U);
  EXPECT_EQ(verdict.nodes_down, 1U);
  EXPECT_EQ(verdict.nodes_cordoned, 1U);
  EXPECT_EQ(nodes_for(verdict, Reason::kGpus), 1U);
  EXPECT_FALSE(verdict.is_never);
}

TEST(Explain, ANamedNodeIsNamedInTheVerdict) {
  TestWorld world;
  for (const char* name : {"a", "b"}) world.add(gpu_node(name, 4));
  world.occupy(NodeId{0}, 0b0111);
  JobSpec job = job_of(1, whole(2));
  job.roles[0].node = "a";
  const Verdict verdict = world.start(job).verdict;
  EXPECT_EQ(verdict.reason, Reason::kNode);
  EXPECT_TRUE(verdict.is_node_named);
  EXPECT_EQ(verdict.node, NodeId{0});
  EXPECT_EQ(verdict.have, 1);
  EXPECT_EQ(verdict.need, 2);
  EXPECT_EQ(nodes_for(verdict, Reason::kNode), 1U);
}

TEST(Explain, WhatCouldNeverRunSaysSoWithWhatThereIs) {
  TestWorld world({"rack"});
  for (int i = 0; i < 4; ++i) world.add(with_label(gpu_node("n" + std::to_string(i), 4), "rack", i < 2 ? "r1" : "r2"));
  world.occupy(NodeId{0}, 0b1111);
  Verdict verdict = world.start(job_of(1, whole(5))).verdict;
  EXPECT_TRUE(verdict.is_never);
  EXPECT_EQ(verdict.reason, Reason::kNode);
  EXPECT_EQ(verdict.have, 4);
  EXPECT_EQ(verdict.wakes_on, kAdded);
  verdict = world.start(within(job_of(9, whole(1)), "rack")).verdict;
  EXPECT_TRUE(verdict.is_never);
  EXPECT_EQ(verdict.reason, Reason::kLevel);
  EXPECT_EQ(verdict.have, 8);
  EXPECT_EQ(verdict.need, 9);
  EXPECT_FALSE(world.start(within(job_of(8, whole(1)), "rack")).verdict.is_never);
  EXPECT_TRUE(world.start(within(job_of(5, whole(1)), "node")).verdict.is_never);
}

TEST(Explain, ANewNodeEndsANever) {
  TestWorld world;
  world.add(gpu_node("a", 4));
  ASSERT_TRUE(world.start(job_of(1, whole(8))).verdict.is_never);
  world.occupy(world.add(gpu_node("b", 8)), 0x01);
  EXPECT_FALSE(world.start(job_of(1, whole(8))).verdict.is_never);
}

TEST(Explain, AnEmptyClusterHasAVerdictToo) {
  TestWorld world;
  const Verdict verdict = world.start(job_of(1, whole(1))).verdict;
  EXPECT_EQ(verdict.reason, Reason::kGpus);
  EXPECT_TRUE(verdict.is_never);
  EXPECT_EQ(world.start(job_of(1, {})).verdict.reason, Reason::kCpus);
}

TEST(Explain, CountingAloneSaysYesWhenEveryTaskFits) {
  TestWorld world;
  world.add(gpu_node("a", 4));
  EXPECT_TRUE(world.explain(job_of(4, whole(1))).is_yes());
  EXPECT_FALSE(world.explain(job_of(5, whole(1))).is_yes());
  EXPECT_EQ(world.state.capacity().free_devices(DomainId{0}), 4);
}

/// Random clusters and tasks: the counts add up to the nodes, and each node stands where a look at it alone puts it.
TEST(Explain, EveryNodeIsCountedOnceAndUnderTheFilterThatItFails) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    TestWorld world;
    const auto chance = [&](uint64_t percent) { return rng.below(100) < percent; };
    const uint64_t nodes = 1 + rng.below(150);
    for (uint64_t n = 0; n < nodes; ++n) {
      NodeSpec spec = gpu_node("n" + std::to_string(n), static_cast<unsigned>(rng.below(5)),
                               chance(50) ? ShareMode::kMps : ShareMode::kExclusive);
      spec.cpu_milli = rng.between(1, 6) * 1000;
      spec.memory_bytes = rng.between(1, 6) * kGiB;
      if (chance(30)) spec.labels = {{"kind", "fast"}};
      if (chance(20)) spec.taints = {{.key = "keep", .value = "out"}};
      const bool is_mig = chance(30);
      for (DeviceSpec& device : spec.devices) {
        if (!is_mig) continue;
        device.model = "A30";
        if (chance(70)) device.mig_mode = MigMode::kOn;
      }
      world.add(spec);
      if (chance(10)) world.state.set_node_cordoned(make_id<NodeId>(n), 1);
      if (chance(5)) world.state.set_node_up(make_id<NodeId>(n), 0);
    }
    for (uint64_t i = 0; i < nodes; ++i) world.start(job_of(1, chance(50) ? milli(400) : whole(1)));
    JobSpec job = job_of(1, chance(30)   ? whole(static_cast<int32_t>(rng.between(1, 4)))
                            : chance(40) ? milli(700)
                            : chance(50) ? mig("2g.12gb")
                                         : DeviceNeed{});
    job.roles[0].cpu_milli = rng.between(1, 6) * 1000;
    job.roles[0].memory_bytes = rng.between(1, 6) * kGiB;
    if (chance(50)) job.roles[0].labels = {{"kind", "fast"}};
    if (chance(50)) job.roles[0].tolerations = {"keep"};
    const Verdict verdict = world.what_if(job).verdict;
    if (verdict.is_yes() || verdict.is_never) continue;
    ASSERT_EQ(sum_of_nodes(verdict), nodes) << "seed " << seed;
    ASSERT_EQ(nodes_for(verdict, Reason::kNone), 0U) << "seed " << seed;
    ASSERT_EQ(verdict.nodes_down + verdict.nodes_cordoned, nodes_for(verdict, Reason::kUnavailable));
    const TaskDemand& demand = world.state.shapes()[world.shape(job)].roles[0].demand;
    for (const Reason reason : {Reason::kLabel, Reason::kTaint, Reason::kCpus, Reason::kMemory}) {
      uint32_t expected = 0;
      for (uint64_t n = 0; n < nodes; ++n) {
        TaskPlacement at;
        expected +=
            choose_devices(world.state, make_id<NodeId>(n), demand, {}, PackOrSpread::kPack, -1, at) == reason ? 1 : 0;
      }
      ASSERT_EQ(nodes_for(verdict, reason), expected) << "seed " << seed << " reason " << static_cast<int>(reason);
    }
  }
}

TEST(Explain, TheNodeThatComesNearestIsNamedWhereverItStands) {
  TestWorld world;
  int number = 0;
  for (const int64_t cpus : {3500, 2000, 3000}) {
    NodeSpec node = gpu_node("n" + std::to_string(number++), 1, ShareMode::kMps);
    node.cpu_milli = 8000;
    world.add(node);
    JobSpec filler = job_of(1, {});
    filler.roles[0].cpu_milli = 8000 - cpus;
    filler.roles[0].node = node.name;
    ASSERT_TRUE(world.start(filler).is_yes());
  }
  JobSpec job = job_of(2, milli(500));
  job.roles[0].cpu_milli = 4000;
  const Verdict verdict = world.start(job).verdict;
  EXPECT_EQ(verdict.reason, Reason::kCpus);
  EXPECT_EQ(verdict.node, NodeId{0});
  EXPECT_EQ(verdict.have, 3500);
  EXPECT_EQ(verdict.need, 4000);
}

TEST(Explain, OfEqualNodesAndDomainsTheFirstIsNamed) {
  TestWorld world({"rack"});
  for (int n = 0; n < 70; ++n) {
    world.add(with_label(gpu_node("n" + std::to_string(n), 4), "rack", n < 35 ? "r1" : "r2"));
    world.occupy(make_id<NodeId>(static_cast<size_t>(n)), 0b0001);
  }
  const Verdict on_node = world.start(job_of(1, whole(4))).verdict;
  EXPECT_EQ(on_node.reason, Reason::kNode);
  EXPECT_EQ(on_node.node, NodeId{0});
  EXPECT_EQ(on_node.have, 3);
  const Verdict in_rack = world.start(within(job_of(36, whole(2)), "rack")).verdict;
  EXPECT_EQ(in_rack.reason, Reason::kLevel);
  EXPECT_EQ(in_rack.domain, world.state.nodes().domains[0][0]);
}

TEST(Explain, DownAndCordonedNodesAreNotMixedUp) {
  TestWorld world;
  for (const char* name : {"a", "b", "c", "d"}) world.add(gpu_node(name, 1, ShareMode::kMps));
  world.state.set_node_up(NodeId{0}, 0);
  world.state.set_node_up(NodeId{1}, 0);
  world.state.set_node_cordoned(NodeId{2}, 1);
  world.occupy(NodeId{3}, 0b1);
  for (const DeviceNeed& need : {whole(1), milli(500)}) {
    const Verdict verdict = world.start(job_of(1, need)).verdict;
    EXPECT_EQ(verdict.nodes_down, 2U);
    EXPECT_EQ(verdict.nodes_cordoned, 1U);
  }
}

TEST(Explain, WhatIsNeverForManyTasksMayOnlyWaitForFewer) {
  TestWorld world;
  world.add(gpu_node("a", 4));
  JobSpec job = job_of(6, whole(1));
  job.roles[0].min = 1;
  ASSERT_TRUE(world.start(job).is_yes());
  EXPECT_TRUE(world.grow(world.last_job, {5}).verdict.is_never);
  world.occupy(NodeId{0}, 0b1100);
  EXPECT_FALSE(world.grow(world.last_job, {2}).verdict.is_never);
}

TEST(Explain, WhatFewerTasksMayWaitForCanBeNeverForMore) {
  TestWorld world;
  world.add(gpu_node("a", 4));
  JobSpec job = job_of(6, whole(1));
  job.roles[0].min = 1;
  ASSERT_TRUE(world.start(job).is_yes());
  world.occupy(NodeId{0}, 0b1110);
  EXPECT_FALSE(world.grow(world.last_job, {2}).verdict.is_never);
  EXPECT_TRUE(world.grow(world.last_job, {5}).verdict.is_never);
  EXPECT_FALSE(world.grow(world.last_job, {2}).verdict.is_never) << "remembered";
}

TEST(Explain, FractionsAndWholeDevicesAreAddedUp) {
  TestWorld world;
  world.add(gpu_node("a", 1, ShareMode::kMps));
  const Verdict verdict = world.start(job_of({role_of("x", 1, whole(1)), role_of("y", 1, milli(500))})).verdict;
  EXPECT_EQ(verdict.reason, Reason::kGpus);
  EXPECT_EQ(verdict.unit, CountUnit::kMilliGpu);
  EXPECT_EQ(verdict.have, 1000);
  EXPECT_EQ(verdict.need, 1500);
}

}  // namespace
}  // namespace weft::testing
