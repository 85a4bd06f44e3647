#pragma once

#include "base/result.h"
#include "cli/simulate_options.h"
#include "sim/replay/journal_recorder.h"
#include "sim/simulation/simulation.h"
#include "store/journal_writer.h"

#include <memory>
#include <optional>
#include <string>

namespace weft::cli {

/// The journal of a simulated run, where --journal asks for one; else nothing.
class RunJournal {
 public:
  /// Error: it cannot be written, said before the run begins.
  Result<void> open(const std::optional<std::string>& path, const SimulatedRun& run);
  void listen(sim::RunListeners& listeners);
  /// Puts it in its place. Without it, nothing of it stays.
  Result<void> finish(const sim::TraceNotes& notes);

 private:
  std::unique_ptr<store::JournalWriter> writer_;
  std::optional<sim::JournalRecorder> recorder_;
};

}  // namespace weft::cli
