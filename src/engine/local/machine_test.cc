#include "engine/local/machine.h"

#include "base/test_folder.h"
#include "base/units.h"
#include "engine/local/cgroup_limits.h"
#include "engine/local/cpu_zones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A folder of small files like those under /sys/fs/cgroup.
class CgroupLimitsTest : public testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(mount_ + path).parent_path());
    std::ofstream(mount_ + path) << text << '\n';
  }

  const TestFolder made_;
  const std::string mount_ = made_.path();
};

TEST_F(CgroupLimitsTest, WithoutAnyGroupNothingIsLimited) {
  const CgroupLimits limits = read_cgroup_limits("0::/\n", mount_);
  EXPECT_EQ(limits.cpu_milli, kUnlimited);
  EXPECT_EQ(limits.memory_bytes, kUnlimited);
}

TEST_F(CgroupLimitsTest, TheTightestGroupAboveCountsInVersionTwo) {
  file("/a/b/cpu.max", "400000 100000");
  file("/a/cpu.max", "250000 100000");
  file("/cpu.max", "max 100000");
  file("/a/b/memory.max", "max");
  file("/a/memory.max", "1073741824");
  const CgroupLimits limits = read_cgroup_limits("0::/a/b\n", mount_);
  EXPECT_EQ(limits.cpu_milli, 2500);
  EXPECT_EQ(limits.memory_bytes, kGiB);
}

TEST_F(CgroupLimitsTest, VersionOneHasAFolderForEachController) {
  file("/cpu/job/cpu.cfs_quota_us", "150000");
  file("/cpu/job/cpu.cfs_period_us", "100000");
  file("/cpu/cpu.cfs_quota_us", "-1");
  file("/cpu/cpu.cfs_period_us", "100000");
  file("/memory/memory.limit_in_bytes", "9223372036854771712");
  file("/memory/job/memory.limit_in_bytes", "536870912");
  const CgroupLimits limits = read_cgroup_limits("9:name=systemd:/\n4:memory:/job\n2:cpu,cpuacct:/job\n0::/\n", mount_);
  EXPECT_EQ(limits.cpu_milli, 1500);
  EXPECT_EQ(limits.memory_bytes, 512 * kMiB);
}

TEST_F(CgroupLimitsTest, RubbishLimitsNothing) {
  file("/cpu.max", "many few");
  file("/memory.max", "");
  const CgroupLimits limits = read_cgroup_limits("rubbish\n0:\n0::/no/such/group", mount_);
  EXPECT_EQ(limits.cpu_milli, kUnlimited);
  EXPECT_EQ(limits.memory_bytes, kUnlimited);
}

TEST(CpuZones, HaveTheCpusThatThisProcessMayUse) {
  const auto zones = read_cpu_zones();
  ASSERT_TRUE(zones) << zones.error().message;
  int64_t cpus = 0;
  for (const CpuZone& zone : *zones) cpus += zone.cpus;
  cpu_set_t usable;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(usable), &usable), 0);
  EXPECT_EQ(cpus, CPU_COUNT(&usable));
}

TEST(Machine, HasCpusMemoryAndTheVirtualGpusThatWereAskedFor) {
  const auto machine = detect_machine(
      {.virtual_gpus = {.count = 8, .model = "H200", .beside_real_ones = VirtualGpus::BesideRealOnes::kAllow}});
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_GT(machine->node.cpu_milli, 0);
  EXPECT_GT(machine->node.memory_bytes, 0);
  EXPECT_FALSE(machine->node.name.empty());
  ASSERT_EQ(machine->node.devices.size(), 8U);
  EXPECT_EQ(machine->node.devices[7].model, "H200");
  EXPECT_TRUE(machine->node.devices[7].uuid.empty());
}

TEST(Machine, AnUnknownModelIsAnErrorWithTheNearestName) {
  const auto machine = detect_machine({.virtual_gpus = {.count = 1, .model = "genric"}});
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(machine.error().message, HasSubstr("did you mean 'generic'?"));
}

TEST(Machine, TheNumberOfVirtualGpusHasBounds) {
  EXPECT_FALSE(detect_machine({.virtual_gpus = {.count = 65}}));
  EXPECT_FALSE(detect_machine({.virtual_gpus = {.count = -1}}));
  EXPECT_FALSE(detect_machine({.virtual_gpus = {.model = "H200"}})) << "a model without a number";
}

TEST(Machine, NvidiaGpusKeepUuidMemoryAndLinks) {
  NvidiaReading reading;
  for (unsigned i = 0; i < 4; ++i) {
    reading.gpus.push_back({.nvml_index = i,
                            .name = i == 3 ? "NVIDIA Unheard-of 9000" : "NVIDIA H200",
                            .uuid = "GPU-" + std::to_string(i),
                            .bus_id = "ffff:00:00." + std::to_string(i),
                            .memory_bytes = 141 * kGiB});
  }
  reading.link_quality.assign(16, 20);
  reading.is_linked.assign(16, 0);
  reading.is_linked[0 * 4 + 2] = reading.is_linked[2 * 4 + 0] = 1;
  NodeSpec node;
  add_nvidia_gpus(reading, {}, node);
  ASSERT_EQ(node.devices.size(), 4U);
  EXPECT_EQ(node.devices[0].model, "H200-SXM") << "the catalogue's own name";
  EXPECT_EQ(node.devices[3].model, "generic");
  EXPECT_EQ(node.devices[3].memory_bytes, 141 * kGiB);
  EXPECT_EQ(node.devices[1].uuid, "GPU-1");
  EXPECT_THAT(node.islands, ElementsAre(0b0101U, 0b0010U, 0b1000U));
}

TEST(Nvml, ALibraryThatIsNotThereIsSaidInOneLine) {
  const NvidiaReading reading = read_nvidia_gpus({"/no/such/library.so"});
  EXPECT_TRUE(reading.gpus.empty());
  EXPECT_THAT(reading.notes, ElementsAre(HasSubstr("libnvidia-ml.so.1 is not on this machine")));
}

TEST(Nvml, ALibraryThatIsNoNvmlIsNotCalled) {
  const NvidiaReading reading = read_nvidia_gpus({"libm.so.6"});
  EXPECT_TRUE(reading.gpus.empty());
  EXPECT_THAT(reading.notes, ElementsAre(HasSubstr("is no NVML")));
}

}  // namespace
}  // namespace weft::local
