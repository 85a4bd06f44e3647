#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/query_commands.h"
#include "service/version.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <utility>

namespace weft::cli {
namespace {

/// One command's options live as long as the parser does.
template <typename Options>
struct Command {
  CLI::App* app;
  std::shared_ptr<Options> options;
};

template <typename Options>
Command<Options> add(CLI::App& parent, const std::string& name, const std::string& help, const std::string& example,
                     const char* group = kJobGroup) {
  CLI::App* app = parent.add_subcommand(name, help);
  set_place(*app, group, example);
  return {app, std::make_shared<Options>()};
}

template <typename Value>
void add_switch(CLI::App& app, const std::string& name, Value& target, Value value, const std::string& help) {
  app.add_flag_callback(name, [&target, value] { target = value; }, help);
}

struct WhyOptions {
  std::string job;
  Format format = Format::kText;
};

void add_why(CLI::App& app, int& exit_status) {
  const auto command = add<WhyOptions>(app, "why", "Say why a job does not run", "weft why 8");
  command.app->add_option("job", command.options->job, "number of the job; @ is your latest one")
      ->required()
      ->type_name("JOB");
  add_switch(*command.app, "--json", command.options->format, Format::kJson, "print JSON");
  command.app->callback(
      [options = command.options, &exit_status] { exit_status = why_command(options->job, options->format); });
}

struct ShowOptions {
  std::vector<std::string> jobs;
  Format format = Format::kText;
};

void add_show(CLI::App& app, int& exit_status) {
  const auto command = add<ShowOptions>(app, "show", "Show all about jobs", "weft show @");
  command.app->add_option("jobs", command.options->jobs, "numbers of the jobs; @ is your latest one")
      ->required()
      ->type_name("JOB");
  add_switch(*command.app, "--json", command.options->format, Format::kJson, "print JSON, one job a line");
  command.app->callback(
      [options = command.options, &exit_status] { exit_status = show_command(options->jobs, options->format); });
}

void add_plain_command(CLI::App& app, int& exit_status, const std::string& name, const std::string& help,
                       int (*run)(Format)) {
  const auto command = add<Format>(app, name, help, "weft " + name, kMachineGroup);
  add_switch(*command.app, "--json", *command.options, Format::kJson, "print JSON");
  command.app->callback([options = command.options, run, &exit_status] { exit_status = run(*options); });
}

void add_queue(CLI::App& app, int& exit_status) {
  const auto command = add<QueueOptions>(app, "queue", "List the jobs that wait or run", "weft queue --all --last 20");
  QueueOptions& options = *command.options;
  add_switch(*command.app, "-a,--all", options.which, QueueOptions::Which::kAll, "also those that have ended");
  command.app->add_option("jobs", options.jobs, "these only, also when they have ended; @ is your latest one")
      ->type_name("JOB");
  command.app->add_option("--state", options.state, "those of this state, or of several with commas between")
      ->type_name("STATE");
  command.app->add_option("--user", options.user, "those of this user, or of several with commas between")
      ->type_name("USER");
  command.app->add_option("-n,--last", options.last, "the last N of them")->type_name("N");
  add_switch(*command.app, "-w,--watch", options.repeat, QueueOptions::Repeat::kWatch,
             "print the list again whenever it changes");
  add_switch(*command.app, "--json", options.format, Format::kJson, "print JSON");
  command.app->callback([shared = command.options, &exit_status] { exit_status = queue_command(*shared); });
}

void add_cancel(CLI::App& app, int& exit_status) {
  const auto command = add<CancelOptions>(app, "cancel", "Stop jobs, or take them out of the queue", "weft cancel 8 9");
  command.app->add_option("jobs", command.options->jobs, "numbers of the jobs; @ is your latest one")->type_name("JOB");
  add_switch(*command.app, "--all", command.options->which, CancelOptions::Which::kAll, "every job");
  add_switch(*command.app, "--kill", command.options->how, CancelOptions::How::kKill,
             "without the grace between TERM and KILL");
  command.app->callback([shared = command.options, &exit_status] { exit_status = cancel_command(*shared); });
}

void add_log(CLI::App& app, int& exit_status) {
  const auto command = add<LogOptions>(app, "log", "Print the output of a job", "weft log -f @");
  LogOptions& options = *command.options;
  command.app->add_option("job", options.job, "number of the job; @ is your latest one")->required()->type_name("JOB");
  add_switch(*command.app, "-f,--follow", options.follow, LogOptions::Follow::kYes, "go on until the job has ended");
  add_switch(*command.app, "--out", options.stream, LogOptions::Stream::kOut, "the output only");
  add_switch(*command.app, "--err", options.stream, LogOptions::Stream::kErr, "the error output only");
  command.app->add_option("--task", options.task, "which task's (0)")->type_name("N");
  command.app->callback([shared = command.options, &exit_status] { exit_status = log_command(*shared); });
}

void add_wait(CLI::App& app, int& exit_status) {
  const auto command = add<std::vector<std::string>>(
      app, "wait", "Wait until jobs have ended; one's status is passed on", "weft wait 8 9");
  command.app->add_option("jobs", *command.options, "numbers of the jobs; @ is your latest one")
      ->required()
      ->type_name("JOB");
  command.app->callback([shared = command.options, &exit_status] { exit_status = wait_command(*shared); });
}

}  // namespace

void add_client_commands(CLI::App& app, int& exit_status) {
  add_queue(app, exit_status);
  add_show(app, exit_status);
  add_why(app, exit_status);
  add_cancel(app, exit_status);
  add_wait(app, exit_status);
  add_log(app, exit_status);
  add_plain_command(app, exit_status, "nodes", "List the nodes and their GPUs", nodes_command);
  add_plain_command(app, exit_status, "cluster", "Show totals, fragmentation and the decision hash", cluster_command);
}

void add_help_commands(CLI::App& app) {
  CLI::App* help = app.add_subcommand("help", "Show help, also as 'weft help COMMAND'");  // see parse_and_run()
  help->group(kHelpGroup);
  CLI::App* version = app.add_subcommand("version", "Print the version");
  version->group(kHelpGroup);
  version->callback([] { fmt::print("weft {}\n", service::kVersion); });
}

}  // namespace weft::cli
