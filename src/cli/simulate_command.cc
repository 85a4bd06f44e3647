#include "base/printable.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/output_file.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "cli/run_journal.h"
#include "cli/simulate_options.h"
#include "sim/report/run_csv.h"
#include "sim/side_by_side.h"
#include "sim/simulation/job_story.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace weft::cli {

namespace {

void tell_notes(const SimulatedRun& run, const sim::TraceNotes& notes) {
  if (notes.skipped == 0) return;
  say(fmt::format("weft: {}: {} {} left out; the first: {}\n", printable(run.trace),
                  format_count(static_cast<int64_t>(notes.skipped)),
                  notes.skipped == 1 ? "bad row was" : "bad rows were", printable(notes.first_skipped)));
}

Result<void> write_jobs(const std::string& path, const sim::RunOutcome& outcome) {
  Result<OutputFile> output = OutputFile::open(path);
  if (!output) return std::unexpected(output.error());
  const Result<void> written = sim::write_jobs_csv(outcome, [&](std::string_view part) { return output->write(part); });
  return written ? output->commit() : written;
}

// ---- simulate

Error unknown_job(const std::string& id, const sim::RunOutcome& outcome) {
  std::vector<std::string_view> ids;
  constexpr size_t kLookedAt = 100'000;
  for (size_t i = 0; i < std::min(outcome.jobs.size(), kLookedAt); ++i) ids.push_back(outcome.jobs[i].id);
  const std::string_view meant = nearest(id, ids);
  return {ErrorCode::kInvalidInput, fmt::format("--explain: the trace has no job {}{}", quote(id),
                                                meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant))};
}

int run_simulate(const SimulateOptions& options) {
  if (options.explain && takes_standard_output(options.outputs()))
    return report("simulate", Error{ErrorCode::kInvalidInput,
                                    "--explain prints to standard output, which is taken by '-'; a file is expected"});
  if (Result<void> checked = check_outputs(options.outputs(), options.inputs()); !checked)
    return report("simulate", checked.error());
  const Result<std::vector<SimulatedRun>> runs = make_runs(options, options.html ? WantsSpans::kYes : WantsSpans::kNo);
  if (!runs) return report("simulate", runs.error());
  if (runs->size() != 1)
    return report("simulate",
                  Error{ErrorCode::kInvalidInput, "--policy: several are for weft compare; one is expected"});
  RunJournal journal;
  if (const Result<void> opened = journal.open(options.journal, runs->front()); !opened)
    return report("simulate", opened.error());
  sim::JobStory story(options.explain.value_or(""));
  sim::RunListeners listeners;
  if (options.explain) listeners.observers.push_back(&story);
  journal.listen(listeners);
  ProgressLine line("jobs");
  sim::TraceNotes notes;
  listeners.progress = [&](const sim::RunProgress& now) {
    line.show(now.jobs_ended, std::max(now.jobs_come, now.jobs_expected));
  };
  const Result<sim::RunOutcome> outcome = play(runs->front(), listeners, notes);
  line.clear();
  if (!outcome) return report("simulate", outcome.error());
  if (options.explain && !story.is_begun()) return report("simulate", unknown_job(*options.explain, *outcome));
  if (const Result<void> finished = journal.finish(notes); !finished) return report("simulate", finished.error());
  tell_notes(runs->front(), notes);
  const sim::RunReport made = sim::make_run_report(*outcome);
  if (!takes_standard_output(options.outputs())) fmt::print("{}", sim::run_text(made));
  if (options.explain) fmt::print("\n{}", story.text());
  Result<void> written;
  if (options.jobs_csv) written = write_jobs(*options.jobs_csv, *outcome);
  if (written && options.json) written = write_output(*options.json, sim::run_json(made));
  if (written && options.html) written = write_output(*options.html, sim::run_html({&made, 1}));
  return written ? kSuccess : report("simulate", written.error());
}

// ---- compare

/// Plays all runs on so many threads. The reports come in the order of the runs whatever ends first; of several errors
/// the first run's is told.
Result<std::vector<sim::RunReport>> play_all(const std::vector<SimulatedRun>& runs, unsigned threads,
                                             ProgressLine& line) {
  std::vector<sim::RunReport> reports(runs.size());
  std::vector<Error> errors(runs.size());
  std::vector<sim::TraceNotes> notes(runs.size());
  const auto work = [&](size_t i) {
    const Result<sim::RunOutcome> outcome = play(runs[i], {}, notes[i]);
    if (outcome) {
      reports[i] = sim::make_run_report(*outcome, sim::picture_limits(runs.size()));
    } else {
      errors[i] = outcome.error();
    }
    return outcome.has_value();
  };
  line.show(0, runs.size());
  const size_t failed =
      sim::run_side_by_side(runs.size(), threads, work, [&](size_t done, size_t all) { line.show(done, all); });
  line.clear();
  if (failed < runs.size()) return std::unexpected(errors[failed]);
  for (size_t i = 0; i < runs.size(); ++i) tell_notes(runs[i], notes[i]);
  return reports;
}

int run_compare(const SimulateOptions& options) {
  if (Result<void> checked = check_outputs(options.outputs(), options.inputs()); !checked)
    return report("compare", checked.error());
  const Result<std::vector<SimulatedRun>> runs = make_runs(options, options.html ? WantsSpans::kYes : WantsSpans::kNo);
  if (!runs) return report("compare", runs.error());
  const Result<unsigned> threads = parse_threads("--threads", options.threads);
  if (!threads) return report("compare", threads.error());
  ProgressLine line("runs");
  const Result<std::vector<sim::RunReport>> reports = play_all(*runs, *threads, line);
  if (!reports) return report("compare", reports.error());
  if (!takes_standard_output(options.outputs())) fmt::print("{}", sim::comparison_text(*reports));
  Result<void> written;
  if (options.json) written = write_output(*options.json, sim::comparison_json(*reports));
  if (written && options.html) written = write_output(*options.html, sim::run_html(*reports));
  return written ? kSuccess : report("compare", written.error());
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
  simulate->add_option("--explain", options->explain, "print the whole story of one job, with reasons")
      ->type_name("JOB");
  simulate->add_option("--journal", options->journal, "write all that happened, for weft replay")->type_name("FILE");
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
