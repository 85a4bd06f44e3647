#include "engine/local/launch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace weft::local {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

NodeSpec real_gpus() {
  NodeSpec node{.name = "box"};
  for (const char* uuid : {"GPU-a", "GPU-b", "GPU-c", "GPU-d"}) node.devices.push_back({.uuid = uuid});
  return node;
}

NodeSpec virtual_gpus() {
  NodeSpec node{.name = "box"};
  node.devices.resize(4);
  return node;
}

JobSpec job_of(int32_t tasks) {
  JobSpec spec{.name = "train"};
  spec.roles.push_back({.count = tasks, .cpu_milli = 2500});
  spec.launch.command = {"python", "train.py"};
  spec.launch.working_directory = "/data";
  return spec;
}

TaskPlacement whole(DeviceMask devices) {
  return {.kind = devices == 0 ? DeviceNeedKind::kNone : DeviceNeedKind::kWhole, .devices = devices};
}

std::vector<std::string> environment(const NodeSpec& node, const JobSpec& spec, std::vector<TaskPlacement> gang,
                                     size_t i = 0) {
  const auto launch =
      plan_launch({node, "/state/5", "/run/weft.sock"}, JobId{5}, spec, static_cast<int32_t>(i), gang, i);
  EXPECT_TRUE(launch);
  return launch ? launch->environment : std::vector<std::string>{};
}

TEST(LaunchPlan, RealDevicesGoByUuidAndVirtualOnesByIndex) {
  EXPECT_THAT(environment(real_gpus(), job_of(1), {whole(0b1010)}), Contains("CUDA_VISIBLE_DEVICES=GPU-b,GPU-d"));
  EXPECT_THAT(environment(real_gpus(), job_of(1), {whole(0b1010)}), Contains("NVIDIA_VISIBLE_DEVICES=GPU-b,GPU-d"));
  EXPECT_THAT(environment(virtual_gpus(), job_of(1), {whole(0b1010)}), Contains("CUDA_VISIBLE_DEVICES=1,3"));
  EXPECT_THAT(environment(virtual_gpus(), job_of(1), {whole(0b1010)}),
              Not(Contains(StartsWith("NVIDIA_VISIBLE_DEVICES"))));
}

TEST(LaunchPlan, AJobWithoutDevicesSeesNone) {
  EXPECT_THAT(environment(real_gpus(), job_of(1), {whole(0)}), Contains("CUDA_VISIBLE_DEVICES=-1"));
  EXPECT_THAT(environment(real_gpus(), job_of(1), {whole(0)}), Contains("NVIDIA_VISIBLE_DEVICES=none"));
}

TEST(LaunchPlan, TheSubmittersOwnValuesStayWhereTheyAreAllowedTo) {
  JobSpec spec = job_of(1);
  spec.launch.environment = {{"PATH", "/opt/bin"},
                             {"OMP_NUM_THREADS", "9"},
                             {"PYTHONUNBUFFERED", ""},
                             {"CUDA_VISIBLE_DEVICES", "0,1,2,3"},
                             {"RANK", "3"}};
  const auto variables = environment(virtual_gpus(), spec, {whole(0b1)});
  EXPECT_THAT(variables, Contains("PATH=/opt/bin"));
  EXPECT_THAT(variables, Contains("OMP_NUM_THREADS=9"));
  EXPECT_THAT(variables, Contains("PYTHONUNBUFFERED="));
  EXPECT_THAT(variables, Contains("CUDA_VISIBLE_DEVICES=0"));
  EXPECT_THAT(variables, Not(Contains(StartsWith("RANK="))));
}

TEST(LaunchPlan, CpusSetTheThreadsOfOneTask) {
  EXPECT_THAT(environment(virtual_gpus(), job_of(1), {whole(0)}), Contains("OMP_NUM_THREADS=2"));
  JobSpec tiny = job_of(1);
  tiny.roles[0].cpu_milli = 125;
  EXPECT_THAT(environment(virtual_gpus(), tiny, {whole(0)}), Contains("OMP_NUM_THREADS=1"));
}

TEST(LaunchPlan, PeersOfAGangSeeAllDevicesInTheOrderOfTheirRanks) {
  const std::vector<TaskPlacement> gang{whole(0b1000), whole(0b0001)};
  const auto second = environment(virtual_gpus(), job_of(2), gang, 1);
  EXPECT_THAT(second, Contains("CUDA_VISIBLE_DEVICES=3,0"));
  EXPECT_THAT(second, Contains("WEFT_TASK_GPUS=0"));
  EXPECT_THAT(second, Contains("RANK=1"));
  EXPECT_THAT(second, Contains("LOCAL_RANK=1"));
  EXPECT_THAT(second, Contains("WORLD_SIZE=2"));
}

TEST(LaunchPlan, WithTheViewOfTheTaskEachSeesItsOwn) {
  JobSpec spec = job_of(2);
  spec.launch.device_view = DeviceView::kTask;
  EXPECT_THAT(environment(virtual_gpus(), spec, {whole(0b1000), whole(0b0001)}, 1), Contains("CUDA_VISIBLE_DEVICES=0"));
}

TEST(LaunchPlan, ADeviceThatTasksShareIsNamedOnce) {
  TaskPlacement half{.kind = DeviceNeedKind::kMilli, .devices = 0b10, .milli = 500};
  EXPECT_THAT(environment(virtual_gpus(), job_of(2), {half, half}, 1), Contains("CUDA_VISIBLE_DEVICES=1"));
}

TEST(LaunchPlan, OutputPatternsAreExpandedBelowTheWorkingDirectory) {
  const NodeSpec node = virtual_gpus();
  const LaunchContext context{node, "/state/5", ""};
  JobSpec spec = job_of(1);
  spec.name = "a/b";
  EXPECT_EQ(*task_files(context, JobId{5}, spec, 2), (TaskFiles{.output = "/state/5/out", .error = "/state/5/err"}));
  spec.launch.output_path = "log/%x-%j-%t-100%%";
  EXPECT_EQ(task_files(context, JobId{5}, spec, 2)->output, "/data/log/a_b-5-2-100%");
  EXPECT_EQ(task_files(context, JobId{5}, spec, 2)->error, "/data/log/a_b-5-2-100%");
  spec.launch.error_path = "/tmp/%j.err";
  EXPECT_EQ(task_files(context, JobId{5}, spec, 2)->error, "/tmp/5.err");
}

TEST(LaunchPlan, AnUnknownPatternIsAnError) {
  for (const char* pattern : {"x%q", "%", "%5j"}) {
    const auto path = expand_output_pattern(pattern, JobId{1}, "n", 0);
    ASSERT_FALSE(path) << pattern;
    EXPECT_THAT(path.error().message, HasSubstr("use %j (job), %x (name), %t (task) or %%"));
  }
}

TEST(LaunchPlan, AScriptWithoutAFirstLineOfItsOwnGoesToTheShell) {
  const NodeSpec node = virtual_gpus();
  JobSpec spec = job_of(1);
  spec.launch.command = {"go.sh", "x"};
  spec.launch.script = "echo hi\n";
  const std::vector<TaskPlacement> gang{whole(0)};
  EXPECT_THAT(plan_launch({node, "/state/5", ""}, JobId{5}, spec, 0, gang, 0)->arguments,
              ElementsAre("/bin/sh", "/state/5/script", "x"));
  spec.launch.script = "#!/usr/bin/python3\n";
  EXPECT_THAT(plan_launch({node, "/state/5", ""}, JobId{5}, spec, 0, gang, 0)->arguments,
              ElementsAre("/state/5/script", "x"));
}

TEST(LaunchPlan, ATaskWithoutDevicesSeesNotThoseOfItsPeers) {
  const auto variables = environment(virtual_gpus(), job_of(2), {whole(0b1000), whole(0)}, 1);
  EXPECT_THAT(variables, Contains("CUDA_VISIBLE_DEVICES=-1"));
  EXPECT_THAT(variables, Contains("WEFT_TASK_GPUS="));
}

}  // namespace
}  // namespace weft::local
