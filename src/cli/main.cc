#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/present.h"
#include "engine/local/supervisor.h"
#include "service/version.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

/// What was printed may not have arrived: a full disk must not look like success.
int after_flush(int exit_status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_status;
  const char* why = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): one thread
  return weft::cli::report(fmt::format("cannot write the output: {}", why),
                           exit_status == weft::cli::kSuccess ? weft::cli::kFailure : exit_status);
}

/// A file that is opened later must not become standard input or output. What stands in for those that are missing can
/// be opened only the wrong way round, so that using it fails as before.
void open_missing_standard_files() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int run(int argc, char** argv) {
  int exit_status = weft::cli::kSuccess;
  const weft::cli::CommandLine line = weft::cli::split_command_line(argc, argv);
  CLI::App app("weft: a scheduler for GPUs. 'weft COMMAND --help' says what a command takes.", "weft");
  weft::cli::use_help_text(app);
  app.require_subcommand(1, 1);
  app.set_version_flag("-V,--version", "weft " + std::string(weft::service::kVersion), "print the version");
  weft::cli::add_job_commands(app, line.tail, exit_status);
  weft::cli::add_client_commands(app, exit_status);
  weft::cli::add_serve_command(app, exit_status);
  weft::cli::add_demo_command(app, exit_status);
  weft::cli::add_scenario_command(app, exit_status);
  weft::cli::add_simulate_commands(app, exit_status);
  weft::cli::add_generate_command(app, exit_status);
  weft::cli::add_replay_command(app, exit_status);
  weft::cli::add_saturate_command(app, exit_status);
  weft::cli::add_help_commands(app);
  return weft::cli::parse_and_run(app, line.arguments, exit_status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == weft::local::kSuperviseArgument) return weft::local::supervise();
  open_missing_standard_files();
  try {
    return after_flush(run(argc, argv));
  } catch (const std::exception& exception) {
    return weft::cli::report(fmt::format("unexpected failure: {}", exception.what()), weft::cli::kFailure);
  }
}
