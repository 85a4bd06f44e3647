#include "model/device_tables.h"

#include "base/units.h"

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

constexpr std::string_view kDeviceHead =
    "# a comment\n\n"
    "name\taliases\tvendor\tkind\tmemory_gib\tcompute_capability\tmultiprocessors\tmemory_bandwidth_gb_per_s\tbf16_"
    "tflops\tfp8_tflops\t"
    "link_gb_per_s\tpcie_generation\tpower_limit_watts\tmig\tconfidence\tsource\tnote\n";
constexpr std::string_view kMigHead =
    "family\tprofile\tcompute_slices\tof_compute_slices\tmemory_slices\tof_memory_slices\tstarts\tcount_max\n";
constexpr std::string_view kMigRow = "F\t1g.6gb\t1\t4\t1\t4\t0,1,2,3\t4\n";
constexpr std::string_view kRow =
    "X1\tAcme X 1|X-1\tAcme\tgpu\t24\t8.0\t56\t933\t165\t-\t200\t4\t165\tF\tchecked\tdata sheet\t-\n";

Result<std::vector<DeviceRecord>> parse(std::string_view rows, std::string_view mig_rows = kMigRow) {
  return parse_device_tables(std::string(kDeviceHead) + std::string(rows),
                             std::string(kMigHead) + std::string(mig_rows));
}

/// The message about kRow with its cell `from` written as `to`.
std::string message(std::string_view from, std::string_view to, std::string_view mig_rows = kMigRow) {
  std::string row(kRow);
  row.replace(row.find(from), from.size(), to);
  const auto result = parse(row, mig_rows);
  return result ? "" : result.error().message;
}

TEST(DeviceTables, ReadARecordWithItsAliasesAndItsMigFamily) {
  const auto records = parse(kRow);
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(records->size(), 1U);
  const DeviceRecord& record = records->front();
  EXPECT_EQ(record.aliases, (std::vector<std::string>{"Acme X 1", "Acme-X-1", "X-1"}));
  EXPECT_EQ(record.model.memory_bytes, 24 * kGiB);
  EXPECT_EQ(record.model.compute_capability, 80);
  EXPECT_EQ(record.model.fp8_tflops, 0);
  EXPECT_EQ(record.model.mig_memory_slices, 4);
  ASSERT_EQ(record.model.mig_profiles.size(), 1U);
  EXPECT_EQ(record.model.mig_profiles[0].start_mask, 0b1111);
}

TEST(DeviceTables, SayWhereAndWhatIsWrong) {
  EXPECT_EQ(message("24", "2x4"), "devices.tsv:4: memory_gib: '2x4' is not a whole number; write one from 0 to 65,535");
  EXPECT_EQ(message("\t24", "\t-"), "devices.tsv:4: name: 'X1' device model 'X1' needs a memory of 1 byte to 256Ti");
  EXPECT_EQ(message("gpu", "cpu"), "devices.tsv:4: kind: 'cpu' is none of gpu, tpu, npu");
  EXPECT_EQ(message("8.0", "8"), "devices.tsv:4: compute_capability: '8' is not of the form 8.0");
  EXPECT_EQ(message("933", "nan"),
            "devices.tsv:4: memory_bandwidth_gb_per_s: 'nan' is not a number; write for example 3, 0.25 or 1e6");
  EXPECT_EQ(message("\tF\t", "\tG\t"), "devices.tsv:4: mig: 'G' is no family of mig_profiles.tsv");
  EXPECT_EQ(message("checked", "sure"), "devices.tsv:4: confidence: 'sure' is none of checked, recalled, low");
  EXPECT_EQ(message("data sheet", "-"), "devices.tsv:4: source: '-' is missing");
  EXPECT_EQ(message("\t165\tF", "\tF"), "devices.tsv:4: has 16 columns, not 17");
  EXPECT_EQ(message("X-1", "X1x|X1x"), "");  // said twice is not wrong
  EXPECT_EQ(message("X1", "X1", "F\t1g\t1\t4\t1\t4\t0,16\t4\n"),
            "mig_profiles.tsv:2: starts: '0,16' has a start beyond 15");
  EXPECT_EQ(message("X1", "X1", "F\t1g\t1\t4\t1\t4\t0,\t4\n"),
            "mig_profiles.tsv:2: starts: '' is not a whole number; write one from 0 to 255");
}

TEST(DeviceTables, RefuseANameThatIsTaken) {
  const auto twice = parse(std::string(kRow) + std::string(kRow));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "devices.tsv:5: name: 'X1' stands there twice");
  const auto alias = parse(std::string(kRow) + "X2\tX-1\tAcme\tgpu\t24\t-\t-\t-\t-\t-\t-\t-\t-\t-\tlow\tpress\t-\n");
  ASSERT_FALSE(alias);
  EXPECT_EQ(alias.error().message, "devices.tsv:5: aliases: 'X-1' holds 'X-1', which is taken");
}

TEST(DeviceTables, RefuseATableWithOtherColumns) {
  const auto result = parse_device_tables("name\tprice\n", kMigHead);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().message.starts_with("devices.tsv:1: the columns are name aliases vendor"))
      << result.error().message;
}

}  // namespace
}  // namespace weft
