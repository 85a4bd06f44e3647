#include "cli/foreign_words.h"

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/help_text.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The whole program's commands, without anything that would ask a server.
class ForeignWords : public testing::Test {
 protected:
  ForeignWords() {
    use_help_text(app_);
    app_.require_subcommand(1, 1);
    add_job_commands(app_, tail_, status_);
    add_client_commands(app_, status_);
    add_serve_command(app_, status_);
    add_demo_command(app_, status_);
    add_scenario_command(app_, status_);
    add_saturate_command(app_, status_);
    add_help_commands(app_);
  }
  std::string errors(std::vector<std::string> arguments) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(parse_and_run(app_, std::move(arguments), status_), kUsage);
    return testing::internal::GetCapturedStderr();
  }

  CLI::App app_{"weft", "weft"};
  const CommandTail tail_;
  int status_ = -1;
};

TEST_F(ForeignWords, NameWhatWeftHasInstead) {
  EXPECT_EQ(errors({"squeue"}), "weft: unknown command 'squeue': it is 'weft queue' here\n");
  EXPECT_THAT(errors({"hold", "3"}), HasSubstr("jobs cannot be held back and released yet"));
  EXPECT_THAT(errors({"hold", "3"}), Not(HasSubstr("help")));
  EXPECT_THAT(errors({"submit", "--array=1-4", "x.sh"}),
              HasSubstr("unknown option '--array': there are no job arrays yet; use a loop"));
  EXPECT_THAT(errors({"submit", "-n4", "x.sh"}), HasSubstr("unknown option '-n': the option for several tasks is -N"));
}

TEST_F(ForeignWords, OtherUnknownWordsAreGuessedAt) {
  EXPECT_EQ(errors({"rum"}), "weft: unknown command 'rum'; did you mean 'run'? 'weft --help' lists the commands\n");
  EXPECT_EQ(errors({"zzzzzz"}), "weft: unknown command 'zzzzzz'; 'weft --help' lists the commands\n");
}

TEST_F(ForeignWords, AreNoWordsOfWeft) {
  for (const CLI::App* command : app_.get_subcommands({})) {
    EXPECT_EQ(foreign_command_text(command->get_name()), "") << command->get_name();
  }
  for (const char* name : {"run", "submit"}) {
    for (const CLI::Option* option : app_.get_subcommand(name)->get_options()) {
      for (const std::string& word : option->get_lnames()) EXPECT_EQ(foreign_option_text("--" + word), "") << word;
      for (const std::string& word : option->get_snames()) EXPECT_EQ(foreign_option_text("-" + word), "") << word;
    }
  }
}

}  // namespace
}  // namespace weft::cli
