#include "cli/command_line.h"
#include "cli/commands.h"
#include "engine/local/supervisor.h"
#include "service/version.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

namespace {

/// What was printed may not have arrived: a full disk must not look like success.
int after_flush(int exit_status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_status;
  fmt::print(stderr, "weft: cannot write the output: {}\n",
             std::strerror(errno));  // NOLINT(concurrency-mt-unsafe): one thread
  return exit_status == weft::cli::kSuccess ? weft::cli::kFailure : exit_status;
}

int run(int argc, char** argv) {
  int exit_status = weft::cli::kSuccess;
  const weft::cli::CommandLine line = weft::cli::split_command_line(argc, argv);
  CLI::App app("weft: a scheduler for GPUs", "weft");
  app.require_subcommand(1, 1);
  app.set_version_flag("-V,--version", "weft " + std::string(weft::service::kVersion));
  weft::cli::add_job_commands(app, line.tail, exit_status);
  weft::cli::add_client_commands(app, exit_status);
  weft::cli::add_serve_command(app, exit_status);
  weft::cli::add_demo_command(app, exit_status);
  weft::cli::add_scenario_command(app, exit_status);
  weft::cli::add_saturate_command(app, exit_status);
  return weft::cli::parse_and_run(app, line.arguments, exit_status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == weft::local::kSuperviseArgument) return weft::local::supervise();
  try {
    return after_flush(run(argc, argv));
  } catch (const std::exception& exception) {
    fmt::print(stderr, "weft: unexpected failure: {}\n", exception.what());
    return weft::cli::kFailure;
  }
}
