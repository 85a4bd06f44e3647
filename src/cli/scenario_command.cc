#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/present.h"
#include "sim/scenario/suite.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace weft::cli {
namespace {

struct ScenarioOptions {
  std::vector<std::string> paths;
  bool is_verbose = false;
  bool is_json = false;
  bool is_only_supported = false;
};

/// Wrong input counts before everything else; then what failed, or could not be judged.
int exit_status_of(const scenario::SuiteResult& suite, bool is_only_supported) {
  if (!suite.unreadable.empty() || suite.malformed > 0) return kUsage;
  if (suite.failed > 0) return kFailure;
  return suite.not_supported > 0 && !is_only_supported ? kFailure : kSuccess;
}

int run_scenarios(const ScenarioOptions& options) {
  const auto transcript = options.is_verbose ? scenario::Transcript::kOn : scenario::Transcript::kOff;
  const scenario::SuiteResult suite = scenario::run_suite(options.paths, transcript);
  if (options.is_json) {
    fmt::print("{}\n", scenario::suite_json(suite));
  } else {
    fmt::print("{}", scenario::suite_text(suite, transcript));
  }
  say(scenario::suite_errors(suite));
  return exit_status_of(suite, options.is_only_supported);
}

}  // namespace

void add_scenario_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("scenario", "Play scenario files: a world, events, what must then hold");
  const auto options = std::make_shared<ScenarioOptions>();  // lives as long as the callback
  command->add_option("paths", options->paths, "scenario files, or folders of them (*.yaml, *.yml)")
      ->required()
      ->type_name("FILE|FOLDER");
  command->add_flag("-v,--verbose", options->is_verbose, "show every scenario and the decisions of each cycle");
  command->add_flag("--json", options->is_json, "print the results as JSON");
  command->add_flag("--only-supported", options->is_only_supported,
                    "do not fail for scenarios that need features which do not exist yet");
  set_place(*command, kSimulationGroup,
            "weft scenario -v mine.yaml\n\nExit status: 0 when all scenarios passed, 1 when one failed or is not "
            "supported yet, 2 when a file is no scenario or cannot be read.");
  command->callback([options, &exit_status] { exit_status = run_scenarios(*options); });
}

}  // namespace weft::cli
