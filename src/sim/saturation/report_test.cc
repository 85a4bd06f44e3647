#include "sim/saturation/report.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

/// A run whose allocation is `allocation` at every percent from 0 to 130, fragments a tenth of it.
SaturationRun flat_run(int64_t seed, double allocation) {
  SaturationRun run{.seed = seed, .arrived = 1000, .placed = 900};
  run.columns.fill(
      {.allocation = allocation, .fragment_ratio = allocation / 10, .fragment_amount = allocation / 20, .samples = 3});
  run.seconds = 0.5;
  return run;
}

struct World {
  CampaignPlan plan{
      .nodes = {{.name = "n", .cpu_milli = 1, .memory_mib = 1, .gpus = 8, .model = "T4"}},
      .workloads = {{.name = "openb_pod_list_default", .pods = {{.name = "p", .gpus = 1, .gpu_milli = 1000}}}},
      .policies = {"fgd"},
      .seeds = {42, 43}};
  CampaignResult result{
      .cells = {{.workload = 0, .policy = 0, .runs = {flat_run(42, 90), flat_run(43, 94)}, .summary = {}}}};
  RecordedResults recorded;

  World() {
    result.cells[0].summary = summarise(result.cells[0].runs);
    for (const int64_t seed : {42, 43, 44}) {
      RecordedRow row{.workload = "openb_pod_list_default", .policy = "fgd", .seed = seed, .values = {}};
      row.values.fill(seed == 44 ? 50 : 92.25);
      recorded.allocation.push_back(row);
      row.values.fill(seed == 44 ? 5 : 9.0);
      recorded.fragment_ratio.push_back(row);
      recorded.fragment_amount.push_back(row);
    }
  }
  SaturationReport report() const { return {.plan = plan, .result = result, .recorded = &recorded}; }
};

TEST(SaturationSummary, IsMeanDeviationLowAndHighOverTheSeeds) {
  const World world;
  const SaturationSummary& summary = world.result.cells[0].summary;
  EXPECT_DOUBLE_EQ(summary.mean[100].allocation, 92);
  EXPECT_DOUBLE_EQ(summary.deviation[100].allocation, std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(summary.low[100].allocation, 90);
  EXPECT_DOUBLE_EQ(summary.high[100].allocation, 94);
  EXPECT_DOUBLE_EQ(summary.mean[100].fragment_ratio, 9.2);
  EXPECT_DOUBLE_EQ(summary.pods_per_second, 2000);
}

TEST(SaturationSummary, ASeedOnWhichNothingFellAtAPercentCountsWithWhatItHadBefore) {
  SaturationRun without = flat_run(1, 50);
  without.columns[7].samples = 0;
  const SaturationSummary summary = summarise({flat_run(2, 80), without});
  EXPECT_DOUBLE_EQ(summary.mean[7].allocation, 65);
  EXPECT_EQ(summary.mean[7].samples, 0U);
  EXPECT_DOUBLE_EQ(summary.deviation[7].allocation, std::sqrt(450.0));
  EXPECT_DOUBLE_EQ(summary.low[7].allocation, 50);
}

TEST(SaturationComparison, WhatWasNotRecordedIsNotWithinTolerance) {
  for (const size_t percent : {50U, 70U, 90U, 100U, 130U}) {
    World world;
    auto& rows = percent < 100 ? world.recorded.fragment_ratio : world.recorded.allocation;
    for (RecordedRow& row : rows) row.values[percent] = std::numeric_limits<double>::quiet_NaN();
    const auto comparison = compare(world.report(), world.result.cells[0]);
    ASSERT_TRUE(comparison);
    EXPECT_FALSE(comparison->is_within()) << percent;
    EXPECT_THAT(text_report(world.report(), Detail::kSummary), HasSubstr("DIFFERS")) << percent;
    EXPECT_THAT(text_report(world.report(), Detail::kSummary), HasSubstr("cannot be told: a value is missing"));
    EXPECT_THAT(json_report(world.report()), HasSubstr("_off\":null"));
  }
}

TEST(SaturationComparison, IsAgainstTheRecordedMeanOfTheSameSeeds) {
  World world;
  const auto comparison = compare(world.report(), world.result.cells[0]);
  ASSERT_TRUE(comparison);
  EXPECT_DOUBLE_EQ(comparison->recorded[100].allocation, 92.25) << "seed 44 was not run";
  EXPECT_NEAR(comparison->allocation_off, 0.25, 1e-9);
  EXPECT_NEAR(comparison->fragment_ratio_off, 0.2, 1e-9);
  EXPECT_TRUE(comparison->is_within());
  world.plan.seeds = {42, 99};
  EXPECT_NEAR(compare(world.report(), world.result.cells[0])->recorded[100].allocation, (92.25 * 2 + 50) / 3, 1e-9)
      << "seed 99 was not recorded: all are";
}

TEST(SaturationComparison, MoreThanTheToleranceIsOutside) {
  World world;
  world.result.cells[0].runs[1] = flat_run(43, 95.2);
  world.result.cells[0].summary = summarise(world.result.cells[0].runs);
  const auto comparison = compare(world.report(), world.result.cells[0]);
  EXPECT_FALSE(comparison->is_within());
  EXPECT_THAT(text_report(world.report(), Detail::kSummary),
              HasSubstr("DIFFERS: allocation at 100 and 130 off by 0.35 (OUTSIDE 0.3)"));
}

TEST(SaturationComparison, OneSeedOfARandomPolicyProvesNothing) {
  World world;
  world.plan.policies = {"random"};
  for (auto* rows : {&world.recorded.allocation, &world.recorded.fragment_ratio, &world.recorded.fragment_amount})
    for (RecordedRow& row : *rows) row.policy = "random";
  world.plan.seeds = {44};  // recorded far off
  const std::string text = text_report(world.report(), Detail::kSummary);
  EXPECT_THAT(text, HasSubstr("unknown: allocation at 100 and 130 off by 42.00 (OUTSIDE 0.3)"));
  EXPECT_THAT(text, HasSubstr("run 10 or more"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("DIFFERS")));
  EXPECT_FALSE(compare(world.report(), world.result.cells[0])->is_within()) << "nor is it proven to be right";
  world.plan.seeds = {42, 43, 44, 45, 46, 47, 48, 49, 50, 51};
  EXPECT_THAT(text_report(world.report(), Detail::kSummary), HasSubstr("DIFFERS"));
}

TEST(SaturationReport, NoLineOfTheTextIsLongerThanATerminalIsWide) {
  World world;
  world.result.cells[0].runs[1] = flat_run(43, 95.2);
  world.result.cells[0].summary = summarise(world.result.cells[0].runs);
  const std::string text = text_report(world.report(), Detail::kSeeds);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(SaturationReport, WhatWasNotRecordedIsSaidToBeSo) {
  World world;
  world.plan.policies = {"pack"};
  EXPECT_FALSE(compare(world.report(), world.result.cells[0]));
  EXPECT_THAT(text_report(world.report(), Detail::kSummary),
              HasSubstr("nothing recorded for this workload and policy"));
}

TEST(SaturationReport, TheTableShowsMeansAndOnRequestEverySeed) {
  const World world;
  const std::string summary = text_report(world.report(), Detail::kSummary);
  EXPECT_THAT(summary, HasSubstr("openb_pod_list_default: 1 pod on 1 node with 8 GPUs, seeds 42-43"));
  EXPECT_THAT(summary, HasSubstr("fgd              92.00  92.00"));
  EXPECT_THAT(summary, HasSubstr("  difference     -0.25"));
  EXPECT_THAT(summary, HasSubstr("verdict      ok"));
  EXPECT_THAT(summary, ::testing::Not(HasSubstr("seed 42")));
  EXPECT_THAT(text_report(world.report(), Detail::kSeeds), HasSubstr("  seed 42        90.00"));
}

TEST(SaturationReport, CsvHasARowPerSeedAndPercent) {
  const World world;
  const std::string csv = csv_report(world.report());
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 2 * 131);
  EXPECT_THAT(csv, HasSubstr("openb_pod_list_default,fgd,43,130,94.0000,9.4000,4.7000,3\n"));
}

TEST(SaturationReport, JsonHasEverythingAndNullForWhatIsAbsent) {
  World world;
  for (RecordedRow& row : world.recorded.allocation) row.values[3] = std::numeric_limits<double>::quiet_NaN();
  const auto json = boost::json::parse(json_report(world.report()));
  const auto& cell = json.at("results").at(0);
  EXPECT_EQ(json.at("gpus").as_int64(), 8);
  EXPECT_EQ(cell.at("policy").as_string(), "fgd");
  EXPECT_DOUBLE_EQ(cell.at("mean").at("allocation_percent").at(100).as_double(), 92);
  EXPECT_TRUE(cell.at("recorded").at("allocation_percent").at(3).is_null());
  EXPECT_EQ(cell.at("seeds").at(1).at("pods_placed").to_number<int>(), 900);
  EXPECT_TRUE(cell.at("recorded").at("is_within").as_bool());
}

TEST(SaturationReport, HtmlHasChartsAndTheTable) {
  const World world;
  const std::string html = html_report(world.report());
  EXPECT_THAT(html, HasSubstr("GPUs allocated when 130 % have been asked for"));
  EXPECT_THAT(html, HasSubstr("<td>fgd recorded</td>"));
  EXPECT_THAT(html, HasSubstr("recorded mean"));
  EXPECT_THAT(html, HasSubstr("<title>Filling a cluster with pods for 130 % of its GPUs</title>"));
  EXPECT_THAT(html, HasSubstr("a pod without GPUs counts every free GPU as a fragment"));
}

class RecordedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "weft_recorded_test";
    std::filesystem::create_directories(folder_);
    for (const char* file : {"recorded_allocation.csv", "recorded_frag_ratio.csv", "recorded_frag_amount.csv"}) {
      write(file, "workload,sc_policy,tune,seed,0,130\nw,06-FGD,1.3,42,0.25,95.1\nw,03-GpuClustering,1.3,42,,91\n");
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const char* file, std::string_view text) { std::ofstream(folder_ / file) << text; }
  std::string error() const {
    const auto read = read_recorded(folder_.string());
    return read ? "" : read.error().message;
  }
  std::filesystem::path folder_;
};

TEST_F(RecordedTest, RowsAreReadByPolicyAndSeed) {
  const auto read = read_recorded(folder_.string());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->allocation.size(), 2U);
  EXPECT_EQ(read->allocation[0].policy, "fgd");
  EXPECT_EQ(read->allocation[1].policy, "clustering");
  EXPECT_DOUBLE_EQ(read->allocation[0].values[130], 95.1);
  EXPECT_TRUE(std::isnan(read->allocation[1].values[0])) << "an empty field";
  EXPECT_TRUE(std::isnan(read->allocation[0].values[7])) << "no such column";
  EXPECT_FALSE(recorded_mean(read->allocation, "other", "fgd", {42}));
}

TEST_F(RecordedTest, WhatIsMalformedIsNamedByFileLineAndColumn) {
  write("recorded_allocation.csv", "workload,sc_policy,tune,seed,0,130\nw,06-FGD,1.3,42,0.25,nan\n");
  EXPECT_THAT(error(), HasSubstr("recorded_allocation.csv:2:22: expected a number from 0 to 100, found 'nan'"));
  write("recorded_allocation.csv", "workload,sc_policy,tune,seed,0,131\n");
  EXPECT_THAT(error(), HasSubstr("recorded_allocation.csv:1:32: unknown column '131'"));
  write("recorded_allocation.csv", "workload,sc_policy,tune,0\n");
  EXPECT_THAT(error(), HasSubstr("recorded_allocation.csv:1:1: the column 'seed' is missing"));
  write("recorded_allocation.csv", "workload,sc_policy,seed,7,8,7\n");
  EXPECT_THAT(error(), HasSubstr("recorded_allocation.csv:1:29: the column '7' stands twice"));
  write("recorded_allocation.csv", "workload,sc_policy,seed,7\nw,06-FGD,42,1\nw,06-FGD,43,1\nw,FGD,42,9\n");
  EXPECT_THAT(error(), HasSubstr("recorded_allocation.csv:4:1: 'w', 'fgd', seed 42 stands on line 2 already"));
  write("recorded_allocation.csv", "workload,sc_policy,seed,7\n");
  EXPECT_THAT(error(), HasSubstr("recorded_allocation.csv: no rows after the names of the columns"));
  std::filesystem::remove(folder_ / "recorded_allocation.csv");
  EXPECT_THAT(error(), HasSubstr("there is no such file"));
}

TEST(RecordedPolicy, NamesAreOurs) {
  EXPECT_EQ(policy_of_recorded("01-Random"), "random");
  EXPECT_EQ(policy_of_recorded("02-DotProd"), "dotprod");
  EXPECT_EQ(policy_of_recorded("04-GpuPacking"), "packing");
  EXPECT_EQ(policy_of_recorded("05-BestFit"), "bestfit");
}

TEST(Campaign, ResultsDoNotDependOnTheNumberOfThreads) {
  CampaignPlan plan{.policies = {"fgd", "random"}, .seeds = {1, 2, 3}};
  for (int i = 0; i < 6; ++i)
    plan.nodes.push_back(
        {.name = "n" + std::to_string(i), .cpu_milli = 64000, .memory_mib = 65536, .gpus = 8, .model = "T4"});
  Workload workload{.name = "w", .pods = {}};
  for (int i = 0; i < 30; ++i)
    workload.pods.push_back({.name = "p" + std::to_string(100 + i),
                             .cpu_milli = 1000,
                             .memory_mib = 100,
                             .gpus = 1,
                             .gpu_milli = i % 3 == 0 ? 1000 : 350});
  plan.workloads.push_back(workload);
  size_t reports = 0;
  const auto alone = run_campaign(plan, [&](size_t done, size_t total) {
    EXPECT_EQ(done, ++reports);
    EXPECT_EQ(total, 6U);
  });
  EXPECT_EQ(reports, 6U);
  plan.threads = 4;
  const auto together = run_campaign(plan, [](size_t, size_t) {});
  ASSERT_TRUE(alone && together);
  ASSERT_EQ(alone->cells.size(), 2U);
  for (size_t cell = 0; cell < 2; ++cell) {
    for (size_t run = 0; run < 3; ++run) {
      EXPECT_EQ(alone->cells[cell].runs[run].seed, static_cast<int64_t>(run) + 1);
      EXPECT_EQ(alone->cells[cell].runs[run].decision_hash, together->cells[cell].runs[run].decision_hash);
    }
  }
}

TEST(Campaign, TheErrorOfARunIsTheErrorOfTheCampaign) {
  CampaignPlan plan{.nodes = {{.name = "n", .cpu_milli = 1, .memory_mib = 1, .gpus = 0, .model = ""}},
                    .workloads = {{.name = "w", .pods = {{.name = "p", .gpus = 1, .gpu_milli = 1000}}}},
                    .policies = {"fgd"},
                    .seeds = {1, 2}};
  const auto result = run_campaign(plan, [](size_t, size_t) {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("no node of the list has a GPU"));
}

}  // namespace
}  // namespace weft::sim
