#include "cli/command_line.h"

#include "cli/commands.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Said {
  int status = -1;
  std::string out;
  std::string err;
};

Said run(std::vector<std::string> arguments) {
  CLI::App app("weft: a scheduler", "weft");
  app.require_subcommand(1, 1);
  const CommandTail tail;
  Said said;
  add_job_commands(app, tail, said.status);
  add_client_commands(app, said.status);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = parse_and_run(app, std::move(arguments), said.status);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, HelpIsACommandToo) {
  const Said all = run({"help"});
  EXPECT_EQ(all.status, 0);
  EXPECT_THAT(all.out, HasSubstr("queue"));
  EXPECT_EQ(all.out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "cancel"}).out, run({"cancel", "--help"}).out);
  EXPECT_THAT(run({"help", "cancel"}).out, HasSubstr("--kill"));
  EXPECT_THAT(run({"help", "cancle"}).err, StartsWith("weft: help: unknown command 'cancle'; did you mean 'cancel'?"));
  EXPECT_EQ(run({"help", "cancel", "show"}).status, 2);
}

TEST(CommandLine, AnUnknownCommandIsNamedOnce) {
  const Said said = run({"rum"});
  EXPECT_EQ(said.status, 2);
  EXPECT_THAT(said.err, StartsWith("weft: unknown command 'rum'; did you mean 'run'?"));
}

TEST(CommandLine, WhatIsMissingIsCalledAsInTheHelp) {
  EXPECT_EQ(run({"show"}).err, "weft: show: no JOB is given; 'weft show --help' says what is expected\n");
}

TEST(CommandLine, HelpOfJobsSaysWhereTheCommandStands) {
  EXPECT_THAT(run({"run", "--help"}).out, HasSubstr("Usage: weft run [OPTIONS] [--] command [arguments...]\n"));
  EXPECT_THAT(run({"submit", "--help"}).out, HasSubstr("Usage: weft submit [OPTIONS] script [arguments...]\n"
                                                       "       weft submit [OPTIONS] -- command [arguments...]\n"));
}

}  // namespace
}  // namespace weft::cli
