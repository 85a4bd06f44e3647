#include "sim/scenario/suite.h"

#include "base/test_folder.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace weft::scenario {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kPasses =
    "{scenario: good, cluster: {nodes: [{name: n}]}, jobs: [{name: a}], steps: [{run: 1 cycle}, {expect: {a: "
    "running}}]}\n";
constexpr std::string_view kFails =
    "{scenario: wrong, cluster: {nodes: [{name: n}]}, jobs: [{name: a}], steps: [{expect: {a: running}}]}\n";
constexpr std::string_view kWaits =
    "{scenario: later, cluster: {nodes: [{name: n}]}, policy: slurm, steps: [{run: 1 cycle}]}\n";

/// A folder of its own for each test, gone at the end.
class Suite : public ::testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
};

TEST_F(Suite, CountsPassedFailedAndUnsupportedApart) {
  const std::string file =
      write("a.yaml", std::string(kPasses) + "---\n" + std::string(kFails) + "---\n" + std::string(kWaits) + "---\n" +
                          std::string(kPasses) + "---\nscenario: [\n");
  const SuiteResult suite = run_suite({file}, Transcript::kOff);
  EXPECT_EQ(suite.passed, 2);
  EXPECT_EQ(suite.failed, 2);
  EXPECT_EQ(suite.malformed, 1);
  EXPECT_EQ(suite.not_supported, 1);
  EXPECT_EQ(closing_line(suite), "2 passed, 2 failed, 1 not supported yet");
  const std::string text = suite_text(suite, Transcript::kOff);
  EXPECT_THAT(text, HasSubstr(file + ":3: failed: wrong\n  " + file + ":3:"));
  EXPECT_THAT(text, HasSubstr(file + ":5: not supported yet: preset slurm (later)\n  " + file +
                              ":5:58: preset slurm: asked for here\n"));
  EXPECT_THAT(suite_errors(suite), HasSubstr(file + ":10:1: this is not YAML: "));
  EXPECT_THAT(text, Not(HasSubstr("this is not YAML")));
  EXPECT_THAT(text, Not(HasSubstr("good")));
  EXPECT_THAT(text, EndsWith("\n2 passed, 2 failed, 1 not supported yet\n"));
}

TEST_F(Suite, LeavesWhatIsNotThereOutOfTheClosingLine) {
  EXPECT_EQ(closing_line(run_suite({write("a.yaml", kPasses)}, Transcript::kOff)), "1 passed, 0 failed");
}

TEST_F(Suite, TheClosingLineCountsWhatCouldNotBeRead) {
  const SuiteResult suite = run_suite({write("a.yaml", kPasses), (folder_ / "none").string()}, Transcript::kOff);
  EXPECT_EQ(closing_line(suite), "1 passed, 0 failed; 1 not read");
}

TEST_F(Suite, SaysWhereAFeatureIsNeeded) {
  const std::string file =
      write("a.yaml",
            "scenario: a job runs on from what it saved\n"
            "cluster: {nodes: [{name: n, gpus: 1}]}\n"
            "policy: {rebalance: on}\n"
            "jobs: [{name: j, gpus: 1, gang: none, runtime: 1h, checkpoint: {every: 10m}, at: {w/0: n}}]\n"
            "steps:\n"
            "  - fail: n\n"
            "  - run: 1 cycle\n"
            "  - recover: n\n"
            "  - run: 1 cycle\n");
  const std::string text = suite_text(run_suite({file}, Transcript::kOff), Transcript::kOff);
  EXPECT_THAT(text,
              HasSubstr("a.yaml:1: not supported yet: checkpoints, rebalance (a job runs on from what it saved)\n"));
  EXPECT_THAT(text, HasSubstr("a.yaml:9:5: checkpoints: here a task that started alone runs on"));
  EXPECT_THAT(text, HasSubstr("a.yaml:3:21: rebalance: asked for here\n"));
}

TEST_F(Suite, ReadsFoldersWithAllBelowThemInTheOrderOfTheirNames) {
  write("b.yaml", kPasses);
  write("a/z.yml", kPasses);
  write("a/y.yaml", kFails);
  write("notes.txt", kFails);
  const SuiteResult suite = run_suite({folder_.string()}, Transcript::kOff);
  ASSERT_EQ(suite.entries.size(), 3U);
  EXPECT_THAT(suite.entries[0].file, EndsWith("a/y.yaml"));
  EXPECT_THAT(suite.entries[1].file, EndsWith("a/z.yml"));
  EXPECT_THAT(suite.entries[2].file, EndsWith("b.yaml"));
}

TEST_F(Suite, SaysWhatCannotBeRead) {
  const SuiteResult nothing = run_suite({(folder_ / "none.yaml").string(), folder_.string(), ""}, Transcript::kOff);
  ASSERT_EQ(nothing.unreadable.size(), 3U);
  EXPECT_THAT(nothing.unreadable[0], EndsWith("none.yaml: there is no such file"));
  EXPECT_THAT(nothing.unreadable[1], EndsWith("the folder holds no *.yaml or *.yml file"));
  EXPECT_THAT(nothing.unreadable[2], HasSubstr("the name of a file is empty"));
  EXPECT_TRUE(nothing.entries.empty());
  EXPECT_EQ(suite_text(nothing, Transcript::kOff), "");
}

TEST_F(Suite, AnEmptyFileIsAMalformedScenario) {
  const SuiteResult suite = run_suite({write("empty.yaml", "")}, Transcript::kOff);
  EXPECT_EQ(suite.malformed, 1);
  EXPECT_THAT(suite_errors(suite), HasSubstr("empty.yaml:1:1: the file is empty"));
}

TEST_F(Suite, AFileThatIsTooLargeIsNotReadToItsEnd) {
  const SuiteResult suite =
      run_suite({write("large.yaml", std::string(kYamlBytesMax + 100'000, '#'))}, Transcript::kOff);
  ASSERT_EQ(suite.unreadable.size(), 1U);
  EXPECT_THAT(suite.unreadable[0], HasSubstr("is larger than 16,777,216 bytes"));
}

TEST_F(Suite, ShowsEverythingWhereAsked) {
  const std::string text = suite_text(run_suite({write("a.yaml", kPasses)}, Transcript::kOn), Transcript::kOn);
  EXPECT_THAT(text, HasSubstr("a.yaml:1: passed: good\n"));
  EXPECT_THAT(text, HasSubstr("cycle 1 at 0s: hold for a: w/0 on n"));
}

TEST_F(Suite, SpeaksJson) {
  const std::string file = write(
      "a.yaml", std::string(kPasses) + "---\n" + std::string(kFails) + "---\n" + std::string(kWaits) + "---\nx: 1\n");
  const auto value = boost::json::parse(suite_json(run_suite({file, "/nowhere"}, Transcript::kOff)));
  EXPECT_EQ(value.at("passed").as_int64(), 1);
  EXPECT_EQ(value.at("failed").as_int64(), 2);
  EXPECT_EQ(value.at("not_supported").as_int64(), 1);
  EXPECT_EQ(value.at("unreadable").as_array().size(), 1U);
  const auto& scenarios = value.at("scenarios").as_array();
  ASSERT_EQ(scenarios.size(), 4U);
  EXPECT_EQ(scenarios[0].at("outcome").as_string(), "passed");
  EXPECT_EQ(scenarios[1].at("outcome").as_string(), "failed");
  EXPECT_EQ(scenarios[1].at("failures").as_array().size(), 1U);
  EXPECT_EQ(scenarios[2].at("outcome").as_string(), "not supported yet");
  EXPECT_EQ(scenarios[2].at("needs").as_array()[0].as_string(), "preset slurm");
  EXPECT_EQ(scenarios[2].at("need_notes").at(0).at("line").as_int64(), 5);
  EXPECT_EQ(scenarios[3].at("outcome").as_string(), "malformed");
  EXPECT_GT(scenarios[3].at("problems").as_array().size(), 0U);
}

TEST_F(Suite, AWorldThatTheSchedulerDoesNotTakeIsMalformedAndNamedByItsLine) {
  const SuiteResult suite =
      run_suite({write("a.yaml",
                       "scenario: no room\ncluster: {nodes: [{name: n, gpus: 1}]}\njobs:\n  - {name: a, gpus: 1}\n"
                       "  - {name: b, gpus: 2, at: {w/0: n}}\nsteps: [{run: 1 cycle}]\n")},
                Transcript::kOff);
  EXPECT_EQ(suite.malformed, 1);
  EXPECT_THAT(suite_errors(suite), HasSubstr("a.yaml:5:5: job b cannot run where `at` says: "));
}

TEST_F(Suite, NamesThatAreNoTextBreakNeitherLinesNorJson) {
  const std::string title =
      "{scenario: \"red\\e[31m\\nx\", cluster: {nodes: [{name: n}]}, jobs: [{name: a}], steps: "
      "[{expect: {a: running}}]}\n";
  const SuiteResult suite = run_suite({write("x\ny\xFF.yaml", title), "no\nfile"}, Transcript::kOff);
  const std::string text = suite_text(suite, Transcript::kOff);
  EXPECT_THAT(text, HasSubstr("/x\\x0ay\\xff.yaml:1: failed: red\\x1b[31m\\x0ax\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(suite_errors(suite), HasSubstr("no\\x0afile: there is no such file\n"));
  boost::system::error_code code;
  const auto value = boost::json::parse(suite_json(suite), code);
  ASSERT_FALSE(code) << code.message();
  EXPECT_THAT(std::string(value.at("scenarios").at(0).at("file").as_string()), EndsWith("/x\ny\uFFFD.yaml"));
}

}  // namespace
}  // namespace weft::scenario
