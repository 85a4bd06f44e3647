#include "base/printable.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/moment_text.h"
#include "cli/output_file.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "cli/replay_text.h"
#include "sim/replay/moment.h"
#include "sim/replay/replay.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>

namespace weft::cli {

namespace {

struct ReplayOptions {
  std::string journal;
  std::optional<std::string> at, decision, job, json;
  std::string rows = "20";
  bool lists_decisions = false;

  std::vector<NamedFile> outputs() const {
    return json ? std::vector<NamedFile>{{"--json", *json}} : std::vector<NamedFile>{};
  }
};

std::unexpected<Error> wrong(std::string message) { return fail(ErrorCode::kInvalidInput, std::move(message)); }

/// Where to stop, and whether anybody wants to look there.
struct Wanted {
  sim::ReplayStop stop;
  std::optional<JobId> job;
  size_t rows = 0;
};

Result<sim::ReplayStop> stop_of(const ReplayOptions& options, const store::JournalHead& head) {
  using Kind = sim::ReplayStop::Kind;
  if (options.at && options.decision) return wrong("--at and --decision: one of them is expected");
  if (options.decision) {
    const Result<int64_t> number = parse_integer(*options.decision, 1, std::numeric_limits<int64_t>::max());
    if (!number) return wrong("--decision: " + number.error().message);
    return sim::ReplayStop{.kind = Kind::kDecision, .at = {}, .decision = static_cast<uint64_t>(*number)};
  }
  if (!options.at || *options.at == "end") return sim::ReplayStop{};
  const Result<Instant> at = parse_moment(*options.at, head);
  if (!at) return std::unexpected(at.error());
  return sim::ReplayStop{.kind = Kind::kInstant, .at = *at};
}

Result<Wanted> read_options(const ReplayOptions& options, const store::JournalHead& head) {
  Wanted wanted;
  const Result<sim::ReplayStop> stop = stop_of(options, head);
  if (!stop) return std::unexpected(stop.error());
  wanted.stop = *stop;
  const Result<int64_t> rows = parse_integer(options.rows, 1, 1'000'000'000);
  if (!rows) return wrong("--rows: " + rows.error().message);
  wanted.rows = static_cast<size_t>(*rows);
  if (options.job) {
    const Result<JobId> job = sim::find_job(options.journal, *options.job);
    if (!job) return wrong("--job: " + job.error().message);
    wanted.job = *job;
  }
  return wanted;
}

/// What the run had decided about the jobs that are asked about, and what is there at the end.
class Session {
 public:
  Session(const ReplayOptions& options, const Wanted& wanted, sim::Replay& replay)
      : options_(options), wanted_(wanted), replay_(replay), prints_(!takes_standard_output(options.outputs())) {}

  int run();

 private:
  bool wants_moment() const { return (options_.at || options_.decision) && !options_.job && !options_.lists_decisions; }
  void note(const sim::NumberedDecision& numbered);
  Result<void> play();
  int differ();
  int show();
  Result<void> write(const sim::Moment* moment, const JobView* job);

  const ReplayOptions& options_;
  const Wanted& wanted_;
  sim::Replay& replay_;
  bool prints_;
  std::vector<sim::NumberedDecision> noted_;
};

void Session::note(const sim::NumberedDecision& numbered) {
  if (wanted_.job && numbered.decision.job != *wanted_.job) return;
  if (options_.json || !options_.lists_decisions) noted_.push_back(numbered);
  if (options_.lists_decisions && prints_) fmt::print("{}", decision_line(replay_, numbered));
}

Result<void> Session::play() {
  ProgressLine line("calls");
  if (options_.lists_decisions || options_.job)
    replay_.set_on_decision([this](const sim::NumberedDecision& numbered) { note(numbered); });
  const Result<void> played =
      sim::play_until(replay_, wanted_.stop, [&](uint64_t done, uint64_t all) { line.show(done, all); });
  line.clear();
  return played;
}

Result<void> Session::write(const sim::Moment* moment, const JobView* job) {
  if (!options_.json) return {};
  return write_output(*options_.json, sim::replay_json({.path = options_.journal,
                                                        .replay = replay_,
                                                        .moment = moment,
                                                        .job = job,
                                                        .decisions = noted_.empty() ? nullptr : &noted_}));
}

int Session::differ() {
  if (const Result<void> written = write(nullptr, nullptr); !written) return report("replay", written.error());
  const std::string what = difference_text(replay_.journal().head(), *replay_.difference());
  return report("replay", Error{ErrorCode::kConflict,
                                fmt::format("{}: not the same as recorded: {}", printable(options_.journal), what)});
}

int Session::show() {
  std::optional<sim::Moment> moment;
  std::optional<JobView> job;
  std::string text = options_.lists_decisions ? "" : head_text(options_.journal, replay_.journal().head());
  if (wanted_.job) {
    if (index(*wanted_.job) >= replay_.core().job_count())
      return report("replay",
                    Error{ErrorCode::kInvalidInput, fmt::format("--job: {} had not come by {}", quote(*options_.job),
                                                                instant_text(replay_.now()))});
    job = replay_.core().job(*wanted_.job);
  }
  if (wants_moment()) {
    const size_t jobs_max = options_.json ? std::numeric_limits<size_t>::max() : wanted_.rows;
    Result<sim::Moment> taken = sim::take_moment(replay_, wanted_.stop, {.jobs = jobs_max});
    if (!taken) return report("replay", taken.error());
    moment = std::move(*taken);
    text += moment_tables(replay_, *moment, wanted_.rows);
  }
  if (job && !options_.lists_decisions) text += job_text(replay_, *job, noted_, wanted_.rows);
  if (!options_.lists_decisions) text += wants_moment() || job ? "\n" : "";
  if (prints_) fmt::print("{}{}", text, options_.lists_decisions ? "" : result_text(replay_));
  const Result<void> written = write(moment ? &*moment : nullptr, job ? &*job : nullptr);
  return written ? kSuccess : report("replay", written.error());
}

int Session::run() {
  if (const Result<void> played = play(); !played) return report("replay", played.error());
  return replay_.difference() ? differ() : show();
}

int run_replay(const ReplayOptions& options) {
  if (Result<void> checked = check_outputs(options.outputs(), {{"JOURNAL", options.journal}}); !checked)
    return report("replay", checked.error());
  const Result<std::unique_ptr<sim::Replay>> replay = sim::Replay::open(options.journal);
  if (!replay) return report("replay", replay.error());
  const Result<Wanted> wanted = read_options(options, (*replay)->journal().head());
  if (!wanted) return report("replay", wanted.error());
  return Session(options, *wanted, **replay).run();
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay", "Play a journal again, and look at any moment of it");
  set_place(*command, kSimulationGroup,
            "weft simulate trace.csv --cluster 8x8 --journal run.journal\n  weft replay run.journal\n  weft replay "
            "run.journal --at 3h20m");
  command->add_option("JOURNAL", options->journal, "what --journal of 'weft simulate' or 'weft serve' wrote")
      ->required()
      ->type_name("");
  command
      ->add_option("--at", options->at,
                   "stop there and show the state: a time since the start (3h20m), a moment ('2025-03-01 14:05') where "
                   "the run has such, or 'end'")
      ->type_name("TIME");
  command->add_option("--decision", options->decision, "stop after the decision of this number, and show the state")
      ->type_name("N");
  command->add_option("--job", options->job, "show this job there, by its name or number")->type_name("JOB");
  command->add_flag("--decisions", options->lists_decisions,
                    "list every decision up to there; with --job those about it");
  command->add_option("--rows", options->rows, "of each table at most (20)")->type_name("N");
  command->add_option("--json", options->json, "write the same as JSON ('-': to standard output)")->type_name("FILE");
  command->callback([options, &exit_status] { exit_status = run_replay(*options); });
}

}  // namespace weft::cli
