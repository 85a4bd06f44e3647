#include "sim/report/run_picture.h"

#include "sim/report/run_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace weft::sim {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RunPicture, FewSamplesAreTheStepsThemselves) {
  RunOutcome outcome = small_outcome();
  for (JobOutcome& job : outcome.jobs) job.submit = job.submit + seconds(1000);
  for (RunSample& sample : outcome.samples) sample.at = sample.at + seconds(1000);
  const RunPicture picture = draw(outcome, {});
  ASSERT_EQ(picture.steps.size(), 6U);
  EXPECT_EQ(picture.step_seconds, 0);
  EXPECT_EQ(picture.steps[1].at, 20) << "since the first submission";
  EXPECT_EQ(picture.steps[1].used_gpus, 2);
  EXPECT_EQ(picture.steps[1].pending_gpus, 6);
  EXPECT_EQ(picture.steps[1].pending, 2);
  EXPECT_EQ(picture.steps[2].running, 2);
}

TEST(RunPicture, ManySamplesBecomeMeansThatKeepWhatIsBetweenThem) {
  const RunPicture picture = draw(small_outcome(), {.steps = 3});
  EXPECT_EQ(picture.step_seconds, 60);
  ASSERT_EQ(picture.steps.size(), 3U);
  std::vector<double> used, at;
  for (const UseStep& step : picture.steps) {
    used.push_back(step.used_gpus);
    at.push_back(step.at);
  }
  EXPECT_THAT(at, ElementsAre(0, 60, 120));
  // 4 GPUs for 20 s, 2 for 20 s, 4 for 20 s; then 4 for 20 s, 2 for 20 s, 4 for 20 s.
  EXPECT_THAT(used, ElementsAre(DoubleEq(200.0 / 60), DoubleEq(200.0 / 60), 0));
  EXPECT_DOUBLE_EQ(picture.steps[0].pending, (2 * 20 + 20) / 60.0);
}

TEST(RunPicture, ACdfTellsHowManyJobsTookAtMostAsLong) {
  const RunPicture picture = draw(small_outcome(), {});
  ASSERT_EQ(picture.jct.size(), 3U);
  EXPECT_EQ(picture.jct[0].seconds, 80);
  EXPECT_DOUBLE_EQ(picture.jct[0].share, 1.0 / 3);
  EXPECT_EQ(picture.jct[2].seconds, 110);
  EXPECT_DOUBLE_EQ(picture.jct[2].share, 1);
  EXPECT_EQ(picture.waited[0].seconds, 0);
}

TEST(RunPicture, AThinnedCdfKeepsItsEndsAndEqualValuesAreOnePoint) {
  RunOutcome outcome = small_outcome();
  const JobOutcome job = outcome.jobs[0];
  outcome.jobs.assign(5000, job);
  for (size_t i = 0; i < outcome.jobs.size(); ++i) {
    outcome.jobs[i].end = outcome.jobs[i].submit + seconds(i < 4000 ? 7 : static_cast<int64_t>(i));
  }
  const RunPicture picture = draw(outcome, {.cdf_points = 100});
  EXPECT_LE(picture.jct.size(), 100U);
  EXPECT_EQ(picture.jct.front().seconds, 7);
  EXPECT_DOUBLE_EQ(picture.jct.front().share, 0.8);
  EXPECT_EQ(picture.jct.back().seconds, 4999);
  EXPECT_DOUBLE_EQ(picture.jct.back().share, 1);
  for (size_t i = 1; i < picture.jct.size(); ++i) {
    EXPECT_LT(picture.jct[i - 1].seconds, picture.jct[i].seconds);
    EXPECT_LT(picture.jct[i - 1].share, picture.jct[i].share);
  }
}

TEST(RunPicture, AnEmptyRunHasNone) {
  const RunPicture picture = draw(RunOutcome{}, {});
  EXPECT_THAT(picture.steps, IsEmpty());
  EXPECT_THAT(picture.jct, IsEmpty());
  EXPECT_THAT(picture.timeline.rows, IsEmpty());
}

TEST(NodeTimeline, JobsTakeLanesOfTheirNode) {
  const NodeTimeline timeline = draw(small_outcome(), {}).timeline;
  ASSERT_EQ(timeline.rows.size(), 2U);
  EXPECT_EQ(timeline.rows[0].name, "n0");
  EXPECT_EQ(timeline.rows[0].lanes, 2);
  ASSERT_EQ(timeline.bars.size(), 5U);
  EXPECT_EQ(timeline.periods, 5U);
  EXPECT_EQ(timeline.periods_left_out, 0U);
  const NodeBar& second = timeline.bars[1];
  EXPECT_EQ(std::tuple(second.row, second.lane, second.lanes, second.from, second.to), std::tuple(0U, 0, 2, 100, 120));
}

RunOutcome with_spans(std::vector<JobSpan> spans, std::vector<std::string> nodes) {
  RunOutcome outcome = small_outcome();
  outcome.nodes = std::move(nodes);
  outcome.spans = std::move(spans);
  return outcome;
}

JobSpan span(uint32_t node, int32_t gpus, int64_t from, int64_t to) {
  return {.job = 0, .node = node, .gpus = gpus, .from = Instant{} + seconds(from), .to = Instant{} + seconds(to)};
}

TEST(NodeTimeline, AJobWhoseLanesAreApartHasSeveralBars) {
  // Lanes 0, 1 and 2 are taken; 0 and 2 come free, and the job of two GPUs gets them.
  const NodeTimeline timeline =
      draw(with_spans({span(0, 2, 10, 20), span(0, 1, 0, 10), span(0, 1, 0, 30), span(0, 1, 0, 10)}, {"n"}), {})
          .timeline;
  EXPECT_EQ(timeline.rows[0].lanes, 3) << "what ends makes room for what begins at that instant";
  std::vector<std::pair<int32_t, int32_t>> last;
  for (const NodeBar& bar : timeline.bars) {
    if (bar.from == 10) last.emplace_back(bar.lane, bar.lanes);
  }
  std::map<int32_t, double> until;
  for (const NodeBar& bar : timeline.bars) {
    for (int32_t lane = bar.lane; lane < bar.lane + bar.lanes; ++lane) {
      EXPECT_GE(bar.from, until[lane]) << "no two bars are in one place";
      until[lane] = bar.to;
    }
  }
  int32_t lanes = 0;
  for (const auto& [lane, count] : last) lanes += count;
  EXPECT_EQ(lanes, 2);
}

TEST(NodeTimeline, OnlyTheLargestPeriodsAreKeptAndWhatIsLeftOutIsTold) {
  const NodeTimeline timeline =
      draw(with_spans({span(0, 1, 0, 60), span(0, 1, 60, 70), span(0, 3, 70, 80)}, {"n"}), {.bars = 2}).timeline;
  EXPECT_EQ(timeline.periods, 3U);
  EXPECT_EQ(timeline.periods_left_out, 1U);
  EXPECT_DOUBLE_EQ(timeline.left_out_share, 0.1) << "10 of 100 GPU seconds";
  EXPECT_EQ(timeline.rows[0].lanes, 3) << "of all periods";
  for (const NodeBar& bar : timeline.bars) EXPECT_NE(bar.from, 60);
}

TEST(NodeTimeline, OfManyNodesSomeAreEvenlyChosen) {
  std::vector<std::string> nodes;
  std::vector<JobSpan> spans;
  for (uint32_t i = 0; i < 100; ++i) {
    nodes.push_back("n" + std::to_string(i));
    spans.push_back(span(i, 1, 0, 10));
  }
  const NodeTimeline timeline = draw(with_spans(spans, nodes), {.nodes = 4}).timeline;
  std::vector<std::string> names;
  for (const NodeRow& row : timeline.rows) names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("n0", "n25", "n50", "n75"));
  EXPECT_EQ(timeline.nodes, 100U);
  EXPECT_EQ(timeline.periods, 4U);
}

TEST(NodeTimeline, PeriodsWithoutTimeOrGpusAreNotDrawn) {
  EXPECT_THAT(draw(with_spans({span(0, 0, 0, 10), span(0, 2, 10, 10)}, {"n"}), {}).timeline.bars, IsEmpty());
}

}  // namespace
}  // namespace weft::sim
