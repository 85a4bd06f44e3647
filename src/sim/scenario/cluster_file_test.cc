#include "sim/scenario/cluster_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::scenario {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kCluster = R"(
models: [{name: V100M32, memory: 32Gi}, {name: old}]
cluster:
  levels: [rack]
  nodes:
    - {name: a, count: 2, gpus: 8, gpu: V100M32, labels: {rack: r1}, share: timeslice}
    - {name: b, gpus: 4, gpu: A100-SXM4-80GB}
queues:
  - {name: org, limit: {gpu: 16}}
  - {name: red, parent: org, guarantee: {gpu: 8}, weight: 2, priority: 1}
)";

TEST(ClusterFile, HasTheNodesAndQueuesOfAScenarioAndModelsBesides) {
  const auto cluster = read_cluster_text(kCluster, "c.yaml");
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->topology.levels, std::vector<std::string>{"rack"});
  ASSERT_EQ(cluster->nodes.size(), 3U);
  EXPECT_EQ(cluster->nodes[1].name, "a1");
  EXPECT_EQ(cluster->nodes[1].devices.size(), 8U);
  EXPECT_EQ(cluster->nodes[1].devices[7].model, "V100M32");
  EXPECT_EQ(cluster->nodes[1].share, ShareMode::kTimeSlice);
  EXPECT_EQ(cluster->nodes[2].name, "b");
  ASSERT_EQ(cluster->models.size(), 2U);
  EXPECT_EQ(cluster->models[0].memory_bytes, 32 * kGiB);
  EXPECT_EQ(cluster->models[1].memory_bytes, 80 * kGiB);
  ASSERT_EQ(cluster->queues.size(), 2U);
  EXPECT_EQ(cluster->queues[1].parent, "org");
  EXPECT_EQ(cluster->queues[1].weight_milli, 2000);
}

TEST(ClusterFile, WithoutQueuesNoneAreMadeUp) {
  EXPECT_TRUE(read_cluster_text("cluster: {nodes: [{name: n}]}", "c.yaml")->queues.empty());
}

TEST(ClusterFile, WhatIsWrongIsOneLineWithItsPlace) {
  const auto problem = [](std::string_view text) { return read_cluster_text(text, "c.yaml").error().message; };
  EXPECT_EQ(problem("queues: [{name: q}]"), "c.yaml:1:1: a cluster file needs the key 'cluster'");
  EXPECT_EQ(problem("cluster: {nodes: []}"), "c.yaml:1:10: the cluster has no nodes");
  EXPECT_THAT(problem("cluster: {nodes: [{name: n, gpus: 1, gpu: A300}]}"),
              HasSubstr("c.yaml:1:43: no GPU model 'A300' is in the catalogue"));
  EXPECT_EQ(problem("cluster: {nodes: [{name: n}]}\njobs: []"),
            "c.yaml:2:1: a cluster file has no key 'jobs'; it has models, cluster or queues");
  EXPECT_EQ(problem("models: [{name: generic}]\ncluster: {nodes: [{name: n}]}"),
            "c.yaml:1:10: there is a GPU model 'generic' already");
  EXPECT_EQ(problem("cluster: {nodes: [{name: n}]}\nqueues: [{name: a, parent: b}]"),
            "c.yaml:2:28: no queue 'b' is defined above this one; parents come first");
}

TEST(ClusterFile, IsKnownByItsFirstKey) {
  EXPECT_TRUE(is_cluster_text(kCluster));
  EXPECT_TRUE(is_cluster_text("\xef\xbb\xbf# a cluster\r\n\r\n  \n---\ncluster:\n"));
  EXPECT_TRUE(is_cluster_text("{cluster: {}}"));
  EXPECT_FALSE(is_cluster_text("sn,cpu_milli,memory_mib,gpu,model\n"));
  EXPECT_FALSE(is_cluster_text("# cluster:"));
  EXPECT_FALSE(is_cluster_text(""));
}

}  // namespace
}  // namespace weft::scenario
