#include "cli/run_journal.h"

#include "service/version.h"

#include <fmt/format.h>

namespace weft::cli {

Result<void> RunJournal::open(const std::optional<std::string>& path, const SimulatedRun& run) {
  if (!path) return {};
  if (*path == "-")
    return fail(ErrorCode::kInvalidInput, "--journal: a file is expected; a journal cannot go to standard output");
  const Result<store::JournalHead> head = sim::journal_head(run.plan, run.trace, service::kVersion);
  if (!head) return std::unexpected(head.error());
  auto writer = store::JournalWriter::create(*path, store::JournalWriter::Keep::kWhole, *head);
  if (!writer) return fail(writer.error().code, fmt::format("--journal: {}", writer.error().message));
  writer_ = std::move(*writer);
  recorder_.emplace(*writer_);
  return {};
}

void RunJournal::listen(sim::RunListeners& listeners) {
  if (recorder_) listeners.observers.push_back(&*recorder_);
}

Result<void> RunJournal::finish(const sim::TraceNotes& notes) {
  if (!writer_) return {};
  return writer_->finish(notes.epoch > 0 ? std::optional(notes.epoch * 1000) : std::nullopt);
}

}  // namespace weft::cli
