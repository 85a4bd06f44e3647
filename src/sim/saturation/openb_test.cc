#include "sim/saturation/openb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kNodeHeader = "sn,cpu_milli,memory_mib,gpu,model\n";
constexpr std::string_view kPodHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
constexpr std::string_view kLongPodHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

std::string node_error(std::string_view rows) {
  const auto nodes = read_openb_nodes(std::string(kNodeHeader) + std::string(rows), "nodes.csv");
  return nodes ? "no error" : nodes.error().message;
}

std::string pod_error(std::string_view rows, std::string_view header = kPodHeader) {
  const auto pods = read_openb_pods(std::string(header) + std::string(rows), "pods.csv");
  return pods ? "no error" : pods.error().message;
}

TEST(OpenbNodes, AreReadAndSortedByName) {
  const auto nodes =
      read_openb_nodes(std::string(kNodeHeader) + "b,64000,262144,2,P100\r\na,96000,524288,0,\n", "nodes.csv");
  ASSERT_TRUE(nodes) << nodes.error().message;
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ((*nodes)[0], (OpenbNode{.name = "a", .cpu_milli = 96000, .memory_mib = 524288}));
  EXPECT_EQ((*nodes)[1],
            (OpenbNode{.name = "b", .cpu_milli = 64000, .memory_mib = 262144, .gpus = 2, .model = "P100"}));
}

TEST(OpenbNodes, AMalformedRowIsNamedByFileLineAndColumn) {
  EXPECT_THAT(node_error("a,64000,1024,8,T4\nb,NaN,1024,8,T4\n"),
              HasSubstr("nodes.csv:3:3: cpu_milli: expected a whole number, found 'NaN'"));
  EXPECT_THAT(node_error("a,64000,-5,8,T4\n"), HasSubstr("nodes.csv:2:9: memory_mib: expected a number from 0"));
  EXPECT_THAT(node_error("a,64000,5,65,T4\n"), HasSubstr("nodes.csv:2:11: gpu: expected a number from 0 to 64"));
  EXPECT_THAT(node_error("a,64000,5,8,\n"), HasSubstr("nodes.csv:2:13: model: expected a name"));
  EXPECT_THAT(node_error("a,64000,5,0,T4\n"), HasSubstr("model: expected nothing"));
  EXPECT_THAT(node_error("a,1,1,1,T4\nb,1,1,1,T4\na,1,1,1,T4\n"),
              HasSubstr("nodes.csv:4:1: sn: 'a' stands on line 2 already"));
  EXPECT_THAT(node_error(",1,1,1,T4\n"), HasSubstr("nodes.csv:2:1: sn: expected a name"));
  EXPECT_THAT(node_error("a,1,1,1\n"), HasSubstr("nodes.csv:2:1: 4 fields; expected 5"));
  EXPECT_THAT(node_error(""), HasSubstr("no rows after the names of the columns"));
}

TEST(OpenbPods, OptionalColumnsMayBeAbsent) {
  const auto pods =
      read_openb_pods(std::string(kPodHeader) + "p,12000,16384,1,460\nq,1,1,0,0\nr,1,1,8,1000\n", "pods.csv");
  ASSERT_TRUE(pods) << pods.error().message;
  EXPECT_EQ((*pods)[0], (OpenbPod{.name = "p", .cpu_milli = 12000, .memory_mib = 16384, .gpus = 1, .gpu_milli = 460}));
  EXPECT_EQ((*pods)[0].request_milli(), 460);
  EXPECT_EQ((*pods)[1].request_milli(), 0);
  EXPECT_EQ((*pods)[2].request_milli(), 8000);
}

TEST(OpenbPods, AListOfModelsIsSplitAtBars) {
  const auto pods = read_openb_pods(
      std::string(kLongPodHeader) + "p,1,1,1,1000,V100M32|P100|P100,LS,Running,0,12,0\nq,1,1,1,500,,BE,Pending,0,12,\n",
      "pods.csv");
  ASSERT_TRUE(pods) << pods.error().message;
  EXPECT_EQ((*pods)[0].models, (std::vector<std::string>{"P100", "V100M32"}));
  EXPECT_TRUE((*pods)[1].models.empty());
}

TEST(OpenbPods, NothingBetweenBarsIsPassedOver) {
  const auto pods =
      read_openb_pods(std::string(kLongPodHeader) + "p,1,1,1,1000,|A||B|,,,,,\nq,1,1,1,500,|,,,,,\n", "pods.csv");
  ASSERT_TRUE(pods) << pods.error().message;
  EXPECT_EQ((*pods)[0].models, (std::vector<std::string>{"A", "B"}));
  EXPECT_TRUE((*pods)[1].models.empty());
}

TEST(OpenbPods, GpuThousandthsMustMatchTheNumberOfGpus) {
  EXPECT_THAT(pod_error("p,1,1,2,500\n"),
              HasSubstr("pods.csv:2:9: gpu_milli: expected 1,000 where num_gpu is over 1, found 500"));
  EXPECT_THAT(pod_error("p,1,1,1,1001\n"), HasSubstr("pods.csv:2:9: gpu_milli: expected a number from 0 to 1,000"));
  EXPECT_THAT(pod_error("p,1,1,0,100\n"), HasSubstr("gpu_milli: expected 0 where num_gpu is 0, found 100"));
  EXPECT_THAT(pod_error("p,1,1,1,0\n"), HasSubstr("gpu_milli: expected 1 to 1,000"));
  EXPECT_THAT(pod_error("p,1,1,-1,0\n"), HasSubstr("pods.csv:2:7: num_gpu: expected a number from 0"));
}

TEST(OpenbPods, OtherColumnsAreCheckedToo) {
  EXPECT_THAT(pod_error("p,1,1,1,1000,,LS,Running,0,nan,0\n", kLongPodHeader),
              HasSubstr("deletion_time: expected a whole number"));
  EXPECT_THAT(pod_error("p,1,1,1,1000\n", "name,cpu_milli,memory_mib,num_gpus,gpu_milli\n"),
              HasSubstr("pods.csv:1:27: unknown column 'num_gpus'; did you mean 'num_gpu'?"));
  EXPECT_THAT(pod_error("p,1,1,1,1000\np,1,1,1,1000\n"), HasSubstr("pods.csv:3:1: name: 'p' stands on line 2 already"));
}

TEST(OpenbPods, TheFirstWrongNumberOfARowIsReported) {
  EXPECT_THAT(pod_error("p,x,y,z,w\n"), HasSubstr("pods.csv:2:3: cpu_milli"));
}

}  // namespace
}  // namespace weft::sim
