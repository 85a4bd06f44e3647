#pragma once

#include "sim/simulation/simulation.h"
#include "store/journal_writer.h"

#include <string>

namespace weft::sim {

/// Writes all that a simulated run tells the core into a journal.
class JournalRecorder final : public RunObserver {
 public:
  explicit JournalRecorder(store::JournalWriter& journal) : journal_(journal) {}
  Result<void> on_call(CoreCall call, std::span<const Event> events, const Decisions& decisions,
                       Scheduler& core) override;

 private:
  store::JournalWriter& journal_;
};

/// What the journal of a simulated run says of it. Error: an unknown policy or placement.
Result<store::JournalHead> journal_head(const RunPlan& plan, const std::string& trace, std::string_view weft_version);

}  // namespace weft::sim
