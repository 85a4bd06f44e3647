#include "base/printable.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "cli/simulate_options.h"
#include "sim/report/run_csv.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

namespace weft::cli {

namespace {

/// Prints why, in one line whatever names it holds.
int stop(const char* command, const Error& error) {
  std::fflush(stdout);
  say(fmt::format("weft: {}: {}\n", command, printable(error.message)));
  return error.code == ErrorCode::kInvalidInput || error.code == ErrorCode::kNotFound ? kUsage : kFailure;
}

void tell_notes(const SimulatedRun& run, const sim::TraceNotes& notes) {
  if (notes.skipped == 0) return;
  say(fmt::format("weft: {}: {} {} left out; the first: {}\n", printable(run.trace),
                  format_count(static_cast<int64_t>(notes.skipped)),
                  notes.skipped == 1 ? "bad row was" : "bad rows were", printable(notes.first_skipped)));
}

bool is_stdout_taken(const SimulateOptions& options) {
  return std::ranges::any_of(options.outputs(), [](const NamedFile& output) { return output.path == "-"; });
}

Result<void> write_jobs(const std::string& path, const sim::RunOutcome& outcome) {
  std::string text;
  const Result<void> made = sim::write_jobs_csv(outcome, [&](std::string_view part) {
    text += part;
    return Result<void>();
  });
  return made ? write_output(path, text) : made;
}

// ---- simulate

int run_simulate(const SimulateOptions& options) {
  if (Result<void> checked = check_outputs(options.outputs(), options.inputs()); !checked)
    return stop("simulate", checked.error());
  const Result<std::vector<SimulatedRun>> runs = make_runs(options, options.html ? WantsSpans::kYes : WantsSpans::kNo);
  if (!runs) return stop("simulate", runs.error());
  if (runs->size() != 1)
    return stop("simulate", {ErrorCode::kInvalidInput, "--policy: several are for weft compare; one is expected"});
  ProgressLine line("jobs");
  sim::TraceNotes notes;
  const Result<sim::RunOutcome> outcome =
      play(runs->front(), [&](const sim::RunProgress& now) { line.show(now.jobs_ended, now.jobs_come); }, notes);
  line.clear();
  if (!outcome) return stop("simulate", outcome.error());
  tell_notes(runs->front(), notes);
  const sim::RunReport report = sim::make_run_report(*outcome);
  if (!is_stdout_taken(options)) fmt::print("{}", sim::run_text(report));
  Result<void> written;
  if (options.jobs_csv) written = write_jobs(*options.jobs_csv, *outcome);
  if (written && options.json) written = write_output(*options.json, sim::run_json(report));
  if (written && options.html) written = write_output(*options.html, sim::run_html({&report, 1}));
  return written ? kSuccess : stop("simulate", written.error());
}

// ---- compare

/// Plays all runs on so many threads. The reports come in the order of the runs whatever ends first; of several errors
/// the first run's is told.
Result<std::vector<sim::RunReport>> play_all(const std::vector<SimulatedRun>& runs, unsigned threads,
                                             ProgressLine& line) {
  std::vector<Result<sim::RunReport>> reports(runs.size(), fail(ErrorCode::kUnavailable, "not run"));
  std::vector<sim::TraceNotes> notes(runs.size());
  std::atomic<size_t> next{0};
  std::mutex shown;
  size_t done = 0;
  line.show(0, runs.size());
  const auto work = [&] {
    for (size_t i = next++; i < runs.size(); i = next++) {
      const Result<sim::RunOutcome> outcome = play(runs[i], {}, notes[i]);
      if (outcome) {
        reports[i] = sim::make_run_report(*outcome, sim::picture_limits(runs.size()));
      } else {
        reports[i] = std::unexpected(outcome.error());
      }
      const std::lock_guard lock(shown);
      line.show(++done, runs.size());
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned t = 1; t < std::min<size_t>(threads, runs.size()); ++t) workers.emplace_back(work);
  work();
  workers.clear();
  line.clear();
  std::vector<sim::RunReport> all;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!reports[i]) return std::unexpected(reports[i].error());
    tell_notes(runs[i], notes[i]);
    all.push_back(std::move(*reports[i]));
  }
  return all;
}

int run_compare(const SimulateOptions& options) {
  if (Result<void> checked = check_outputs(options.outputs(), options.inputs()); !checked)
    return stop("compare", checked.error());
  const Result<std::vector<SimulatedRun>> runs = make_runs(options, options.html ? WantsSpans::kYes : WantsSpans::kNo);
  if (!runs) return stop("compare", runs.error());
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  if (options.threads) {
    const auto parsed = parse_integer(*options.threads, 1, 1024);
    if (!parsed) return stop("compare", {ErrorCode::kInvalidInput, "--threads: " + parsed.error().message});
    threads = static_cast<unsigned>(*parsed);
  }
  ProgressLine line("runs");
  const Result<std::vector<sim::RunReport>> reports = play_all(*runs, threads, line);
  if (!reports) return stop("compare", reports.error());
  if (!is_stdout_taken(options)) fmt::print("{}", sim::comparison_text(*reports));
  Result<void> written;
  if (options.json) written = write_output(*options.json, sim::comparison_json(*reports));
  if (written && options.html) written = write_output(*options.html, sim::run_html(*reports));
  return written ? kSuccess : stop("compare", written.error());
}

}  // namespace

void add_simulate_commands(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* simulate = app.add_subcommand("simulate", "Play a trace of jobs through the scheduler");
  set_place(*simulate, kSimulationGroup, "weft simulate trace.csv --cluster 8x8 --policy srtf --html run.html");
  simulate->add_option("TRACE", options->traces, "the trace: a file, or the folder of its tables")
      ->required()
      ->expected(1)
      ->type_name("");
  add_simulate_options(*simulate, *options);
  simulate->add_option("--jobs-csv", options->jobs_csv, "write a row per job as CSV ('-': to standard output)")
      ->type_name("FILE");
  simulate->callback([options, &exit_status] { exit_status = run_simulate(*options); });

  auto several = std::make_shared<SimulateOptions>();
  CLI::App* compare = app.add_subcommand("compare", "Play traces under several policies, side by side");
  set_place(*compare, kSimulationGroup,
            "weft compare trace.csv --cluster 8x8 --policy fifo,srtf,2d-las --html runs.html");
  compare->add_option("TRACE", several->traces, "the traces")->required()->type_name("");
  add_simulate_options(*compare, *several);
  compare->add_option("--threads", several->threads, "runs at one time (one per core); results do not depend on it")
      ->type_name("N");
  compare->callback([several, &exit_status] { exit_status = run_compare(*several); });
}

}  // namespace weft::cli
