#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/present.h"
#include "cli/run_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace weft::cli {
namespace {

void add_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("-G,--gpus", options.gpus, "GPUs for each task; no -G, no GPU")->type_name("N");
  app.add_option("--gpu", options.gpu_model, "GPU model; H100 is any H100-… (one GPU unless -G says otherwise)")
      ->type_name("MODEL");
  app.add_option("-c,--cpus", options.cpus, "CPUs for each task; 0.5 is half of one (counted, not enforced)")
      ->type_name("N");
  app.add_option("-m,--mem", options.memory, "memory for each task, as 8Gi or 500M (counted, not enforced)")
      ->type_name("SIZE");
  app.add_option("-N,--count", options.tasks, "equal tasks that start together")->type_name("N");
  app.add_option("-t,--time", options.time,
                 "stopped after this long: 90 is seconds, 90m minutes, 2h hours, 1-12:00:00 a day and a half")
      ->type_name("TIME");
  app.add_option("--grace", options.grace, "time between TERM and KILL when it is stopped (the server's: 10s)")
      ->type_name("TIME");
  app.add_option("-J,--name", options.name, "a name for people")->type_name("NAME");
  app.add_option("-q,--queue", options.queue, "queue; 'default' is the only one so far")->type_name("QUEUE");
  app.add_option("-p,--priority", options.priority,
                 "larger is looked at first (50); waiting jobs keep no room free yet, so what fits starts before them")
      ->type_name("N");
  app.add_option("--gpu-bind", options.gpu_bind, "a task sees the GPUs of its 'job' (default) or of its 'task' only")
      ->type_name("job|task");
  app.add_option("-D,--directory", options.directory, "working directory (here)")->type_name("DIR");
  app.add_option("-o,--output", options.output,
                 "file for the output, appended to; %j is the job, %x its name, %t the task")
      ->type_name("FILE");
  app.add_option("-e,--error", options.error, "file for the error output (with the output)")->type_name("FILE");
}

/// The command of a command line: what followed our options, and what stood behind `--`. An Error when the first word
/// is an option that we do not know.
Result<std::vector<std::string>> command_words(const CLI::App& app, const CommandTail& tail) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words[0].starts_with('-') && words[0].size() > 1) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", app.get_name(), unknown_option_text(app, words[0])));
  }
  if (!tail.words) return words;
  if (!words.empty()) words.emplace_back("--");  // then it was one of the command's own
  words.insert(words.end(), tail.words->begin(), tail.words->end());
  return words;
}

Result<JobOptions> read_script_options(const std::vector<std::string>& words) {
  CLI::App app("", "");
  app.set_help_flag();
  JobOptions options;
  add_job_options(app, options);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(std::move(reversed));
    return options;
  } catch (const CLI::ParseError& error) {
    const auto rest = app.remaining();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || rest.empty())
      return fail(ErrorCode::kInvalidInput, parse_error_text(error));
    if (rest[0].starts_with('-')) return fail(ErrorCode::kInvalidInput, unknown_option_text(app, rest[0]));
    return fail(ErrorCode::kInvalidInput, fmt::format("'{}' is no option", rest[0]));
  }
}

}  // namespace

void add_job_commands(CLI::App& app, const CommandTail& tail, int& exit_status) {
  CLI::App* run = app.add_subcommand("run", "Run a command as a job and wait for it");
  set_usage(*run, {"[OPTIONS] [--] command [arguments...]"});
  set_place(*run, kJobGroup,
            "weft run -G 1 -- python train.py\n\nThe output is shown as it comes, the exit status is passed on, and "
            "Ctrl-C stops the job. The job reads nothing: its input is /dev/null. Without -G it gets no GPU.");
  const auto run_options = std::make_shared<JobOptions>();
  add_job_options(*run, *run_options);
  run->prefix_command();
  run->callback([run, run_options, &tail, &exit_status] {
    auto words = command_words(*run, tail);
    exit_status = words ? run_command(*run_options, std::move(*words)) : report(words.error());
  });

  CLI::App* submit = app.add_subcommand("submit", "Queue a script or a command as a job");
  set_usage(*submit, {"[OPTIONS] script [arguments...]", "[OPTIONS] -- command [arguments...]"});
  set_place(
      *submit, kJobGroup,
      "weft submit -G 2 train.sh\n\nOptions may stand in the script, in lines such as '#WEFT --gpus 2' before its "
      "first command. The output goes to weft-%j.out. Without -G the job gets no GPU.");
  const auto submit_options = std::make_shared<JobOptions>();
  const auto is_json = std::make_shared<bool>(false);
  add_job_options(*submit, *submit_options);
  submit->add_flag("--json", *is_json, "print the job as JSON");
  submit->prefix_command();
  submit->callback([submit, submit_options, is_json, &tail, &exit_status] {
    auto words = command_words(*submit, tail);
    const auto what = submit->remaining().empty() && tail.words ? Submission::kCommand : Submission::kScript;
    exit_status = words ? submit_command(*submit_options, what, std::move(*words), read_script_options,
                                         *is_json ? SubmitOutput::kJson : SubmitOutput::kText)
                        : report(words.error());
  });
}

}  // namespace weft::cli
