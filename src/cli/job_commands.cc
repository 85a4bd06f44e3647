#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/present.h"
#include "cli/run_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace weft::cli {
namespace {

/// Help with usage lines of our own: the parser does not know what stands behind the options of run and submit.
class UsageOf final : public CLI::Formatter {
 public:
  explicit UsageOf(std::string one, std::string other = {}) : one_(std::move(one)), other_(std::move(other)) {}

  std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    std::string text = fmt::format("Usage: {} {}\n", name, one_);
    if (!other_.empty()) text += fmt::format("       {} {}\n", name, other_);
    return text;
  }

 private:
  std::string one_;
  std::string other_;
};

void add_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("-G,--gpus", options.gpus, "GPUs for each task")->type_name("N");
  app.add_option("--gpu", options.gpu_model, "GPU model; H100 is any H100-…")->type_name("MODEL");
  app.add_option("-c,--cpus", options.cpus, "CPUs for each task; 0.5 is half of one")->type_name("N");
  app.add_option("-m,--mem", options.memory, "memory for each task, as 8Gi or 500M")->type_name("SIZE");
  app.add_option("-N,--count", options.tasks, "equal tasks that start together")->type_name("N");
  app.add_option("-t,--time", options.time, "the job is stopped after this long, as 90m or 1-12:00:00")
      ->type_name("TIME");
  app.add_option("--grace", options.grace, "time between TERM and KILL when it is stopped (10s)")->type_name("TIME");
  app.add_option("-J,--name", options.name, "a name for people")->type_name("NAME");
  app.add_option("-q,--queue", options.queue, "queue (default)")->type_name("QUEUE");
  app.add_option("-p,--priority", options.priority, "larger goes first (50)")->type_name("N");
  app.add_option("--gpu-bind", options.gpu_bind, "a task sees the GPUs of its 'job' (default) or of its 'task' only")
      ->type_name("job|task");
  app.add_option("-D,--directory", options.directory, "working directory (here)")->type_name("DIR");
  app.add_option("-o,--output", options.output, "output file; %j job, %x name, %t task")->type_name("FILE");
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
  CLI::App* run = app.add_subcommand("run", "Run a command as a job and wait for it: weft run -G 1 -- python train.py");
  run->formatter(std::make_shared<UsageOf>("[OPTIONS] [--] command [arguments...]"));
  const auto run_options = std::make_shared<JobOptions>();
  add_job_options(*run, *run_options);
  run->prefix_command();
  run->callback([run, run_options, &tail, &exit_status] {
    auto words = command_words(*run, tail);
    exit_status = words ? run_command(*run_options, std::move(*words)) : report(words.error());
  });

  CLI::App* submit = app.add_subcommand("submit",
                                        "Queue a script or a command as a job: weft submit -G 2 train.sh; lines '#WEFT "
                                        "--gpus 2' in the script count too");
  submit->formatter(
      std::make_shared<UsageOf>("[OPTIONS] script [arguments...]", "[OPTIONS] -- command [arguments...]"));
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
