#include "store/journal_writer.h"

#include "base/check.h"
#include "base/printable.h"
#include "store/check_sum.h"
#include "store/codec.h"
#include "store/journal_file.h"
#include "store/schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::store {

namespace {

/// Enough that the work of a commit is lost among that of the calls.
constexpr uint32_t kCallsPerCommit = 4096;

/// Of runs that can be run again nobody waits for the disk.
const char* sync_setting(JournalWriter::Keep keep) {
  return keep == JournalWriter::Keep::kWhole ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = NORMAL";
}

}  // namespace

JournalWriter::JournalWriter(std::unique_ptr<JournalFile> file, Keep keep, Database database)
    : file_(std::move(file)), keep_(keep), database_(std::move(database)) {}

JournalWriter::~JournalWriter() {
  insert_.reset();
  const bool is_unfinished = database_.has_value();
  database_.reset();
  if (is_unfinished && keep_ == Keep::kWhole) file_->remove();
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::create(const std::string& path, Keep keep,
                                                             const JournalHead& head) {
  Result<std::unique_ptr<JournalFile>> file = keep == Keep::kWhole ? JournalFile::beside(path) : JournalFile::at(path);
  if (!file) return std::unexpected(file.error());
  Result<Database> database = Database::open((*file)->path(), Database::Access::kWrite);
  if (!database) return std::unexpected(database.error());
  std::unique_ptr<JournalWriter> writer(new JournalWriter(std::move(*file), keep, std::move(*database)));
  if (const Result<void> set = writer->database_->run(sync_setting(keep)); !set) return std::unexpected(set.error());
  // The tables stand in the file itself, not only in the log beside it: a file alone says what it is.
  if (const Result<void> made = migrate(*writer->database_); !made) return std::unexpected(made.error());
  if (const Result<void> written = writer->write_head(head); !written) return std::unexpected(written.error());
  // With a log what was committed is safe from a kill, and others can read meanwhile.
  if (const Result<void> set = writer->database_->run("PRAGMA journal_mode = WAL"); !set)
    return std::unexpected(set.error());
  Result<Statement> insert = writer->database_->prepare("INSERT INTO calls VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  if (!insert) return std::unexpected(insert.error());
  writer->insert_ = std::move(*insert);
  return writer;
}

Result<void> JournalWriter::write_head(const JournalHead& head) {
  std::string policy;
  encode_policy(head.policy, policy);
  if (const Result<void> begun = database_->run("BEGIN"); !begun) return begun;
  Result<Statement> meta = database_->prepare("INSERT INTO meta VALUES (?1, ?2)");
  if (!meta) return std::unexpected(meta.error());
  const auto put = [&](std::string_view name, auto bind_value) {
    meta->reset();
    meta->bind_text(1, name);
    bind_value();
    return meta->step() == Statement::Step::kDone;
  };
  if (!put("weft", [&] { meta->bind_text(2, head.weft_version); }) ||
      !put("command", [&] { meta->bind_text(2, head.command); }) || !put("policy", [&] { meta->bind_blob(2, policy); }))
    return std::unexpected(database_->last_error());
  Result<Statement> fact = database_->prepare("INSERT INTO facts (name, value) VALUES (?1, ?2)");
  if (!fact) return std::unexpected(fact.error());
  for (const auto& [name, value] : head.facts) {
    fact->reset();
    fact->bind_text(1, name);
    fact->bind_text(2, value);
    if (fact->step() != Statement::Step::kDone) return std::unexpected(database_->last_error());
  }
  if (head.wall_start_ms) {
    if (const Result<void> told = put_meta("wall_start_ms", *head.wall_start_ms); !told) return told;
  }
  meta->reset();
  fact->reset();
  return database_->run("COMMIT");
}

Result<void> JournalWriter::put_meta(std::string_view name, int64_t value) {
  Result<Statement> meta = database_->prepare("INSERT OR REPLACE INTO meta VALUES (?1, ?2)");
  if (!meta) return std::unexpected(meta.error());
  meta->bind_text(1, name);
  meta->bind(2, value);
  if (meta->step() != Statement::Step::kDone) return std::unexpected(database_->last_error());
  return {};
}

// ---- Calls

Result<void> JournalWriter::record(CallKind kind, std::span<const Event> events, const Decisions& decisions,
                                   uint64_t hash) {
  WEFT_CHECK(kind == CallKind::kApply || kind == CallKind::kAbsorb, "these are the calls that take events");
  for (const Event& event : events) {
    if (event.at < kNever) now_ = std::max(now_, event.at);  // as the core does
  }
  totals_.events += events.size();
  totals_.decisions += decisions.list.size();
  told_.clear();
  encode_events(events, now_, told_);
  decided_.clear();
  if (!decisions.list.empty()) {
    record_decisions(decisions, decisions_);
    encode_decisions(decisions_, now_, decided_);
  }
  return write(kind, hash);
}

Result<void> JournalWriter::record_tasks(std::span<const ExpectedTask> tasks) {
  told_.clear();
  encode_tasks(tasks, told_);
  decided_.clear();
  return write(CallKind::kExpectTasks, totals_.decision_hash);
}

Result<void> JournalWriter::record_try_everybody() {
  told_.clear();
  decided_.clear();
  return write(CallKind::kTryEverybody, totals_.decision_hash);
}

Result<void> JournalWriter::write(CallKind kind, uint64_t hash) {
  WEFT_CHECK(database_.has_value(), "nothing is recorded after the end");
  if (keep_ == Keep::kWhole && open_calls_ == 0) {
    if (const Result<void> begun = database_->run("BEGIN"); !begun) return begun;
  }
  ++totals_.calls;
  totals_.decision_hash = hash;
  const CallRow row{.number = totals_.calls,
                    .at = now_.ns,
                    .kind = static_cast<int64_t>(kind),
                    .told = told_,
                    .decided = decided_,
                    .decisions = totals_.decisions,
                    .hash = hash};
  insert_->bind(1, static_cast<int64_t>(row.number));
  insert_->bind(2, row.at);
  insert_->bind(3, row.kind);
  insert_->bind_blob(4, row.told);
  insert_->bind_blob(5, row.decided);
  insert_->bind(6, static_cast<int64_t>(row.decisions));
  insert_->bind(7, static_cast<int64_t>(row.hash));
  insert_->bind(8, check_sum_of(row));
  const Statement::Step step = insert_->step();
  const Error error = step == Statement::Step::kDone ? Error{} : database_->last_error();
  insert_->reset();
  if (step != Statement::Step::kDone) return std::unexpected(error);
  return keep_ == Keep::kWhole && ++open_calls_ >= kCallsPerCommit ? commit() : Result<void>();
}

Result<void> JournalWriter::commit() {
  if (open_calls_ == 0) return {};
  open_calls_ = 0;
  return database_->run("COMMIT");
}

// ---- The end

Result<void> JournalWriter::finish(std::optional<int64_t> wall_start_ms) {
  WEFT_CHECK(database_.has_value(), "a journal is finished once");
  if (Result<void> written = commit(); !written) return written;
  if (Result<void> begun = database_->run("BEGIN"); !begun) return begun;
  for (const auto& [name, value] : {std::pair{"end_calls", totals_.calls},
                                    {"end_events", totals_.events},
                                    {"end_decisions", totals_.decisions},
                                    {"end_hash", totals_.decision_hash}}) {
    if (Result<void> put = put_meta(name, static_cast<int64_t>(value)); !put) return put;
  }
  if (wall_start_ms) {
    if (Result<void> put = put_meta("wall_start_ms", *wall_start_ms); !put) return put;
  }
  if (Result<void> ended = database_->run("COMMIT"); !ended) return ended;
  // One plain file without a log beside it, which can be read from anywhere.
  insert_.reset();
  const Result<void> folded = database_->run("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = DELETE;");
  const bool is_plain = folded && database_->is_without_log();
  if (keep_ == Keep::kWhole && !is_plain)
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: cannot take its place: another program reads it", printable(file_->path())));
  database_.reset();
  return keep_ == Keep::kWhole ? file_->take_place() : Result<void>();
}

}  // namespace weft::store
