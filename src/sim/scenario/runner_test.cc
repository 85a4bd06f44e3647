#include "sim/scenario/runner.h"

#include "sim/scenario/scenario_testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

namespace weft::scenario {
namespace {

using ::testing::HasSubstr;

/// A world in which much goes on: `run` runs on two nodes, `wait` waits, `end` is done, `cut` is an instance.
constexpr std::string_view kWorld = R"(
scenario: x
cluster:
  levels: [rack]
  nodes:
    - {{name: a, gpus: 4, labels: {{rack: r1}}, islands: [[0, 1], [2, 3]]}}
    - {{name: b, gpus: 4, labels: {{rack: r2}}}}
    - {{name: m, gpus: 1, gpu: A100-SXM4-80GB, mig: {{0: []}}}}
jobs:
  - {{name: run, count: 2, gpus: 2, preemptible: false, at: {{w/0: {{node: a, devices: [0, 1]}}, w/1: {{node: b, devices: [0, 1]}}}}}}
  - {{name: pair, gpus: 2, preemptible: false, at: {{w/0: {{node: a, devices: [2, 3]}}}}}}
  - {{name: end, gpus: 1, preemptible: false, at: {{w/0: {{node: b, devices: [3]}}}}}}
  - {{name: cut, mig: 2g.20gb, preemptible: false, at: {{w/0: {{node: m, devices: ["0:2g.20gb@2"]}}}}}}
steps:
  - finish: end
  - submit: {{name: wait, count: 2, gpus: 4}}
  - run: until stable
  - expect: {}
)";

RunResult expect_in_world(std::string_view expectation) {
  return run_text(fmt::format(fmt::runtime(kWorld), expectation));
}

struct Case {
  std::string_view expectation;
  std::string_view found;  ///< empty: it holds; else a part of what must be said
};

/// What a test is called by where it has no name of its own.
void PrintTo(const Case& shown, std::ostream* out) { *out << shown.expectation; }

class Expectations : public ::testing::TestWithParam<Case> {};

TEST_P(Expectations, AreComparedWithTheWorld) {
  const RunResult result = expect_in_world(GetParam().expectation);
  EXPECT_TRUE(result.needs.empty());
  if (GetParam().found.empty()) {
    EXPECT_EQ(result.outcome, Outcome::kPassed) << failure_text(result);
  } else {
    EXPECT_EQ(result.outcome, Outcome::kFailed);
    EXPECT_THAT(failure_text(result), HasSubstr(GetParam().found));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Every, Expectations,
    ::testing::Values(
        Case{"{run: running, end: done, wait: pending, cut: running}", ""},
        Case{"{run: pending}", "expected run: pending, found running"},
        Case{"{wait: running}", "expected wait: running, found pending (GPUs: 2 of 8 needed are free"},
        Case{"{end: failed}", "found done"},
        Case{"{run: {state: running, running: 2, pending: 0, nodes: [b, a], tasks: {w/0: a, w/1: b}}}", ""},
        Case{"{run: {nodes: [a]}}", "expected run: nodes [a], found [a, b]"},
        Case{"{run: {nodes: [a, b, m]}}", "found [a, b]"}, Case{"{wait: {nodes: [a]}}", "found []"},
        Case{"{run: {tasks: {w/1: a}}}", "expected run: w/1 on a, found b"},
        Case{"{wait: {tasks: {w/1: a}}}", "it is nowhere"},
        Case{"{run: {running: 1}}", "expected run: 1 tasks running, found 2"},
        Case{"{run: {running: \">=2\", pending: \"<1\"}}", ""},
        Case{"{run: {running: \">2\"}}", "expected run: >2 tasks running, found 2"}, Case{"{wait: {pending: 2}}", ""},
        Case{"{wait: {pending: \"<=1\"}}", "found 2"}, Case{"{run: {devices: {w/0: [1, 0], w/1: [0, 1]}}}", ""},
        Case{"{run: {devices: {w/0: [0]}}}", "expected run: w/0 on devices [0], found [0, 1]"},
        Case{"{run: {devices: {w/0: [0, 2]}}}", "found [0, 1]"}, Case{"{cut: {devices: {w/0: [0]}}}", ""},
        Case{"{cut: {devices: {w/0: [\"0:2g.20gb@2\"]}}}", ""}, Case{"{cut: {devices: {w/0: [\"0:2g.20gb\"]}}}", ""},
        Case{"{cut: {devices: {w/0: [\"0:2g.20gb@4\"]}}}", "found [0:2g.20gb@2]"},
        Case{"{cut: {devices: {w/0: [\"0:1g.10gb@2\"]}}}", "found [0:2g.20gb@2]"}, Case{"{run: {moved: false}}", ""},
        Case{"{run: {moved: true}}", "it was not moved"}, Case{"{together: {pair: nvlink, pair/w: node}}", ""},
        Case{"{together: {run: node}}", "expected run together in one node, found [a, b]"},
        Case{"{together: {run: rack}}", "found [r1, r2]"},
        Case{"{together: {[pair, run]: nvlink}}", "expected pair and run together in one nvlink"},
        Case{"{together: {pair: device}}", "a task is in no single device"}, Case{"{together: {cut: device}}", ""},
        Case{"{together: {cut: rack}}", "a task is in no single rack"},
        Case{"{together: {wait: node}}", "none of them runs"}, Case{"{evictions: 0, moves: 0, evicted: []}", ""},
        Case{"{evictions: 1}", "expected evictions: 1, found 0"},
        Case{"{moves: \">0\"}", "expected moves: >0, found 0"},
        Case{"{evicted: [run]}", "expected evicted: [run], found 0"},
        Case{"{evicted: [run/w/0]}", "expected evicted: [run/w/0], found 0"},
        Case{"{why: {wait: [gpus, \"2 OF 8\"]}}", ""},
        Case{"{why: {wait: [taint]}}", "expected why wait: \"taint\", found \"GPUs: 2 of 8 needed are free"},
        Case{"{why: {run: [taint]}}", "found no verdict; it is running"},
        Case{"{count: {running: 2, done: 1, of: [run, pair, end, wait]}}", ""},
        Case{"{count: {running: 3, of: [run, pair, end, wait]}}",
             "found 2 (run: running, pair: running, end: done, wait: pending)"},
        Case{"{count: [{running: 2, of: [run, pair]}, {pending: 1, of: [run, pair]}]}",
             "expected 1 of 2 pending, found 0"},
        Case{"{one of: [{run: pending}, {run: running}]}", ""},
        Case{"{one of: [{run: pending}, {end: running}]}",
             "expected one of 2 alternatives, found none: expected run: pending, found running; expected end: running, "
             "found done"},
        Case{"{one of: [{run: running, end: running}]}", "found done"}));

TEST(Runner, SaysWhichKeyLetsJobsShareAGpu) {
  const auto found = [](std::string_view share) {
    return failure_text(
        run_text(fmt::format("{{scenario: s, cluster: {{nodes: [{{name: n, gpus: 2{}}}]}}, steps: "
                             "[{{submit: {{name: half, gpus: 0.5}}}}, {{run: until stable}}, "
                             "{{expect: {{half: running}}}}]}}",
                             share)));
  };
  EXPECT_THAT(found(""), HasSubstr("has the key 'share: mps' or 'share: timeslice'"));
  EXPECT_EQ(found(", share: mps"), "");
}

TEST(Runner, NamesThePlaceOfWhatFailed) {
  const RunResult result = expect_in_world("{run: pending, wait: running}");
  ASSERT_EQ(result.failures.size(), 2U);
  EXPECT_EQ(result.failures[0].at, (Place{18, 14}));
  EXPECT_EQ(result.failures[1].at, (Place{18, 28}));
}

std::string in_small_world(std::string_view steps) {
  return fmt::format(
      "scenario: x\ncluster: {{nodes: [{{name: n, gpus: 1}}]}}\n"
      "jobs: [{{name: old, gpus: 1, preemptible: false, at: {{w/0: n}}, grace: 30s}}]\nsteps: {}\n",
      steps);
}

TEST(Runner, NeverIsCheckedAfterEveryLaterCycle) {
  EXPECT_EQ(run_text(in_small_world("[never: {old: pending}, run: until stable]")).outcome, Outcome::kPassed);
  const RunResult result =
      run_text(in_small_world("[run: 1 cycle, never: {old: releasing}, run: 2 cycles, cancel: old, run: 2 cycles]"));
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(failure_text(result), HasSubstr("expected never to hold, found to hold after cycle"));
  EXPECT_EQ(result.failures.size(), 1U) << "it is told once";
}

TEST(Runner, NeverWithSeveralChecksIsBrokenOnlyWhenAllHold) {
  EXPECT_EQ(run_text(in_small_world("[never: {old: running, evictions: 1}, run: 2 cycles]")).outcome, Outcome::kPassed);
  EXPECT_EQ(run_text(in_small_world("[never: {old: running, evictions: 0}, run: 2 cycles]")).outcome, Outcome::kFailed);
}

TEST(Runner, StepsThatMakeNoSenseNowAreFailures) {
  EXPECT_THAT(failure_text(run_text(in_small_world("[finish: old, finish: old]"))),
              HasSubstr("old has no running task that could end"));
  EXPECT_THAT(failure_text(run_text(in_small_world("[submit: {name: b, gpus: 1}, crash: b/w/0]"))),
              HasSubstr("b/w/0 does not run"));
}

TEST(Runner, ARunningJobThatHasNoRoomIsAFailureOfTheWorld) {
  const RunResult result = run_text(
      "{scenario: x, cluster: {nodes: [{name: n, gpus: 1}]}, jobs: [{name: a, gpus: 2, at: {w/0: n}}], steps: "
      "[{expect: {a: running}}]}");
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(failure_text(result), HasSubstr("a"));
}

TEST(Runner, TheClockStandsStillForCyclesAndMovesForTimes) {
  const std::string steps =
      "[cancel: old, run: 50 cycles, expect: {old: releasing}, run: 29s, expect: {old: releasing}, run: 1s, expect: "
      "{old: cancelled}]";
  EXPECT_EQ(run_text(in_small_world(steps)).outcome, Outcome::kPassed) << failure_text(run_text(in_small_world(steps)));
}

TEST(Runner, TooMuchTimeIsAnEndAndNotAnOverflow) {
  std::string steps = "[";
  for (int i = 0; i < 5; ++i) steps += "run: 3000d, ";
  EXPECT_THAT(failure_text(run_text(in_small_world(steps + "expect: {old: running}]"))),
              HasSubstr("the scenario takes longer than"));
}

TEST(Runner, TheTranscriptTellsWhatWasDecided) {
  const Scenario scenario = one_scenario(
      in_small_world("[submit: {name: b, gpus: 1}, cancel: old, run: until stable, expect: {b: running}]"));
  const RunResult result = run_scenario(scenario, Transcript::kOn);
  EXPECT_EQ(result.outcome, Outcome::kPassed) << failure_text(result);
  const auto has_line = [&](std::string_view part) {
    return std::any_of(result.transcript.begin(), result.transcript.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has_line("stop old/w/0: cancelled") || has_line("stop old: cancelled"));
  EXPECT_TRUE(has_line("hold for b: w/0 on n[0]"));
  EXPECT_TRUE(has_line("start b"));
  EXPECT_TRUE(has_line("old is cancelled"));
  EXPECT_TRUE(run_scenario(scenario, Transcript::kOff).transcript.empty());
}

TEST(Runner, TheSameScenarioRunsTheSameTwice) {
  const Scenario scenario = one_scenario(fmt::format(fmt::runtime(kWorld), "{run: running}"));
  EXPECT_EQ(run_scenario(scenario, Transcript::kOn).transcript, run_scenario(scenario, Transcript::kOn).transcript);
}

}  // namespace
}  // namespace weft::scenario
