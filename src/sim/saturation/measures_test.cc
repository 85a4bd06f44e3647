#include "sim/saturation/protocol.h"
#include "sim/saturation/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace weft::sim {
namespace {

// What lies exactly on a bound, or on one percent only.

std::vector<OpenbNode> nodes_of(size_t count) {
  const OpenbNode node{.name = "n", .cpu_milli = 64'000, .memory_mib = 1024, .gpus = 1, .model = "T4"};
  std::vector<OpenbNode> nodes(count, node);
  for (size_t n = 0; n < count; ++n) nodes[n].name += std::to_string(n);
  return nodes;
}

std::vector<OpenbPod> pods_of(size_t count) {
  const OpenbPod pod{.name = "p", .cpu_milli = 1000, .memory_mib = 1, .gpus = 1, .gpu_milli = 1000};
  std::vector<OpenbPod> pods(count, pod);
  for (size_t p = 0; p < count; ++p) pods[p].name += std::to_string(p);
  return pods;
}

TEST(Arrivals, AListThatFillsTheClusterExactlyComesWholeAndOnce) {
  const auto arrivals = make_arrivals(nodes_of(10), pods_of(10), 42, 1.0);
  ASSERT_TRUE(arrivals);
  EXPECT_EQ(arrivals->pods.size(), 10U);
}

SaturationRun run_with(uint32_t samples) {
  SaturationRun run{.seed = 42, .arrived = 1000};
  run.columns.fill({.allocation = 90, .fragment_ratio = 9, .fragment_amount = 4, .samples = samples});
  run.seconds = 0.5;
  return run;
}

TEST(SaturationSummary, CountsTheSamplesOfTheSeedThatHasTheFewest) {
  EXPECT_EQ(summarise({run_with(1), run_with(3)}).mean[100].samples, 1U);
  EXPECT_EQ(summarise({run_with(3), run_with(1)}).mean[100].samples, 1U);
}

TEST(Campaign, CellsStandByWorkloadThenByPolicy) {
  const CampaignPlan plan{.nodes = nodes_of(2),
                          .workloads = {{.name = "one", .pods = pods_of(2)}},
                          .policies = {"bestfit", "fgd", "spread"},
                          .seeds = {42, 43}};
  const auto result = run_campaign(plan, [](size_t, size_t) {});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->cells.size(), 3U);
  for (size_t cell = 0; cell < 3; ++cell) {
    EXPECT_EQ(result->cells[cell].workload, 0U);
    EXPECT_EQ(result->cells[cell].policy, cell);
    EXPECT_EQ(result->cells[cell].runs.size(), 2U);
  }
}

TEST(RecordedResults, ASeedWithoutAValueDoesNotCountAtThatPercent) {
  std::vector<RecordedRow> rows(2, {.workload = "w", .policy = "fgd", .seed = 42, .values = {}});
  rows[0].values.fill(10);
  rows[1].values.fill(20);
  rows[1].seed = 43;
  rows[1].values[50] = std::numeric_limits<double>::quiet_NaN();
  const auto mean = recorded_mean(rows, "w", "fgd", {42, 43});
  ASSERT_TRUE(mean);
  EXPECT_DOUBLE_EQ((*mean)[49], 15);
  EXPECT_DOUBLE_EQ((*mean)[50], 10);
}

/// One cell that is as recorded, but for what the test changes.
struct Judged {
  CampaignPlan plan{
      .nodes = nodes_of(1), .workloads = {{.name = "w", .pods = pods_of(1)}}, .policies = {"fgd"}, .seeds = {42}};
  CampaignResult result{.cells = {{.workload = 0, .policy = 0, .runs = {run_with(3)}, .summary = {}}}};
  RecordedResults recorded;

  Judged() {
    result.cells[0].summary = summarise(result.cells[0].runs);
    RecordedRow row{.workload = "w", .policy = "fgd", .seed = 42, .values = {}};
    const auto fill = [&](double value) {
      row.values.fill(value);
      return row;
    };
    recorded.allocation = {fill(90)};
    recorded.fragment_ratio = {fill(9)};
    recorded.fragment_amount = {fill(4)};
  }
  SaturationColumn& mean(size_t percent) { return result.cells[0].summary.mean[percent]; }
  bool is_within() const {
    return compare({.plan = plan, .result = result, .recorded = &recorded}, result.cells[0])->is_within();
  }
};

TEST(SaturationComparison, EveryPercentThatIsJudgedDecidesAlone) {
  EXPECT_TRUE(Judged().is_within());
  for (const size_t percent : {size_t{100}, size_t{130}}) {
    for (const double off : {-0.4, 0.4}) {
      Judged judged;
      judged.mean(percent).allocation += off;
      EXPECT_FALSE(judged.is_within()) << percent << " " << off;
    }
  }
  for (const size_t percent : {size_t{50}, size_t{70}, size_t{90}}) {
    for (const double off : {-1.1, 1.1}) {
      Judged judged;
      judged.mean(percent).fragment_ratio += off;
      EXPECT_FALSE(judged.is_within()) << percent << " " << off;
    }
  }
}

/// Two nodes with 8 GPUs each, and pods so large that most percents are stepped over.
CampaignResult fill_two_nodes(CampaignPlan& plan) {
  const OpenbNode node{.name = "a", .cpu_milli = 96'000, .memory_mib = 200'000, .gpus = 8, .model = "T4"};
  plan = {.nodes = {node, node},
          .workloads = {{.name = "w",
                         .pods = {{.name = "p", .cpu_milli = 4000, .memory_mib = 1000, .gpus = 1, .gpu_milli = 1000},
                                  {.name = "q", .cpu_milli = 4000, .memory_mib = 1000, .gpus = 1, .gpu_milli = 500},
                                  {.name = "r", .cpu_milli = 8000, .memory_mib = 1, .gpus = 4, .gpu_milli = 1000}}}},
          .policies = {"fgd", "random"},
          .seeds = {42, 43, 44, 45, 46, 47, 48, 49, 50, 51}};
  plan.nodes[1].name = "b";
  return run_campaign(plan, [](size_t, size_t) {}).value();
}

TEST(Saturation, ASmallClusterHasAValueAtEveryPercent) {
  CampaignPlan plan;
  const CampaignResult result = fill_two_nodes(plan);
  for (const CampaignCell& cell : result.cells) {
    double lowest_end = 100;
    for (const SaturationRun& run : cell.runs) {
      EXPECT_GT(run.columns.back().allocation, 50) << run.seed;
      EXPECT_DOUBLE_EQ(run.columns.front().allocation, 0) << run.seed;
      EXPECT_TRUE(std::ranges::is_sorted(run.columns, {}, &SaturationColumn::allocation))
          << run.seed << ": nothing ever leaves, so no line falls";
      lowest_end = std::min(lowest_end, run.columns.back().allocation);
    }
    EXPECT_DOUBLE_EQ(cell.summary.low.back().allocation, lowest_end);
    EXPECT_GE(cell.summary.mean.back().allocation, lowest_end);
  }
}

TEST(SaturationReport, OfASmallClusterHasNoHoles) {
  CampaignPlan plan;
  const CampaignResult result = fill_two_nodes(plan);
  const SaturationReport report{.plan = plan, .result = result};
  EXPECT_EQ(std::ranges::count(csv_report(report), '\n'), 1 + 2 * 10 * 131);
  EXPECT_THAT(json_report(report), ::testing::Not(::testing::HasSubstr("null")));
  const std::string html = html_report(report);
  EXPECT_THAT(html, ::testing::HasSubstr("\"points\":[[0,0.00],[1,0.00],[2,0.00]")) << "a line from the first percent";
  EXPECT_THAT(html, ::testing::Not(::testing::HasSubstr("<td>-</td>")));
}

}  // namespace
}  // namespace weft::sim
