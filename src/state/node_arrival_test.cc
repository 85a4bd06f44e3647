#include "state/node_arrival.h"

#include "state/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::gpu_node;
using ::testing::HasSubstr;

constexpr const char* kA100 = "A100-SXM4-80GB";

TEST(NodeArrival, ANewNodeIsUpFreeAndHealthy) {
  ClusterState state;
  const auto node = state.add_node(gpu_node("a", 8, kA100));
  ASSERT_TRUE(node);
  EXPECT_EQ(*node, NodeId{0});
  EXPECT_EQ(state.names().nodes.text(*node), "a");
  EXPECT_EQ(state.available(*node), 0xffU);
  EXPECT_EQ(state.nodes().free_cpu_milli[0], 64'000);
  EXPECT_EQ(state.nodes().free_memory_bytes[0], 512 * kGiB);
  EXPECT_EQ(state.devices().free_memory_bytes[0], state.names().devices.model(state.devices().model[0]).memory_bytes);
  EXPECT_EQ(state.nodes().load_milli[0], -1);
  EXPECT_EQ(state.audit(), std::vector<std::string>{});
}

TEST(NodeArrival, ANodeWithoutDevicesIsInNoPoolButSchedulable) {
  ClusterState state;
  ASSERT_TRUE(state.add_node(gpu_node("a", 0)));
  EXPECT_EQ(state.nodes().pool[0], kNone<PoolId>);
  EXPECT_TRUE(state.capacity().schedulable().test(0));
  EXPECT_EQ(state.capacity().free_devices(DomainId{0}), 0);
  EXPECT_EQ(state.audit(), std::vector<std::string>{});
}

TEST(NodeArrival, SixtyFourDevicesAreTheMost) {
  ClusterState state;
  ASSERT_TRUE(state.add_node(gpu_node("a", 64)));
  EXPECT_EQ(state.available(NodeId{0}), ~uint64_t{0});
  EXPECT_EQ(state.capacity().free_devices(DomainId{0}), 64);
  EXPECT_THAT(error_of(state.add_node(gpu_node("b", 65))), HasSubstr("node 'b': 65 devices; a node has at most 64"));
  EXPECT_EQ(state.audit(), std::vector<std::string>{});
}

TEST(NodeArrival, PoolsAreByModelMemoryAndSharing) {
  ClusterState state;
  NodeSpec shared = gpu_node("b", 4);
  shared.share = ShareMode::kMps;
  NodeSpec small = gpu_node("c", 8);
  for (DeviceSpec& device : small.devices) device.memory_bytes = 16 * kGiB;
  NodeSpec mixed = gpu_node("d", 2);
  mixed.devices[1].model = kA100;
  for (const NodeSpec& spec : {gpu_node("a", 4), shared, small, mixed, gpu_node("e", 8)})
    ASSERT_TRUE(state.add_node(spec));
  EXPECT_THAT(state.nodes().pool, ElementsAre(PoolId{0}, PoolId{1}, PoolId{2}, PoolId{3}, PoolId{0}));
  EXPECT_EQ(state.pools()[0].devices_max, 8U);
  EXPECT_EQ(state.pools()[0].node_count, 2U);
  EXPECT_TRUE(state.pools()[0].nodes.test(4));
  EXPECT_FALSE(state.pools()[0].is_mixed());
  EXPECT_TRUE(state.pools()[3].is_mixed());
  EXPECT_EQ(state.pools()[2].device_memory_bytes_max, 16 * kGiB);
}

TEST(NodeArrival, ADomainIsThePathOfItsLabelAndAllWiderOnes) {
  ClusterState state;
  ASSERT_TRUE(state.define_topology({.levels = {"rack", "block"}}));
  const auto add = [&](std::string name, std::vector<std::pair<std::string, std::string>> labels) {
    NodeSpec spec = gpu_node(std::move(name), 1);
    spec.labels = std::move(labels);
    ASSERT_EQ(error_of(state.add_node(spec)), "");
  };
  add("a", {{"rack", "r1"}, {"block", "b1"}});
  add("b", {{"block", "b1"}, {"rack", "r1"}, {"zone", "z"}});
  add("c", {{"rack", "r1"}, {"block", "b2"}});  // another rack r1
  add("d", {{"rack", "r1"}});                   // and one in no block
  add("e", {{"block", "b1"}});                  // in no rack
  add("f", {{"rack", "r1"}, {"block", "b1"}});
  const auto& domains = state.nodes().domains;
  EXPECT_EQ(domains[0], domains[1]);
  EXPECT_NE(domains[0][0], domains[2][0]);
  EXPECT_NE(domains[0][0], domains[3][0]);
  EXPECT_EQ(domains[3][1], kNone<DomainId>);
  EXPECT_EQ(domains[4][0], kNone<DomainId>);
  EXPECT_EQ(domains[4][1], domains[0][1]);
  EXPECT_EQ(state.names().domains[index(domains[0][0])], "b1/r1");
  EXPECT_EQ(state.names().domains[index(domains[3][0])], "r1");
  EXPECT_EQ(state.domains()[index(domains[0][0])].parent, domains[0][1]);
  EXPECT_EQ(state.domains()[index(domains[3][0])].parent, DomainId{0});
  EXPECT_EQ(state.domains()[index(domains[0][1])].parent, DomainId{0});
  EXPECT_EQ(state.domains_at(LevelId{0}).size(), 3U);
  EXPECT_EQ(state.domains_at(LevelId{1}).size(), 2U);
  EXPECT_THAT(state.domains()[index(domains[0][0])].ranges, ElementsAre(NodeRange{0, 2}, NodeRange{5, 1}));
  EXPECT_THAT(state.domains()[0].ranges, ElementsAre(NodeRange{0, 6}));
  EXPECT_EQ(state.audit(), std::vector<std::string>{});
}

TEST(NodeArrival, TopologyIsDefinedOnceAndBeforeTheFirstNode) {
  ClusterState state;
  EXPECT_THAT(error_of(state.define_topology({.levels = {"rack", "rack"}})), HasSubstr("'rack' is given twice"));
  EXPECT_THAT(error_of(state.define_topology({.levels = {"node"}})), HasSubstr("is there by itself"));
  EXPECT_THAT(error_of(state.define_topology({.levels = {""}})), HasSubstr("not a level's name"));
  ASSERT_TRUE(state.define_topology({.levels = {"rack"}}));
  ASSERT_TRUE(state.add_node(gpu_node("a", 1)));
  EXPECT_TRUE(state.define_topology({.levels = {"rack"}})) << "the same again";
  EXPECT_THAT(error_of(state.define_topology({.levels = {"rack", "block"}})), HasSubstr("before the first node"));
}

TEST(NodeArrival, LinkQualityComesFromIslandsAndZonesAndIsShared) {
  ClusterState state;
  NodeSpec spec = gpu_node("a", 5);
  spec.islands = {0b00011, 0b01100};
  spec.numa = {{.cpu_milli = 1000, .devices = 0b01111}, {.cpu_milli = 1000, .devices = 0b10000}};
  ASSERT_TRUE(state.add_node(spec));
  spec.name = "b";
  ASSERT_TRUE(state.add_node(spec));
  EXPECT_EQ(state.nodes().layout[0], state.nodes().layout[1]);
  const LinkLayout& layout = state.layouts()[state.nodes().layout[0]];
  EXPECT_THAT(layout.islands, ElementsAre(0b00011, 0b01100, 0b10000));
  EXPECT_EQ(layout.quality_of(0, 1), 100);
  EXPECT_EQ(layout.quality_of(1, 2), 10);
  EXPECT_EQ(layout.quality_of(3, 4), 0);
  EXPECT_THAT(layout.zone_devices, ElementsAre(0b01111, 0b10000));
  spec.name = "c";
  spec.link_quality.assign(25, 7);
  ASSERT_TRUE(state.add_node(spec));
  EXPECT_EQ(state.layouts()[state.nodes().layout[2]].quality_of(0, 1), 7);
}

TEST(NodeArrival, DevicesSayTheirZoneWhereZonesListNone) {
  ClusterState state;
  NodeSpec spec = gpu_node("a", 3);
  spec.numa = {{.cpu_milli = 4000}, {.cpu_milli = 8000}};
  spec.devices[1].numa_zone = 1;
  ASSERT_TRUE(state.add_node(spec));
  EXPECT_THAT(state.zones().devices, ElementsAre(0b101, 0b010));
  EXPECT_THAT(state.zones().free_cpu_milli, ElementsAre(4000, 8000));
  spec.name = "b";
  spec.devices[2].numa_zone = 2;
  EXPECT_THAT(error_of(state.add_node(spec)), HasSubstr("device 2 is in NUMA zone 2, but the node has 2"));
}

NodeSpec mig_node(std::vector<MigInstanceSpec> instances, MigCut cut = MigCut::kFixed) {
  NodeSpec spec = gpu_node("a", 2, kA100);
  spec.devices[1].mig_mode = MigMode::kOn;
  spec.devices[1].mig_cut = cut;
  spec.devices[1].mig_instances = std::move(instances);
  return spec;
}

std::vector<int> starts_of(const ClusterState& state, size_t row) {
  std::vector<int> starts;
  for (const FixedInstance& instance : state.devices().mig_fixed[row]) starts.push_back(instance.start);
  return starts;
}

TEST(NodeArrival, FixedInstancesTakeTheFirstStartThatLeavesRoomForTheRest) {
  struct Case {
    std::vector<MigInstanceSpec> instances;
    std::vector<int> starts;
  };
  for (const Case& c :
       {Case{{{.profile = "3g.40gb"}, {.profile = "2g.20gb"}}, {0, 4}},
        Case{{{.profile = "1g.10gb"}, {.profile = "4g.40gb"}}, {4, 0}},  // the only start of 4g.40gb is 0
        Case{{{.profile = "1g.10gb"}, {.profile = "3g.40gb", .start = 0}}, {4, 0}},
        Case{{{.profile = "2g.20gb"}, {.profile = "2g.20gb"}, {.profile = "2g.20gb"}, {.profile = "1g.10gb"}},
             {0, 2, 4, 6}},
        Case{{}, {}}}) {
    ClusterState state;
    ASSERT_EQ(error_of(state.add_node(mig_node(c.instances))), "");
    EXPECT_EQ(starts_of(state, 1), c.starts);
    EXPECT_EQ(state.nodes().mig[0], 0b10U);
    EXPECT_EQ(state.nodes().free[0], 0b01U);
  }
}

TEST(NodeArrival, ImpossibleInstancesAreErrors) {
  struct Case {
    std::vector<MigInstanceSpec> instances;
    const char* words;
  };
  for (const Case& c : {Case{{{.profile = "3g.20gb"}}, "A100-SXM4-80GB has no MIG profile '3g.20gb'; it has 1g.10gb"},
                        Case{{{.profile = "3g.40gb", .start = 3}}, "an instance 3g.40gb cannot start at slice 3"},
                        Case{{{.profile = "4g.40gb"}, {.profile = "4g.40gb"}}, "cannot be cut"},
                        Case{{{.profile = "3g.40gb", .start = 0}, {.profile = "4g.40gb", .start = 0}}, "cannot be cut"},
                        Case{std::vector<MigInstanceSpec>(8, {.profile = "1g.10gb"}), "cannot be cut"},
                        Case{std::vector<MigInstanceSpec>(17, {.profile = "1g.10gb"}), "17 MIG instances"}}) {
    ClusterState state;
    EXPECT_THAT(error_of(state.add_node(mig_node(c.instances))), HasSubstr(c.words));
    EXPECT_EQ(state.nodes().size(), 0U);
  }
  ClusterState state;
  NodeSpec off = mig_node({{.profile = "1g.10gb"}});
  off.devices[1].mig_mode = MigMode::kOff;
  EXPECT_THAT(error_of(state.add_node(off)), HasSubstr("device 1: it lists MIG instances but is not in MIG mode"));
  NodeSpec generic = gpu_node("g", 1);
  generic.devices[0].mig_mode = MigMode::kOn;
  EXPECT_THAT(error_of(state.add_node(generic)), HasSubstr("generic has no MIG"));
}

TEST(NodeArrival, EveryWrongSpecIsOneLineAndLeavesNothingBehind) {
  struct Case {
    const char* words;
    void (*spoil)(NodeSpec&);
  };
  const Case cases[] = {
      {"a node has no name", [](NodeSpec& s) { s.name.clear(); }},
      {"there is a node of this name already", [](NodeSpec& s) { s.name = "old"; }},
      {"cpus is negative", [](NodeSpec& s) { s.cpu_milli = -1; }},
      {"memory is negative", [](NodeSpec& s) { s.memory_bytes = -1; }},
      {"disk is negative", [](NodeSpec& s) { s.disk_bytes = -1; }},
      {"memory is too large", [](NodeSpec& s) { s.memory_bytes = std::numeric_limits<int64_t>::max(); }},
      {"unknown model 'A100-SXM4-80G'; did you mean 'A100-SXM4-80GB'?",
       [](NodeSpec& s) { s.devices[0].model = "A100-SXM4-80G"; }},
      {"device 1: memory is negative", [](NodeSpec& s) { s.devices[1].memory_bytes = -5; }},
      {"NUMA zone 1: it names device 4", [](NodeSpec& s) { s.numa = {{1000, 0b1}, {1000, 0b10010}}; }},
      {"device 1 is in two NUMA zones", [](NodeSpec& s) { s.numa = {{1000, 0b11}, {1000, 0b10}}; }},
      {"NUMA zone 0: cpus is negative", [](NodeSpec& s) { s.numa = {{-1, 0b11}}; }},
      {"an island names device 5", [](NodeSpec& s) { s.islands = {0b100001}; }},
      {"device 2 is in two islands", [](NodeSpec& s) { s.islands = {0b0110, 0b1100}; }},
      {"an island has no devices", [](NodeSpec& s) { s.islands = {0}; }},
      {"link_quality has 3 numbers; 4 devices need 16", [](NodeSpec& s) { s.link_quality = {1, 2, 3}; }},
      {"link_quality of devices 0 and 1 is not the same both ways",
       [](NodeSpec& s) {
         s.link_quality.assign(16, 1);
         s.link_quality[1] = 2;
       }},
      {"the label 'rack' is given twice", [](NodeSpec& s) { s.labels = {{"rack", "a"}, {"rack", "b"}}; }},
      {"'' is not a label's name", [](NodeSpec& s) { s.labels = {{"", "a"}}; }},
      {"'a=b' is not a label's name", [](NodeSpec& s) { s.labels = {{"a=b", "c"}}; }},
      {"a taint has no key", [](NodeSpec& s) { s.taints = {{"", "x"}}; }},
  };
  for (const Case& c : cases) {
    ClusterState state;
    ASSERT_TRUE(state.add_node(gpu_node("old", 1)));
    const uint64_t version = state.structure_version();
    NodeSpec spec = gpu_node("new", 4);
    c.spoil(spec);
    const std::string error = error_of(state.add_node(spec));
    EXPECT_THAT(error, HasSubstr(c.words));
    EXPECT_EQ(error.find('\n'), std::string::npos);
    EXPECT_EQ(state.nodes().size(), 1U);
    EXPECT_EQ(state.names().nodes.size(), 1U);
    EXPECT_EQ(state.structure_version(), version);
  }
}

TEST(NodeArrival, SumsOverNodesStayInRange) {
  ClusterState state;
  NodeSpec spec = gpu_node("a", 0);
  spec.memory_bytes = kQuantityMax;
  ASSERT_TRUE(state.add_node(spec));
  spec.name = "b";
  spec.memory_bytes = 1;
  EXPECT_THAT(error_of(state.add_node(spec)), HasSubstr("add up to too large a number"));
}

TEST(NodeArrival, TheChangeLogGrowsWithTheClusterAndKnowsHowFarBackItReaches) {
  ClusterState state;
  constexpr size_t kNodes = 5000;
  std::vector<NodeId> changed;  // a log that forgets nothing
  for (size_t n = 0; n < kNodes; ++n) {
    ASSERT_TRUE(state.add_node(gpu_node("n" + std::to_string(n), n % 3)));
    changed.push_back(make_id<NodeId>(n));
    const NodeId other = make_id<NodeId>(n / 2);
    state.set_node_load(other, static_cast<int32_t>(n));
    changed.push_back(other);
  }
  ASSERT_EQ(state.change_count(), changed.size());
  EXPECT_GE(state.changes_kept(), 4096U);
  for (uint64_t i = state.change_count() - state.changes_kept(); i < state.change_count(); ++i) {
    ASSERT_EQ(state.changed_node(i), changed[i]) << "entry " << i;
  }
  EXPECT_EQ(state.audit_indices(), std::vector<std::string>{});
}

TEST(NodeArrival, AViewShowsWhatIsFree) {
  ClusterState state;
  ASSERT_TRUE(state.define_topology({.levels = {"rack"}}));
  NodeSpec spec = gpu_node("a", 4, kA100);
  spec.share = ShareMode::kMps;
  spec.labels = {{"rack", "r1"}};
  spec.devices[3].mig_mode = MigMode::kOn;
  ASSERT_TRUE(state.add_node(spec));
  {
    Transaction txn(state);
    txn.take(testing::whole_demand(1), testing::whole_on(NodeId{0}, 0b0001));
    txn.take(TaskDemand{}, testing::share_on(NodeId{0}, 1, 300, kGiB));
    txn.commit();
  }
  state.set_device_healthy(NodeId{0}, 2, 0);
  const NodeView view = state.view_node(NodeId{0});
  EXPECT_EQ(view.name, "a");
  EXPECT_EQ(view.device_model, kA100);
  EXPECT_EQ(view.free_devices, 0U);
  EXPECT_EQ(view.healthy_devices, 0b1011U);
  EXPECT_THAT(view.device_free_milli, ElementsAre(0, 700, 0, 1000));
  EXPECT_EQ(view.free_cpu_milli, 63'000);
  EXPECT_EQ(view.free_memory_bytes, 511 * kGiB);
  EXPECT_THAT(view.domains, ElementsAre("r1"));
}

}  // namespace
}  // namespace weft
