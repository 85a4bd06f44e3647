#include "sim/report/run_format.h"
#include "sim/report/run_report.h"
#include "sim/report/run_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The widest line in characters, where all are of one column.
size_t width_of(const std::string& text) {
  std::istringstream lines(text);
  size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto continued = std::ranges::count_if(line, [](char c) { return (c & 0xC0) == 0x80; });
    widest = std::max(widest, line.size() - static_cast<size_t>(continued));
  }
  return widest;
}

TEST(RunFormat, NumbersAreAsPreciseAsTheyCanBeRead) {
  EXPECT_EQ(number_text(45792.13), "45,792.1");
  EXPECT_EQ(number_text(333), "333");
  EXPECT_EQ(number_text(4728812.5), "4,728,813");
  EXPECT_EQ(number_text(-0.04), "0.0") << "no minus before nothing";
  EXPECT_EQ(number_text(-1.25), "-1.3");
  EXPECT_EQ(number_text(NAN), "-");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(percent_text(0.8623), "86.2 %");
  EXPECT_EQ(ratio_text(0.1687), "0.17x");
  EXPECT_EQ(ratio_text(0.0062), "0.006x");
  EXPECT_EQ(ratio_text(99.96), "100x");
  EXPECT_EQ(ratio_text(NAN), "-");
  EXPECT_EQ(duration_text(45792.13), "12h43m");
  EXPECT_EQ(duration_text(1e12), "1e+12 s");
  EXPECT_EQ(number_cell(4728812, 10), " 4,728,812");
  EXPECT_EQ(number_cell(98765432, 10), "  9.88e+07");
  EXPECT_EQ(gpu_hours_text(5400), "1.5");
}

TEST(RunFormat, TextIsCutByCharactersAndMadePrintable) {
  EXPECT_EQ(fitted("abc", 5), "abc  ");
  EXPECT_EQ(fitted("abcdef", 5), "abcd…");
  EXPECT_EQ(fitted("äöüß", 4), "äöüß");
  EXPECT_EQ(fitted("äöüßx", 4), "äöü…");
  EXPECT_EQ(cut_to("a\nb", 9), "a\\x0ab");
}

TEST(RunText, ShowsTheRunInEightyColumns) {
  const std::string text = run_text(make_run_report(small_outcome()));
  EXPECT_LE(width_of(text), 80U) << text;
  EXPECT_THAT(text,
              HasSubstr("srsf on small.csv\n4 jobs, 2 nodes with 4 GPUs\nplacement count, rules native, seed 42\n"));
  EXPECT_THAT(text, HasSubstr("JCT, s                  96.7       100       110       110       110       110\n"));
  EXPECT_THAT(text, HasSubstr("waiting, s              36.7        20        90"));
  EXPECT_THAT(text, HasSubstr("jobs              3 done, 1 rejected\n"));
  EXPECT_THAT(text, HasSubstr("makespan          120 s (2m)\n"));
  EXPECT_THAT(text, HasSubstr("83.3 %; free but in fragments 12.5 %\n"));
  EXPECT_THAT(text, HasSubstr("33.3 % of the jobs were done later than on an equal share"));
  EXPECT_THAT(text, HasSubstr("9 of 12 events, hash 00ab54a98ceb1f0a\n"));
  EXPECT_THAT(text, HasSubstr("user                   jobs"));
  EXPECT_THAT(text, Not(HasSubstr("queue                  jobs"))) << "the trace names none";
}

TEST(RunText, LongNamesAndLargeNumbersStayInEightyColumns) {
  RunOutcome outcome = small_outcome();
  outcome.trace = std::string(200, 't') + ".csv";
  outcome.jobs[0].user = std::string(90, 'u') + "\x1b[31m";
  outcome.jobs[1].end = Instant{} + seconds(98'765'432);
  outcome.jobs[1].preempts = 1'234'567;
  const std::string text = run_text(make_run_report(outcome));
  EXPECT_LE(width_of(text), 80U) << text;
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr(" 9.88e+07  9.88e+07")) << "two numbers are never one";
}

TEST(RunText, AnEmptyRunIsShownWithDashes) {
  EXPECT_THAT(run_text(make_run_report(RunOutcome{})), HasSubstr("makespan          - s (-)"));
}

TEST(RunText, FragmentsThatNobodyMeasuredAreNotShown) {
  RunOutcome outcome = small_outcome();
  for (RunSample& sample : outcome.samples) sample.fragment_gpu_milli = NAN;
  EXPECT_THAT(run_text(make_run_report(outcome)), HasSubstr("GPU time in use   83.3 %\n"));
  const RunReport report = make_run_report(outcome);
  EXPECT_THAT(run_html({&report, 1}), Not(HasSubstr("free in fragments")));
}

TEST(RunText, OfManyUsersTheTableTellsHowManyItLeavesOut) {
  RunOutcome outcome = small_outcome();
  for (int i = 0; i < 40; ++i) outcome.jobs.emplace_back(outcome.jobs[0]).user = "user" + std::to_string(i);
  EXPECT_THAT(run_text(make_run_report(outcome)), HasSubstr("(32 more with less GPU time)"));
}

TEST(ComparisonText, ShowsRatiosToTheFirstRunOfEachTrace) {
  RunOutcome slow = small_outcome();
  slow.policy = "fifo";
  slow.jobs[0].end = slow.jobs[0].end + seconds(145);
  RunOutcome other = small_outcome();
  other.trace = "other.csv";
  const std::vector<RunReport> reports{make_run_report(small_outcome()), make_run_report(slow), make_run_report(other)};
  const std::string text = comparison_text(reports);
  EXPECT_LE(width_of(text), 80U) << text;
  EXPECT_THAT(text, HasSubstr("srsf              96.7  1.00x"));
  EXPECT_THAT(text, HasSubstr("fifo               145  1.50x"));
  EXPECT_THAT(text, HasSubstr("Ratios are to srsf.\n\nother.csv: 4 jobs, 2 nodes with 4 GPUs\n"));
}

TEST(ComparisonText, ATraceGoesByItsFileNameWhereThatIsItsOwn) {
  std::vector<RunReport> reports;
  for (const char* trace : {"one/a.csv", "two/a.csv", "two/b.csv"}) {
    reports.push_back(make_run_report(small_outcome()));
    reports.back().facts.trace = trace;
  }
  EXPECT_EQ(trace_label(reports[0], reports), "one/a.csv");
  EXPECT_EQ(trace_label(reports[2], reports), "b.csv");
  EXPECT_EQ(trace_label(reports[0], {reports.data(), 1}), "a.csv");
}

TEST(ComparisonText, RunsOfOnePolicyAreToldApartByWhatDiffers) {
  RunOutcome packed = small_outcome();
  packed.placement = "pack";
  RunOutcome file = small_outcome();
  file.policy = "policies/mine.yaml";
  const std::vector<RunReport> reports{make_run_report(small_outcome()), make_run_report(packed),
                                       make_run_report(file)};
  EXPECT_EQ(run_label(reports[0], reports), "srsf count");
  EXPECT_EQ(run_label(reports[1], reports), "srsf pack");
  EXPECT_EQ(run_label(reports[2], reports), "mine");
}

}  // namespace
}  // namespace weft::sim
