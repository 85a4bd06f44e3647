#include "sim/report/chart.h"
#include "sim/report/run_charts.h"
#include "sim/report/run_tables.h"
#include "sim/report/run_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace weft::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

size_t count_of(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

std::vector<RunReport> two_reports() {
  RunOutcome slow = small_outcome();
  slow.policy = "fifo";
  slow.jobs[0].end = slow.jobs[0].end + seconds(145);
  return {make_run_report(small_outcome()), make_run_report(slow)};
}

TEST(RunHtml, OneRunHasItsChartsTablesAndHash) {
  const RunReport report = make_run_report(small_outcome());
  const std::string html = run_html({&report, 1});
  EXPECT_THAT(html, HasSubstr("<title>srsf on small.csv</title>"));
  for (const char* title : {"The cluster over time", "How long jobs took", "Jobs on nodes", "GPUs per job"})
    EXPECT_THAT(html, HasSubstr(title));
  EXPECT_THAT(html, HasSubstr("<td>00ab54a98ceb1f0a</td>"));
  EXPECT_THAT(html, HasSubstr("4 jobs of small.csv: 3 done, 1 rejected."));
  EXPECT_THAT(html, HasSubstr("83.3 % of the GPU time was in use, and 12.5 % was free in fragments"));
  EXPECT_EQ(count_of(html, "class=\"strip\""), 4U);
  EXPECT_THAT(html, Not(HasSubstr("In brackets")));
}

TEST(RunHtml, StandsAloneAndEscapesEveryName) {
  RunOutcome outcome = small_outcome();
  const std::string evil = "<script>alert(1)</script>\"'&\xff\u202e";
  outcome.policy = outcome.trace = outcome.cluster = outcome.rules = outcome.placement = evil;
  outcome.nodes = {evil, evil};
  for (JobOutcome& job : outcome.jobs) {
    job.queue = job.user + evil;
    job.user += evil;
  }
  const std::vector<RunReport> one{make_run_report(outcome)};
  RunOutcome other = outcome;
  other.policy += "2";
  const std::vector<RunReport> two{make_run_report(outcome), make_run_report(other)};
  for (const std::string& html : {run_html(one), run_html(two)}) {
    EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(html, Not(HasSubstr("\xff")));
    EXPECT_THAT(html, Not(HasSubstr("\u202e"))) << "which would turn the direction of what follows";
    for (const std::string_view fetched : {"http:", "https:", " src=", "@import", "url("})
      EXPECT_THAT(html, Not(HasSubstr(std::string(fetched))));
  }
}

TEST(RunHtml, SeveralRunsAreComparedByTrace) {
  std::vector<RunReport> reports = two_reports();
  RunOutcome other = small_outcome();
  other.trace = "other.csv";
  reports.push_back(make_run_report(other));
  const std::string html = run_html(reports);
  EXPECT_THAT(html, HasSubstr("<title>3 runs of 2 traces</title>"));
  EXPECT_THAT(html, HasSubstr("<h2>small.csv</h2>"));
  EXPECT_THAT(html, HasSubstr("<h2>other.csv</h2>"));
  EXPECT_THAT(html, HasSubstr("<td>2m25s (1.50x)</td>"));
  EXPECT_THAT(html, HasSubstr("<td>fifo on small.csv</td>")) << "in the table of what was run";
  EXPECT_EQ(count_of(html, "<summary>Jobs on nodes"), 3U);
}

TEST(RunHtml, NoRunsAndEmptyRunsArePagesToo) {
  EXPECT_THAT(run_html({}), HasSubstr("No runs"));
  const std::vector<RunReport> empty{make_run_report(RunOutcome{}), make_run_report(RunOutcome{})};
  EXPECT_THAT(run_html(empty), HasSubstr("0 jobs of  on 0 nodes"));
  EXPECT_THAT(run_html({empty.data(), 1}), HasSubstr("0 jobs of : 0 done."));
}

TEST(RunHtml, APageOfAMillionJobsIsSmall) {
  RunOutcome outcome = small_outcome();
  const JobOutcome job = outcome.jobs[2];
  const RunSample sample = outcome.samples[1];
  outcome.jobs.assign(100'000, job);
  outcome.samples.assign(5000, sample);
  outcome.spans.clear();
  for (uint32_t i = 0; i < outcome.jobs.size(); ++i) {
    const int64_t step = i;
    outcome.jobs[i].user = "user" + std::to_string(i % 1000);
    outcome.jobs[i].end = outcome.jobs[i].end + seconds(step * 7 % 99'991);
    outcome.spans.push_back(
        {.job = i, .node = i % 2, .gpus = 2, .from = Instant{} + seconds(step), .to = Instant{} + seconds(step + 3)});
  }
  for (size_t i = 0; i < outcome.samples.size(); ++i) {
    outcome.samples[i].at = Instant{} + seconds(static_cast<int64_t>(i) * 20);
    outcome.samples[i].used_gpu_milli = static_cast<int64_t>(i * 37 % 4001);
  }
  const RunReport report = make_run_report(outcome);
  EXPECT_LE(report.picture.steps.size(), 1000U);
  EXPECT_LE(report.picture.jct.size(), 400U);
  EXPECT_LT(run_html({&report, 1}).size(), 600'000U) << "its size does not depend on the number of jobs";
}

TEST(RunHtml, TwentyFourRunsStayBelowTwoMegabytes) {
  RunOutcome outcome = small_outcome();
  const JobOutcome job = outcome.jobs[2];
  outcome.jobs.assign(5000, job);
  outcome.samples.assign(5000, outcome.samples[1]);
  outcome.spans.clear();
  for (uint32_t i = 0; i < outcome.jobs.size(); ++i) {
    const int64_t step = i;
    outcome.jobs[i].end = outcome.jobs[i].end + seconds(step * 7 % 4999);
    outcome.samples[i].at = Instant{} + seconds(step);
    outcome.samples[i].used_gpu_milli = step * 37 % 4001;
    outcome.samples[i].pending = i * 31 % 97;
    outcome.spans.push_back(
        {.job = i, .node = i % 2, .gpus = 2, .from = Instant{} + seconds(step), .to = Instant{} + seconds(step + 3)});
  }
  std::vector<RunReport> reports;
  for (int i = 0; i < 24; ++i) {
    outcome.policy = "policy" + std::to_string(i % 8);
    outcome.trace = "trace" + std::to_string(i / 8);
    reports.push_back(make_run_report(outcome, picture_limits(24)));
  }
  EXPECT_LT(run_html(reports).size(), 2'000'000U);
}

TEST(RunCharts, WaitingOfLessThanASecondStandsAtTheEdgeOfItsAxis) {
  const RunReport report = make_run_report(small_outcome());
  const std::string html = cdf_charts({{"srsf", &report}});
  EXPECT_THAT(html, HasSubstr("\"log\":true,\"seconds\":true"));
  EXPECT_THAT(html, HasSubstr("{\"name\":\"of it waiting\",\"points\":[[1,33.33],[20,66.67],[90,100.00]"));
}

TEST(RunCharts, WhereThereIsNothingToDrawThereIsNoFigure) {
  const RunReport report = make_run_report(RunOutcome{});
  const NamedRuns runs{{"none", &report}};
  EXPECT_EQ(use_charts(runs), "");
  EXPECT_EQ(cdf_charts(runs), "");
  EXPECT_EQ(comparison_bars(runs), "");
  EXPECT_EQ(node_chart(report), "");
}

TEST(RunTables, TheBestOfAColumnIsMarkedUnlessAllAreEqual) {
  const std::vector<RunReport> reports = two_reports();
  const NamedRuns runs{{"srsf", &reports[0]}, {"fifo", &reports[1]}};
  const PageTable table = times_comparison(runs);
  ASSERT_THAT(table.header, ElementsAre("policy", "mean JCT", "median JCT", "p90 JCT", "p99 JCT", "mean waiting",
                                        "mean slowdown", "makespan"));
  EXPECT_THAT(table.best, ElementsAre(Pair(0U, 1U), Pair(0U, 2U), Pair(0U, 3U), Pair(0U, 4U), Pair(0U, 5U),
                                      Pair(0U, 6U), Pair(0U, 7U)));
  const NamedRuns same{{"a", &reports[0]}, {"b", &reports[0]}};
  EXPECT_THAT(times_comparison(same).best, ElementsAre());
  EXPECT_EQ(times_comparison(same).rows[1][1], "1m36s (1.00x)");
}

TEST(RunTables, MoreUseIsBetterAndLessFairIsWorse) {
  std::vector<RunReport> reports = two_reports();
  reports[1].metrics.utilization = 0.9;
  reports[1].metrics.fairness.jain_jobs = 0.1;
  const PageTable table = cluster_comparison({{"srsf", &reports[0]}, {"fifo", &reports[1]}});
  EXPECT_THAT(table.best, ::testing::Contains(Pair(1U, 1U)));
  const auto jain = static_cast<size_t>(std::ranges::find(table.header, "Jain's index, jobs") - table.header.begin());
  EXPECT_THAT(table.best, ::testing::Contains(Pair(0U, jain)));
}

TEST(RunTables, AGroupThatARunLacksHasADash) {
  std::vector<RunReport> reports = two_reports();
  reports[1].metrics.by_size.pop_back();
  const PageTable table =
      groups_comparison("GPUs per job", {{"srsf", &reports[0]}, {"fifo", &reports[1]}}, &RunMetrics::by_size);
  EXPECT_THAT(table.rows.back(), ElementsAre("2-4", "3", "1m36s", "-"));
}

}  // namespace
}  // namespace weft::sim
