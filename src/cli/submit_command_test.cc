#include "base/test_folder.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "service/job_request.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

/// `weft submit` up to where it looks for a server: there is none, and nothing gets that far but what is right.
class Submit : public testing::Test {
 protected:
  void SetUp() override { ::setenv("WEFT_SOCKET", (folder_ / "none.sock").c_str(), 1); }
  void TearDown() override { ::unsetenv("WEFT_SOCKET"); }

  /// What the command says to the options and a script of this text.
  std::string answer(std::string_view script, std::vector<std::string> options = {}) {
    const std::string path = (folder_ / "s.sh").string();
    std::ofstream(path, std::ios::binary) << script;
    return run(path, std::move(options));
  }
  std::string run(const std::string& path, std::vector<std::string> options = {}, const CommandTail& tail = {}) {
    CLI::App app("weft", "weft");
    status_ = -1;
    add_job_commands(app, tail, status_);
    std::vector<std::string> arguments{"submit", "-D", folder_.string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    if (!tail.words) arguments.push_back(path);
    testing::internal::CaptureStderr();
    status_ = parse_and_run(app, arguments, status_);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(said, '\n'), 1 + (said.starts_with("weft: note: ") ? 1 : 0)) << said;
    return said;
  }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
  int status_ = -1;
};

TEST_F(Submit, AWrongValueOfTheScriptIsNamedByItsLine) {
  EXPECT_THAT(answer("#!/bin/sh\n#WEFT --gpus 1\n#WEFT -c x --gpus=-1\necho\n"),
              HasSubstr("s.sh:3: --gpus: '-1' is out of range; write a whole number from 0 to 1,000,000"));
  EXPECT_EQ(status_, 2);
  EXPECT_THAT(answer("#WEFT --time 0\n"), HasSubstr("s.sh:1: --time: expected more than 0"))
      << "checked by the service";
  EXPECT_THAT(answer("\n#WEFT --gpu ''\n"), HasSubstr("s.sh:2: --gpu: "));
  EXPECT_THAT(answer("#WEFT -o none/x\n"), HasSubstr("s.sh:1: --output: "));
  EXPECT_THAT(answer("#WEFT --name 'a\tb'\n"), HasSubstr("s.sh:1: --name: it holds a control character"));
  EXPECT_THAT(answer("#WEFT --gpu-bind x\n"), HasSubstr("s.sh:1: --gpu-bind: 'x' is not known"));
}

TEST_F(Submit, AnOptionThatIsGivenTwiceOrWithoutItsValueIsNamed) {
  EXPECT_THAT(answer("#WEFT --gpus 1 --gpus 2\n"), HasSubstr("s.sh:1: --gpus is given more than once\n"));
  EXPECT_THAT(answer("#WEFT --gpus\n"), HasSubstr("s.sh:1: --gpus needs a value\n"));
  EXPECT_THAT(answer("echo\n", {"--gpus", "1", "-G", "2"}), HasSubstr("submit: --gpus is given more than once\n"));
}

TEST_F(Submit, TheCommandLineIsStrongerAndIsToBlameForItsOwn) {
  EXPECT_THAT(answer("#WEFT --gpus x\n", {"--gpus", "1"}), HasSubstr("no weft server"));
  EXPECT_EQ(status_, 1);
  EXPECT_THAT(answer("#WEFT --gpus 1\n", {"--gpus", "x"}), testing::StartsWith("weft: --gpus: 'x'"));
  EXPECT_THAT(answer("#WEFT --gpus x\n#WEFT --gpus 2\n"), HasSubstr("no weft server"));
}

TEST_F(Submit, LinesForSlurmAreNamedAndPassedOver) {
  EXPECT_THAT(
      answer("#!/bin/sh\n#SBATCH --gpus 99x\n#WEFT --gpus 1\n"),
      testing::AllOf(testing::StartsWith("weft: note: "),
                     HasSubstr("s.sh:2: #SBATCH lines are not read; write #WEFT\n"), HasSubstr("no weft server")));
  EXPECT_THAT(answer("echo\n#SBATCH --gpus 1\n"), testing::Not(HasSubstr("SBATCH")));
}

TEST_F(Submit, MemoryNeedsAUnitInWhateverCase) {
  EXPECT_THAT(answer("echo\n", {"-m", "500"}), EndsWith("--mem: 500 has no unit; write 500M or 500G\n"));
  EXPECT_EQ(status_, 2);
  EXPECT_THAT(answer("#WEFT --mem 64\n"), HasSubstr("s.sh:1: --mem: 64 has no unit; write 64M or 64G\n"));
  EXPECT_THAT(answer("echo\n", {"-m", "8x"}), HasSubstr("--mem: '8x'"));
  for (const char* good : {"1g", "8gb", "8GB", "8gi", "8GiB", "500m", "500M", "1k"})
    EXPECT_THAT(answer("echo\n", {"-m", good}), HasSubstr("no weft server")) << good;
}

TEST_F(Submit, ACommandStandsBehindTheMark) {
  EXPECT_THAT(run("", {"-G", "1"}, {.words = {{"python3", "x.py"}}}), HasSubstr("no weft server"));
  EXPECT_THAT(run("", {"-G", "x"}, {.words = {{"python3", "x.py"}}}), testing::StartsWith("weft: --gpus: 'x'"));
  EXPECT_THAT(run("", {}, {.words = {std::vector<std::string>{}}}), HasSubstr("submit: no script given"));
  EXPECT_EQ(status_, 2);
  EXPECT_THAT(run("python3"), HasSubstr("python3: there is no such script; a command stands behind --"));
}

TEST_F(Submit, AFolderThatIsNotThereIsCalledSo) {
  EXPECT_THAT(answer("echo\n", {"-o", "logs/x"}), EndsWith("/logs/ does not exist\n"));
  EXPECT_THAT(answer("echo\n", {"-o", "logs/x"}), testing::StartsWith("weft: --output: the folder "));
  EXPECT_THAT(answer("echo\n", {"-o", "/dev/null/x"}), testing::StartsWith("weft: --output: the folder "));
}

TEST_F(Submit, AnEmptyFileNameIsNoOutput) {
  EXPECT_THAT(answer("#WEFT --output ''\n"), HasSubstr("s.sh:1: --output: it is empty"));
  EXPECT_THAT(answer("echo\n", {"--error", ""}), HasSubstr("weft: --error: it is empty"));
}

TEST_F(Submit, WhatAnEditorLeftBehindIsSeenBeforeTheJobStarts) {
  EXPECT_THAT(answer("\xEF\xBB\xBF#!/bin/sh\n#WEFT --gpus 1\n"),
              HasSubstr("s.sh:1:1: the script begins with a byte order mark"));
  EXPECT_THAT(answer("#!/bin/sh\r\necho\r\n"), HasSubstr("s.sh:1:10: a carriage return in the line that names"));
  EXPECT_THAT(answer("echo\r\n"), HasSubstr("no weft server"));
}

TEST_F(Submit, AScriptWithoutEndIsNotReadToItsEnd) {
  EXPECT_THAT(run("/dev/zero"), HasSubstr("/dev/zero: it has more than 4,194,304 bytes"));
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "#WEFT -N 1\n";
  EXPECT_THAT(answer(many), HasSubstr("s.sh:1001: more than 1,000 lines of #WEFT"));
  EXPECT_EQ(status_, 2);
}

TEST_F(Submit, AnErrorIsOneLineWhateverTheScriptIsCalled) {
  EXPECT_THAT(run("no\nscript"), HasSubstr("weft: no\\x0ascript: there is no such script"));
  EXPECT_THAT(run(""), HasSubstr("the name of the script is empty"));
}

}  // namespace
}  // namespace weft::cli
