#pragma once

namespace CLI {
class App;
}

namespace weft::cli {

struct CommandTail;

/// Exit statuses of the binary.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  ///< a run that failed or found failures
inline constexpr int kUsage = 2;    ///< wrong input or usage

// Groups of commands in the help, in this order.
inline constexpr const char* kJobGroup = "Jobs";
inline constexpr const char* kMachineGroup = "The machine";
inline constexpr const char* kServerGroup = "The server";
inline constexpr const char* kSimulationGroup = "Without a server";
inline constexpr const char* kHelpGroup = "Help";

// Each adds one or more subcommands to `app`; a subcommand's callback sets `exit_status`. One file per command, listed
// in main.cc.
void add_scenario_command(CLI::App& app, int& exit_status);   // scenario_command.cc
void add_saturate_command(CLI::App& app, int& exit_status);   // saturate_command.cc
void add_simulate_commands(CLI::App& app, int& exit_status);  // simulate, compare: simulate_command.cc
void add_generate_command(CLI::App& app, int& exit_status);   // generate_command.cc
void add_replay_command(CLI::App& app, int& exit_status);     // replay_command.cc
void add_serve_command(CLI::App& app, int& exit_status);      // serve_command.cc
void add_client_commands(CLI::App& app,
                         int& exit_status);  // queue, show, why, cancel, nodes, cluster, wait, log: client_commands.cc
void add_help_commands(CLI::App& app);       // help, version: client_commands.cc
/// run and submit; `tail` is what stood behind the first `--` of the command line (see command_line.h).
void add_job_commands(CLI::App& app, const CommandTail& tail, int& exit_status);  // job_commands.cc
void add_demo_command(CLI::App& app, int& exit_status);                           // demo_command.cc

}  // namespace weft::cli
