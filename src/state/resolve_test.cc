#include "state/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace weft {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::queue;

constexpr const char* kA100 = "A100-SXM4-80GB";

class Resolve : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(state_.define_topology({.levels = {"rack", "block"}}));
    ASSERT_TRUE(state_.define_queue(queue("org")));
    ASSERT_TRUE(state_.define_queue(queue("red", "org")));
    NodeSpec node = testing::gpu_node("a0", 8, kA100);
    node.labels = {{"rack", "r1"}};
    ASSERT_TRUE(state_.add_node(node));
  }

  static JobSpec job() { return JobSpec{.name = "x", .queue = "red", .roles = {RoleSpec{}}}; }
  static RoleSpec role(std::string name) { return RoleSpec{.name = std::move(name)}; }

  ClusterState state_;
};

TEST_F(Resolve, FillsInTheDefaults) {
  const auto shape = state_.resolve(job());
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->queue, QueueId{1});
  EXPECT_EQ(shape->priority, kPriorityTrain);
  EXPECT_TRUE(shape->is_preemptible);
  EXPECT_EQ(shape->roles[0].count, 1);
  EXPECT_EQ(shape->roles[0].min, 1);
  EXPECT_EQ(shape->roles[0].demand.cpu_milli, 1000);
  EXPECT_EQ(shape->roles[0].demand.devices.kind, DeviceNeedKind::kNone);
  EXPECT_EQ(shape->roles[0].demand.node, kNone<NodeId>);
  ASSERT_EQ(shape->groups.size(), 1U);
  EXPECT_THAT(shape->groups[0].roles, ElementsAre(0));
  EXPECT_EQ(shape->groups[0].min, 1);
  EXPECT_EQ(shape->groups[0].parent, -1);
}

TEST_F(Resolve, PreemptibleFollowsThePriorityUnlessSaid) {
  JobSpec spec = job();
  spec.priority = kPriorityBuild;
  EXPECT_FALSE(state_.resolve(spec)->is_preemptible);
  spec.preemptible = true;
  EXPECT_TRUE(state_.resolve(spec)->is_preemptible);
  spec.priority = 99;
  spec.preemptible.reset();
  EXPECT_TRUE(state_.resolve(spec)->is_preemptible);
}

TEST_F(Resolve, NamesBecomeIds) {
  JobSpec spec = job();
  RoleSpec& role = spec.roles[0];
  role.node = "a0";
  role.labels = {{"zone", "z"}, {"rack", "r1"}};
  role.tolerations = {"spot", "spot"};
  role.constraint.models = {kA100, "generic", kA100};
  role.topology = {.within = "block", .prefer = "rack"};
  spec.topology = {.within = "nvlink", .prefer = "node"};
  const auto shape = state_.resolve(spec);
  ASSERT_TRUE(shape);
  const TaskDemand& demand = shape->roles[0].demand;
  EXPECT_EQ(demand.node, NodeId{0});
  EXPECT_EQ(demand.labels.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(demand.labels));
  EXPECT_EQ(state_.names().labels.find("rack=r1"), state_.nodes().labels[0][0]);
  EXPECT_EQ(demand.tolerations.size(), 1U);
  EXPECT_THAT(demand.devices.models, ElementsAre(DeviceModelId{0}, state_.names().devices.find(kA100)));
  EXPECT_EQ(shape->roles[0].scope.within, (LevelNeed{LevelNeed::Kind::kLevel, LevelId{1}}));
  EXPECT_EQ(shape->roles[0].scope.prefer, (LevelNeed{LevelNeed::Kind::kLevel, LevelId{0}}));
  EXPECT_EQ(shape->groups[0].scope.within.kind, LevelNeed::Kind::kNvlink);
  EXPECT_EQ(shape->groups[0].scope.prefer.kind, LevelNeed::Kind::kNode);
}

TEST_F(Resolve, WholeNumbersOfDevicesAreWholeHoweverTheyAreWritten) {
  JobSpec spec = job();
  spec.roles[0].devices = {.kind = DeviceNeedKind::kMilli, .milli = 2000};
  const auto two = state_.resolve(spec);
  spec.roles[0].devices = {.kind = DeviceNeedKind::kWhole, .count = 2};
  EXPECT_EQ(*two, *state_.resolve(spec));
  spec.roles[0].devices = {.kind = DeviceNeedKind::kWhole, .count = 0};
  EXPECT_EQ(state_.resolve(spec)->roles[0].demand.devices.kind, DeviceNeedKind::kNone);
  spec.roles[0].devices = {.kind = DeviceNeedKind::kMilli, .milli = 500};
  EXPECT_EQ(state_.resolve(spec)->roles[0].demand.devices.milli, 500);
  spec.roles[0].devices = {.kind = DeviceNeedKind::kMemory, .memory_bytes = kGiB};
  EXPECT_EQ(state_.resolve(spec)->roles[0].demand.devices.memory_bytes, kGiB);
}

TEST_F(Resolve, AMigProfileListsEveryAllowedModelThatHasIt) {
  JobSpec spec = job();
  spec.roles[0].devices = {.kind = DeviceNeedKind::kMig, .mig_profile = "1g.10gb"};
  const auto any = state_.resolve(spec);
  ASSERT_TRUE(any);
  const DeviceCatalogue& catalogue = state_.names().devices;
  size_t expected = 0;
  for (size_t i = 0; i < catalogue.size(); ++i) {
    expected += find_mig_profile(catalogue.model(make_id<DeviceModelId>(i)), "1g.10gb") != kNoProfile ? 1 : 0;
  }
  EXPECT_GT(expected, 1U);
  EXPECT_EQ(any->roles[0].demand.devices.mig.size(), expected);
  EXPECT_TRUE(std::ranges::is_sorted(any->roles[0].demand.devices.mig));
  spec.roles[0].constraint.models = {kA100};
  const auto one = state_.resolve(spec);
  ASSERT_TRUE(one);
  ASSERT_EQ(one->roles[0].demand.devices.mig.size(), 1U);
  EXPECT_EQ(one->roles[0].demand.devices.mig[0].first, catalogue.find(kA100));
  const Shape& before = *one;
  state_.names().devices.add(DeviceModel{.name = "house-made", .memory_bytes = kGiB, .mig_profiles = {}});
  EXPECT_EQ(*state_.resolve(spec), before) << "a later model moves no id";
}

TEST_F(Resolve, GroupsAreLaidOutParentsFirst) {
  JobSpec spec = job();
  spec.roles = {role("a"), role("b"), role("c"), role("d")};
  spec.groups = {GroupSpec{.name = "inner", .roles = {"b", "a"}, .topology = {.within = "rack"}},
                 GroupSpec{.name = "outer", .roles = {"c"}, .groups = {"inner"}, .min = 1}};
  const auto shape = state_.resolve(spec);
  ASSERT_TRUE(shape);
  ASSERT_EQ(shape->groups.size(), 3U);
  EXPECT_THAT(shape->groups[0].roles, ElementsAre(3));
  EXPECT_THAT(shape->groups[0].groups, ElementsAre(1));
  EXPECT_EQ(shape->groups[0].min, 2);
  EXPECT_THAT(shape->groups[1].roles, ElementsAre(2));
  EXPECT_THAT(shape->groups[1].groups, ElementsAre(2));
  EXPECT_EQ(shape->groups[1].parent, 0);
  EXPECT_EQ(shape->groups[1].min, 1);
  EXPECT_THAT(shape->groups[2].roles, ElementsAre(1, 0));
  EXPECT_EQ(shape->groups[2].parent, 1);
  EXPECT_EQ(shape->groups[2].min, 2);
  EXPECT_EQ(shape->groups[2].scope.within.kind, LevelNeed::Kind::kLevel);
}

TEST_F(Resolve, ReplicasAreSummedByNode) {
  ASSERT_TRUE(state_.add_node(testing::gpu_node("a1", 0)));
  JobSpec spec = job();
  spec.data = {{.size_bytes = 5, .nodes = {"a1", "a0"}}, {.size_bytes = 7, .nodes = {"a1"}}};
  const auto shape = state_.resolve(spec);
  ASSERT_TRUE(shape);
  EXPECT_THAT(shape->data, ElementsAre(DataLocation{NodeId{0}, 5}, DataLocation{NodeId{1}, 12}));
}

struct Spoiled {
  const char* words;
  void (*spoil)(JobSpec&);
};

void expect_errors(ClusterState& state, const JobSpec& good, std::span<const Spoiled> cases) {
  ASSERT_EQ(error_of(state.resolve(good)), "");
  for (const Spoiled& c : cases) {
    JobSpec spec = good;
    c.spoil(spec);
    if (!spec.roles.empty()) spec.roles[0].labels.emplace_back("never", "seen");
    const std::string error = error_of(state.resolve(spec));
    EXPECT_THAT(error, HasSubstr(c.words));
    EXPECT_THAT(error, ::testing::StartsWith("job 'x'"));
    EXPECT_EQ(error.find('\n'), std::string::npos);
    EXPECT_EQ(state.names().labels.find("never=seen"), kNone<LabelId>) << "nothing is interned for a wrong job";
  }
}

TEST_F(Resolve, WrongJobsAreOneLineEach) {
  const Spoiled cases[] = {
      {"unknown queue 'redd'; did you mean 'red'?", [](JobSpec& s) { s.queue = "redd"; }},
      {"queue 'org' has children and takes no jobs", [](JobSpec& s) { s.queue = "org"; }},
      {"it has no roles", [](JobSpec& s) { s.roles.clear(); }},
      {"two roles are called 'w'", [](JobSpec& s) { s.roles.emplace_back(); }},
      {"a role has no name", [](JobSpec& s) { s.roles[0].name.clear(); }},
      {"estimate must not be negative", [](JobSpec& s) { s.estimate = seconds(-1); }},
      {"limit must be above zero", [](JobSpec& s) { s.time_limit = seconds(0); }},
      {"patience must not be negative", [](JobSpec& s) { s.patience = seconds(-1); }},
      {"stale_after must not be negative", [](JobSpec& s) { s.stale_after = seconds(-1); }},
      {"grace must not be negative", [](JobSpec& s) { s.grace = seconds(-1); }},
      {"checkpoint save must not be negative", [](JobSpec& s) { s.checkpoint = CheckpointSpec{.save = seconds(-1)}; }},
      {"retries must not be negative", [](JobSpec& s) { s.retries = -1; }},
      {"step must be at least 1", [](JobSpec& s) { s.elasticity.step = 0; }},
      {"scaling curve", [](JobSpec& s) { s.elasticity.scaling_curve = {1, std::numeric_limits<double>::quiet_NaN()}; }},
      {"after: there is no job 0", [](JobSpec& s) { s.after = {0}; }},
      {"array index 3 of 3", [](JobSpec& s) { s.array_index = 3, s.array_size = 3; }},
      {"within: unknown level 'rak'; did you mean 'rack'?", [](JobSpec& s) { s.topology.within = "rak"; }},
      {"prefer: unknown level 'nowhere'", [](JobSpec& s) { s.topology.prefer = "nowhere"; }},
      {"data: unknown node 'a9'", [](JobSpec& s) { s.data = {{.size_bytes = 1, .nodes = {"a9"}}}; }},
      {"a shard's size must not be negative", [](JobSpec& s) { s.data = {{.size_bytes = -1, .nodes = {"a0"}}}; }},
      {"data: sizes add up", [](JobSpec& s) { s.data.assign(9, {.size_bytes = kUnlimited / 8, .nodes = {"a0"}}); }},
      {"none of its tasks runs", [](JobSpec& s) { s.roles[0].min = 0; }},
  };
  expect_errors(state_, job(), cases);
}

TEST_F(Resolve, AModelMayBeNamedAsPeopleDo) {
  JobSpec spec = job();
  spec.roles[0].devices = {.kind = DeviceNeedKind::kWhole, .count = 1};
  const auto models = [&](std::vector<std::string> names) {
    spec.roles[0].constraint.models = std::move(names);
    const auto shape = state_.resolve(spec);
    EXPECT_TRUE(shape) << shape.error().message;
    return shape ? shape->roles[0].demand.devices.models : std::vector<DeviceModelId>{};
  };
  EXPECT_EQ(models({"a100-sxm4-80gb"}), models({kA100}));
  EXPECT_EQ(models({"a100-sxm4", kA100}), models({"A100-SXM4-40GB", "A100-SXM4-80GB"}));
}

TEST_F(Resolve, WrongRolesAreOneLineEach) {
  const Spoiled cases[] = {
      {"job 'x': count must be at least 1, got 0", [](JobSpec& s) { s.roles[0].count = 0; }},
      {"count must be at least 1, got -3", [](JobSpec& s) { s.roles[0].count = -3; }},
      {"job 'x', role 'other': count must", [](JobSpec& s) { s.roles.push_back({.name = "other", .count = 0}); }},
      {"min 2 is more than count 1", [](JobSpec& s) { s.roles[0].min = 2; }},
      {"min must not be negative", [](JobSpec& s) { s.roles[0].min = -2; }},
      {"cpus must not be negative", [](JobSpec& s) { s.roles[0].cpu_milli = -1; }},
      {"memory must not be negative", [](JobSpec& s) { s.roles[0].memory_bytes = -1; }},
      {"disk must not be negative", [](JobSpec& s) { s.roles[0].disk_bytes = -1; }},
      {"minimum device memory must not be negative", [](JobSpec& s) { s.roles[0].constraint.memory_bytes_min = -1; }},
      {"cpus is too large a number", [](JobSpec& s) { s.roles[0].cpu_milli = std::numeric_limits<int64_t>::max(); }},
      {"memory of all its tasks add up",
       [](JobSpec& s) { s.roles[0].count = 100, s.roles[0].memory_bytes = kUnlimited / 64; }},
      {"2000000000 tasks; at most 1000000", [](JobSpec& s) { s.roles[0].count = 2'000'000'000; }},
      {"unknown model 'A100-SXM4-80'; did you mean 'A100-SXM4-80GB'? This cluster has A100-SXM4-80GB",
       [](JobSpec& s) { s.roles[0].constraint.models = {"A100-SXM4-80"}; }},
      {"unknown model 'Z9000'; this cluster has A100-SXM4-80GB",
       [](JobSpec& s) { s.roles[0].constraint.models = {"Z9000"}; }},
      {"unknown node 'a1'; did you mean 'a0'?", [](JobSpec& s) { s.roles[0].node = "a1"; }},
      {"the label 'k' is given twice", [](JobSpec& s) { s.roles[0].labels = {{"k", "1"}, {"k", "2"}}; }},
      {"'' is not a label's name", [](JobSpec& s) { s.roles[0].labels = {{"", "1"}}; }},
      {"a toleration has no key", [](JobSpec& s) { s.roles[0].tolerations = {""}; }},
      {"within: unknown level", [](JobSpec& s) { s.roles[0].topology.within = "galaxy"; }},
  };
  expect_errors(state_, job(), cases);
}

TEST_F(Resolve, WrongDeviceNeedsAreOneLineEach) {
  const Spoiled cases[] = {
      {"gpus must not be negative, got -1",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kWhole, .count = -1}; }},
      {"gpus must not be negative",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMilli, .milli = -500}; }},
      {"a fraction of a gpu must be above 0",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMilli}; }},
      {"gpus 1.500 is neither a whole number nor below 1",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMilli, .milli = 1500}; }},
      {"not several",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMilli, .count = 2, .milli = 500}; }},
      {"not several",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMig, .count = 1, .mig_profile = "1g.10gb"}; }},
      {"without its kind", [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kNone, .count = 2}; }},
      {"whole gpus need a count",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kWhole, .milli = 500}; }},
      {"gpu_memory must be above 0", [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMemory}; }},
      {"gpu_memory must not be negative",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMemory, .memory_bytes = -1}; }},
      {"mig needs the name of a profile", [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMig}; }},
      {"no known model has the MIG profile '9g.1gb'",
       [](JobSpec& s) { s.roles[0].devices = {.kind = DeviceNeedKind::kMig, .mig_profile = "9g.1gb"}; }},
      {"A100-SXM4-80GB has no MIG profile '3g.20gb'; it has 1g.10gb",
       [](JobSpec& s) {
         s.roles[0].devices = {.kind = DeviceNeedKind::kMig, .mig_profile = "3g.20gb"};
         s.roles[0].constraint.models = {kA100};
       }},
      {"gpus of all its tasks add up",
       [](JobSpec& s) {
         s.roles[0].count = 1'000'000;
         s.roles[0].memory_bytes = 0;
         s.roles[0].devices = {.kind = DeviceNeedKind::kWhole, .count = std::numeric_limits<int32_t>::max()};
       }},
  };
  expect_errors(state_, job(), cases);
}

TEST_F(Resolve, WrongGroupsAreOneLineEach) {
  JobSpec good = job();
  good.roles = {role("a"), role("b"), role("c")};
  good.groups = {GroupSpec{.name = "g", .roles = {"a"}}, GroupSpec{.name = "h", .roles = {"b"}}};
  const Spoiled cases[] = {
      {"a group has no name", [](JobSpec& s) { s.groups[0].name.clear(); }},
      {"two groups are called 'g'", [](JobSpec& s) { s.groups[1].name = "g"; }},
      {"group 'g': it has no members", [](JobSpec& s) { s.groups[0].roles.clear(); }},
      {"group 'g': unknown role 'z'", [](JobSpec& s) { s.groups[0].roles = {"z"}; }},
      {"group 'g': unknown group 'z'", [](JobSpec& s) { s.groups[0].groups = {"z"}; }},
      {"role 'a' is in two groups, or twice in one", [](JobSpec& s) { s.groups[1].roles = {"a"}; }},
      {"role 'a' is in two groups, or twice in one", [](JobSpec& s) { s.groups[0].roles = {"a", "a"}; }},
      {"group 'g': it is inside a group that it holds itself", [](JobSpec& s) { s.groups[0].groups = {"g"}; }},
      {"group 'g': it is inside a group that it holds itself",
       [](JobSpec& s) {
         s.groups[0].groups = {"h"};
         s.groups[1].groups = {"g"};
       }},
      {"group 'h': min 2 is more than its 1 members", [](JobSpec& s) { s.groups[1].min = 2; }},
      {"group 'h': min must be at least 1, got 0", [](JobSpec& s) { s.groups[1].min = 0; }},
      {"min_groups 4 is more than its 3 members", [](JobSpec& s) { s.min_groups = 4; }},
      {"group 'g': within: unknown level 'moon'", [](JobSpec& s) { s.groups[0].topology.within = "moon"; }},
  };
  expect_errors(state_, good, cases);
}

TEST_F(Resolve, EqualSpecsMakeOneShape) {
  const auto a = state_.resolve(job());
  JobSpec other = job();
  other.name = "another";
  other.user = "somebody";
  other.launch.command = {"true"};
  const auto b = state_.resolve(other);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(state_.intern(*a), state_.intern(*b));
  other.roles[0].memory_bytes += 1;
  EXPECT_NE(state_.intern(*a), state_.intern(*state_.resolve(other)));
}

}  // namespace
}  // namespace weft
