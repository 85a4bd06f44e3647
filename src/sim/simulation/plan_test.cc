#include "sim/simulation/plan.h"

#include "base/test_folder.h"
#include "sim/simulation/job_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

TEST(RunPlan, AnUnknownPolicyOrPlacementIsRefusedWithTheNearestName) {
  EXPECT_THAT(plan_policy({.policy = "srtff"}).error().message,
              HasSubstr("there is no policy 'srtff' (did you mean 'srtf'?); known are default, fifo"));
  EXPECT_THAT(plan_policy({.placement = "packs"}).error().message,
              HasSubstr("there is no placement 'packs' (did you mean 'pack'?); known are count, consolidated"));
}

TEST(RunPlan, EveryNamedPolicyAndPlacementCanBePlanned) {
  for (const std::string_view policy : policy_names()) {
    for (const std::string_view placement : placement_names())
      EXPECT_TRUE(plan_policy({.policy = std::string(policy), .placement = std::string(placement)}));
  }
}

TEST(RunPlan, TheRulesChooseThePlacementWhereNoneIsNamed) {
  EXPECT_EQ(plan_policy({})->placement, "pack");
  EXPECT_EQ(plan_policy({.rules = Rules::kTiresias})->placement, "count");
  EXPECT_EQ(plan_policy({.rules = Rules::kMuri})->placement, "consolidated");
  EXPECT_EQ(plan_policy({.rules = Rules::kMuri})->config.elect_places, ElectPlaces::kAfresh);
}

TEST(RunPlan, OrdersThatLearnAreToldThePastAndSayFromWhat) {
  const auto past = std::make_shared<const PastServices>(
      PastServices{.services = {seconds(1), seconds(2)}, .source = "the 2 jobs of yesterday"});
  for (const std::string policy : {"gittins", "2d-gittins"}) {
    const auto plan = plan_policy({.policy = policy, .past = past});
    EXPECT_TRUE(learns(plan->config));
    EXPECT_EQ(plan->config.service.history, past->services);
    EXPECT_EQ(plan->past, "the 2 jobs of yesterday");
    EXPECT_EQ(plan_policy({.policy = policy})->past, "");
  }
  const auto plan = plan_policy({.policy = "srtf", .past = past});
  EXPECT_FALSE(learns(plan->config));
  EXPECT_TRUE(plan->config.service.history.empty());
  EXPECT_EQ(plan->past, "");
}

class PolicyFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  const TestFolder folder_;
};

TEST_F(PolicyFiles, APolicyMayBeAFileWhichIsCalledByItsName) {
  const std::string file = write("mine.yaml", "order: 2d-las\nservice: {limits: [1h, 10h]}\nscore: fgd\n");
  const auto plan = plan_policy({.policy = file, .seed = 7});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->name, "mine.yaml");
  EXPECT_EQ(plan->config.order, "2d-las");
  EXPECT_EQ(plan->config.mode, CycleMode::kElect);
  EXPECT_EQ(plan->config.service.limits.back(), hours(10));
  EXPECT_EQ(plan->config.random_seed, 7U);
  EXPECT_EQ(plan->placement, "fgd");
  EXPECT_EQ(plan->layout, Layout::kNodes);
  EXPECT_TRUE(is_policy_file("mine.yml") && is_policy_file("./mine"));
  EXPECT_FALSE(is_policy_file("mine") || is_policy_file("srtf"));
  EXPECT_THAT(plan_policy({.policy = "none.yaml"}).error().message, HasSubstr("none.yaml: there is no such file"));
}

TEST_F(PolicyFiles, ThePastThatAFileTellsCountsBeforeAnother) {
  const std::string file = write("told.yaml", "order: gittins\nservice: {history: [8s, 9s, 10s]}\n");
  const auto past = std::make_shared<const PastServices>(PastServices{.services = {seconds(1)}, .source = "another"});
  const auto plan = plan_policy({.policy = file, .past = past});
  EXPECT_EQ(plan->config.service.history.size(), 3U);
  EXPECT_EQ(plan->past, "3 jobs of told.yaml");
}

TEST_F(PolicyFiles, ANamedPlacementCountsBeforeTheFilesAndThatBeforeTheRules) {
  const std::string scored = write("scored.yaml", "score: {fgd: 2, pack: 1}\n");
  const std::string spread = write("spread.yaml", "nodes: spread\ndevices: spread\n");
  const std::string plain = write("plain.yaml", "order: srtf\n");
  EXPECT_EQ(plan_policy({.policy = scored, .rules = Rules::kTiresias})->placement, "fgd x 2 + pack x 1");
  EXPECT_EQ(plan_policy({.policy = spread})->placement, "spread");
  EXPECT_EQ(plan_policy({.policy = spread})->config.nodes, PackOrSpread::kSpread);
  EXPECT_EQ(plan_policy({.policy = plain, .rules = Rules::kTiresias})->layout, Layout::kSingleGpus);
  const auto named = plan_policy({.policy = spread, .placement = "bestfit"});
  EXPECT_EQ(named->placement, "bestfit");
  EXPECT_EQ(named->config.node_scores, (std::vector<WeightedScore>{{"bestfit", 1}}));
  EXPECT_EQ(named->config.nodes, PackOrSpread::kPack);
  EXPECT_EQ(named->config.devices, PackOrSpread::kSpread) << "a placement says nothing of devices";
}

TEST_F(PolicyFiles, TheRulesQuirksGiveWayToWhatTheFileSays) {
  const std::string plain = write("plain.yaml", "order: las\n");
  const std::string exact = write("exact.yaml", "order: las\nservice: {looks: exact}\nplaces: kept\n");
  EXPECT_EQ(plan_policy({.policy = plain, .rules = Rules::kMuri})->config.service.looks, LevelLooks::kCeilAtStart);
  EXPECT_EQ(plan_policy({.policy = plain, .rules = Rules::kMuri})->config.elect_places, ElectPlaces::kAfresh);
  EXPECT_EQ(plan_policy({.policy = plain, .rules = Rules::kTiresias})->config.service.looks, LevelLooks::kFloorOfEach);
  const auto told = plan_policy({.policy = exact, .rules = Rules::kMuri});
  EXPECT_EQ(told->config.service.looks, LevelLooks::kExact);
  EXPECT_EQ(told->config.elect_places, ElectPlaces::kKept);
}

TEST(ClusterSpec, AGridOfEqualNodesIsWrittenWithACross) {
  const auto cluster = read_cluster("12x8");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->nodes.size(), 12U);
  EXPECT_EQ(cluster->nodes[3].name, "n03");
  EXPECT_EQ(cluster->gpu_count(), 96);
  EXPECT_EQ(cluster->gpus_per_node_max(), 8);
}

TEST(ClusterSpec, TheLargestGridIsNotTooLargeForTheCore) {
  const auto cluster = read_cluster("1000000x1");
  ASSERT_TRUE(cluster);
  int64_t memory = 0;
  for (const NodeSpec& node : cluster->nodes) ASSERT_FALSE(__builtin_add_overflow(memory, node.memory_bytes, &memory));
  EXPECT_LE(memory, int64_t{1} << 58);
  EXPECT_GE(cluster->nodes.front().memory_bytes, 256 * kGiB);
}

TEST(ClusterSpec, WrongGridsAndFilesThatAreNotThereAreRefused) {
  for (const char* const written : {"0x8", "-1x8", "1x65", "2000000x8"})
    EXPECT_THAT(read_cluster(written).error().message, HasSubstr("1 to 1000000 nodes of 0 to 64 GPUs")) << written;
  for (const char* const written : {"x8", "8x", "8x8x8", "eight", ""}) EXPECT_FALSE(read_cluster(written)) << written;
}

TEST(ClusterSpec, AListOfNodesNamesModels) {
  const TestFolder folder;
  const std::string file = folder.path() + "/nodes.csv";
  std::ofstream(file) << "sn,cpu_milli,memory_mib,gpu,model\nb,64000,1024,2,T4\na,1000,1,0,\n";
  const auto cluster = read_cluster(file);
  ASSERT_TRUE(cluster) << cluster.error().message;
  ASSERT_EQ(cluster->nodes.size(), 2U);
  EXPECT_EQ(cluster->models, std::vector<std::string>{"T4"});
  EXPECT_EQ(cluster->gpu_count(), 2);
}

TEST(JobMapping, ANumberOfGpusBecomesSingleOnesOrAsFewNodesAsCanHoldThem) {
  const ClusterSpec cluster = *read_cluster("4x8");
  const TraceJob wide{.id = "w", .tasks = 1, .gpus_per_task = 20, .is_gpu_count = 1};
  JobSpec spec;
  JobMapping(Layout::kSingleGpus, cluster).describe(wide, spec);
  ASSERT_EQ(spec.roles.size(), 1U);
  EXPECT_EQ(spec.roles[0].count, 20);
  EXPECT_EQ(spec.roles[0].devices.count, 1);
  JobMapping(Layout::kNodes, cluster).describe(wide, spec);
  ASSERT_EQ(spec.roles.size(), 2U);
  EXPECT_EQ(spec.roles[0].count, 2);
  EXPECT_EQ(spec.roles[0].devices.count, 8);
  EXPECT_EQ(spec.roles[1].count, 1);
  EXPECT_EQ(spec.roles[1].devices.count, 4);
  JobMapping(Layout::kNodes, cluster).describe({.id = "n", .gpus_per_task = 3, .is_gpu_count = 1}, spec);
  ASSERT_EQ(spec.roles.size(), 1U);
  EXPECT_EQ(spec.roles[0].devices.count, 3);
}

}  // namespace
}  // namespace weft::sim
