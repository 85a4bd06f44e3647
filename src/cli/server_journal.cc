#include "cli/server_journal.h"

#include "base/text.h"
#include "service/version.h"

#include <fmt/format.h>

namespace weft::cli {

Result<void> ServerJournal::open(const ApplicationOptions& options, const NodeSpec& node, int64_t wall_start_ms) {
  if (!options.journal) return {};
  std::string scores;
  for (const WeightedScore& score : options.policy.node_scores) scores += (scores.empty() ? "" : " ") + score.name;
  auto writer = store::JournalWriter::create(*options.journal, store::JournalWriter::Keep::kLive,
                                             {.weft_version = std::string(service::kVersion),
                                              .command = "serve",
                                              .facts = {{"machine", machine_text(node)}, {"policy", scores}},
                                              .policy = options.policy,
                                              .wall_start_ms = wall_start_ms});
  if (!writer) return fail(writer.error().code, "--journal: " + writer.error().message);
  writer_ = std::move(*writer);
  return {};
}

Result<void> ServerJournal::record(std::span<const Event> events, const Decisions& decisions, uint64_t hash) {
  if (!writer_) return {};
  const auto recorded = writer_->record(store::CallKind::kApply, events, decisions, hash);
  if (recorded) return {};
  const auto whole = static_cast<int64_t>(writer_->totals().calls) - 1;
  writer_.reset();
  return fail(recorded.error().code,
              fmt::format("the journal ends here, after {} calls: {}", format_count(whole), recorded.error().message));
}

Result<void> ServerJournal::finish() { return writer_ ? writer_->finish() : Result<void>(); }

}  // namespace weft::cli
