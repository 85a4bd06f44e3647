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
