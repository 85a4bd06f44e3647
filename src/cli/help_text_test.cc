#include "cli/help_text.h"

#include "cli/command_line.h"
#include "cli/commands.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace weft::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HelpText, FitsIntoATerminalAndShowsAnExample) {
  CLI::App app("weft", "weft");
  const CommandTail tail;
  int status = -1;
  use_help_text(app);
  add_job_commands(app, tail, status);
  add_client_commands(app, status);
  add_serve_command(app, status);
  add_demo_command(app, status);
  add_scenario_command(app, status);
  add_saturate_command(app, status);
  add_help_commands(app);
  for (CLI::App* command : app.get_subcommands({})) {
    const std::string text = command->help();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 80U) << command->get_name() << ": " << line;
    for (const char* leftover : {"REQUIRED", "Needs:", "=[", "INT in", "TEXT", "Positionals"})
      EXPECT_THAT(text, Not(HasSubstr(leftover))) << command->get_name();
    const bool has_place = command->get_name() != "help" && command->get_name() != "version";
    EXPECT_EQ(text.find("Example:\n  weft ") != std::string::npos, has_place) << command->get_name();
  }
  std::istringstream lines(app.help());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  for (const char* group : {kJobGroup, kMachineGroup, kServerGroup, kSimulationGroup, kHelpGroup})
    EXPECT_THAT(app.help(), HasSubstr(std::string("\n") + group + ":\n"));
}

}  // namespace
}  // namespace weft::cli
