#pragma once

#include "base/result.h"
#include "cli/application.h"
#include "model/decision.h"
#include "model/event.h"
#include "store/journal_writer.h"

#include <cstdint>
#include <memory>
#include <span>

namespace weft::cli {

/// The journal of a server, where --journal asks for one; else nothing. A journal that cannot be written any more ends,
/// and the server goes on without: its jobs matter more than the record.
class ServerJournal {
 public:
  /// Error: the file is there already, or cannot be made.
  Result<void> open(const ApplicationOptions& options, const NodeSpec& node, int64_t wall_start_ms);
  /// One apply(), before the engine carries out what was decided: what happened is on record whatever comes of it.
  /// Error: it ends here; said once.
  Result<void> record(std::span<const Event> events, const Decisions& decisions, uint64_t hash);
  Result<void> finish();

 private:
  std::unique_ptr<store::JournalWriter> writer_;
};

}  // namespace weft::cli
