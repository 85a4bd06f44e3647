#include "base/test_folder.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "sim/trace/trace_reader.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// `weft generate`, in a folder of its own.
class Generate : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string content(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return std::move(out).str();
  }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  /// What it says on the error output.
  std::string run(std::vector<std::string> arguments) {
    CLI::App app("weft", "weft");
    status_ = -1;
    add_generate_command(app, status_);
    arguments.insert(arguments.begin(), "generate");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    status_ = parse_and_run(app, arguments, status_);
    out_ = testing::internal::GetCapturedStdout();
    return testing::internal::GetCapturedStderr();
  }
  size_t file_count() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
  std::string out_;
  int status_ = -1;
};

TEST_F(Generate, WritesATraceThatIsReadAndSaysWhatItIsLike) {
  const std::string said = run({"--profile", "philly", "--jobs", "5000", "--seed", "7", "--cluster", "310x8", "--load",
                                "0.9", "-o", path("trace.csv")});
  EXPECT_EQ(status_, 0);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(said, AllOf(StartsWith("5,000 jobs as of philly in "), HasSubstr("published"), HasSubstr("18,006.1"),
                          HasSubstr("load on 310x8: 0.")));
  EXPECT_EQ(file_count(), 1U);
  sim::TraceNotes notes;
  const auto jobs = sim::read_trace(path("trace.csv"), {}, &notes);
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->size(), 5000U);
  EXPECT_EQ(notes.format, sim::TraceFormat::kWeftCsv);
  EXPECT_EQ(jobs->front().id, "j1");
}

TEST_F(Generate, TheSameSeedGivesTheSameBytesWhereverTheyGo) {
  const std::vector<std::string> plan{"--profile", "helios", "--jobs", "3000", "--seed", "5"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), plan.begin(), plan.end());
    return more;
  };
  run(with({"-o", path("a")}));
  run(with({"--output", path("b")}));
  run(with({}));
  EXPECT_EQ(content("a"), content("b"));
  EXPECT_EQ(content("a"), out_) << "standard output holds the trace and nothing else";
  run({"--profile", "helios", "--jobs", "3000", "--seed", "6", "-o", path("c")});
  EXPECT_NE(content("a"), content("c"));
}

TEST_F(Generate, WritesEveryFormatThatItNames) {
  for (const std::string format : {"weft", "tiresias", "philly", "swf"}) {
    EXPECT_THAT(run({"--jobs", "500", "--format", format, "-o", path(format)}), StartsWith("500 jobs"));
    sim::TraceNotes notes;
    const auto jobs = sim::read_trace(path(format), {}, &notes);
    ASSERT_TRUE(jobs) << jobs.error().message;
    EXPECT_EQ(jobs->size(), 500U);
    EXPECT_EQ(sim::trace_format_name(notes.format), format);
  }
}

TEST_F(Generate, ASteadyTraceBeginsWithJobsThatRunAlready) {
  const std::string said = run({"--profile", "philly", "--jobs", "5000", "--cluster", "310x8", "--load", "0.9",
                                "--steady", "-o", path("trace.csv")});
  EXPECT_THAT(said, AllOf(StartsWith("4,342 jobs as of philly"), HasSubstr("658 that run already")));
  const auto jobs = sim::read_trace(path("trace.csv"), {});
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->size(), 5000U);
  EXPECT_EQ(std::ranges::count(*jobs, Instant{0}, &sim::TraceJob::submit), 658);
}

TEST_F(Generate, SaysWhatIsLeftOutForASmallCluster) {
  EXPECT_THAT(run({"--profile", "kalos", "--jobs", "1000", "--cluster", "2x8", "--load", "2", "-o", path("t")}),
              HasSubstr("of the profile's jobs are too large for 2x8"));
  EXPECT_THAT(run({"--profile", "philly", "--jobs", "1000", "--cluster", "310x8", "-o", path("t")}),
              Not(HasSubstr("too large")));
}

TEST_F(Generate, SaysWhatIsWrongInOneLineAndLeavesNothingBehind) {
  write("old", "old");
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--profile", "phily"}, "--profile: there is no profile 'phily' (did you mean 'philly'?)"},
      {{"--jobs", "0"}, "--jobs: "},
      {{"--jobs", "1e6"}, "--jobs: "},
      {{"--jobs", "2000000000"}, "--jobs: "},
      {{"--seed", "-1"}, "--seed: "},
      {{"--load", "0.9"}, "--load: of which cluster?"},
      {{"--load", "0", "--cluster", "4x8"}, "--load: expected a number above 0, found '0'"},
      {{"--load", "nan", "--cluster", "4x8"}, "--load: expected a number above 0"},
      {{"--rate", "-3"}, "--rate: expected a number above 0"},
      {{"--rate", "3", "--span", "3d"}, "expected one of them"},
      {{"--span", "soon"}, "--span: "},
      {{"--span", "0s"}, "--span: expected a time above 0"},
      {{"--span", "endless"}, "--span: expected a time above 0"},
      {{"--span", "20000d"}, "expected at most 10"},
      {{"--cluster", "0x8"}, "--cluster: "},
      {{"--cluster", "8x0"}, "--cluster: '8x0' has no GPUs"},
      {{"--cluster", path("nodes.csv")}, "nodes.csv: there is no such file"},
      {{"--start", "monday"}, "--start: expected one of mon, tue"},
      {{"--users", "0"}, "--users: "},
      {{"--queues", "many"}, "--queues: "},
      {{"--format", "sacct"}, "--format: expected one of weft, tiresias, philly, swf, found 'sacct'"},
      {{"--profile", "pai", "--format", "swf"},
       "--format: swf cannot tell the shares of GPUs that jobs of pai ask for"},
      {{"--steady", "--cluster", "20000x8"}, "run already at the beginning; expected more jobs"},
      {{"stray"}, "stray"},
  };
  for (const auto& [options, words] : wrong) {
    SCOPED_TRACE(words);
    std::vector<std::string> arguments{"-o", path("old")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::string said = run(arguments);
    EXPECT_EQ(status_, 2);
    EXPECT_EQ(out_, "");
    EXPECT_THAT(said, AllOf(HasSubstr(words), EndsWith("\n")));
    EXPECT_EQ(std::ranges::count(said, '\n'), 1);
    EXPECT_EQ(content("old"), "old");
    EXPECT_EQ(file_count(), 1U);
  }
  EXPECT_THAT(run({"-o", path("none/t.csv")}), HasSubstr("its folder is not there"));
  EXPECT_EQ(status_, 2);
}

TEST_F(Generate, AFullDiskIsOneLine) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "not run: there is no /dev/full";
  EXPECT_EQ(run({"--jobs", "100", "-o", "/dev/full"}),
            "weft: generate: /dev/full: cannot be written: No space left on device\n");
  EXPECT_EQ(status_, 1);
}

}  // namespace
}  // namespace weft::cli
