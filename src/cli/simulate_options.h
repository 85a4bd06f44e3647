#pragma once

#include "base/result.h"
#include "cli/output_file.h"
#include "sim/report/run_report.h"
#include "sim/simulation/simulation.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace weft::cli {

/// What `simulate` and `compare` take alike, as written.
struct SimulateOptions {
  std::vector<std::string> traces;
  std::string format = "auto";
  std::string cluster;
  std::vector<std::string> policies{"default"};
  std::string placement;
  std::string rules = "auto";
  std::string estimates = "oracle";
  std::string restart_cost = "0";
  std::string checkpoint_every = "0";
  std::string round = "0";
  std::optional<std::string> speeds;
  std::optional<std::string> history;  ///< a trace
  std::string seed = "0";
  bool skips_bad_rows = false;
  std::optional<std::string> jobs_csv, json, html, journal;
  std::optional<std::string> threads;
  std::optional<std::string> explain;  ///< the job, as the trace calls it

  std::vector<NamedFile> outputs() const;
  std::vector<NamedFile> inputs() const;
};

void add_simulate_options(CLI::App& command, SimulateOptions& options);

/// One run and where its jobs come from.
struct SimulatedRun {
  std::string trace;
  sim::TraceOptions reading;
  sim::RunPlan plan;
  /// The trace, opened and not read, for the first run that plays it: a pipe can be read only once.
  std::shared_ptr<sim::TraceReader> opened;
};
enum class WantsSpans : uint8_t { kNo, kYes };
/// The runs that the options name, trace by trace, policy by policy; every trace has been opened once. Errors: one
/// line.
Result<std::vector<SimulatedRun>> make_runs(const SimulateOptions& options, WantsSpans wants_spans);

/// Plays the run, once. `notes`: what reading found.
Result<sim::RunOutcome> play(const SimulatedRun& run, const sim::RunListeners& listeners, sim::TraceNotes& notes);

}  // namespace weft::cli
