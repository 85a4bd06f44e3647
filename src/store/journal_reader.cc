#include "store/journal_reader.h"

#include "base/printable.h"
#include "base/text.h"
#include "store/check_sum.h"
#include "store/codec.h"
#include "store/schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::store {

namespace {

std::string count_text(uint64_t count) { return format_count(static_cast<int64_t>(count)); }

}  // namespace

std::unexpected<Error> JournalReader::damaged(std::string_view what) const {
  return fail(ErrorCode::kInvalidInput, fmt::format("{}: is damaged: {}", printable(database_.path()), what));
}

Result<std::unique_ptr<JournalReader>> JournalReader::open(const std::string& path) {
  Result<Database> database = Database::open(path, Database::Access::kRead);
  if (!database) return std::unexpected(database.error());
  std::unique_ptr<JournalReader> reader(new JournalReader(std::move(*database)));
  // One transaction for all that is read: another program may go on writing meanwhile.
  if (const Result<void> begun = reader->database_.run("BEGIN"); !begun) return std::unexpected(begun.error());
  using Part = Result<void> (JournalReader::*)();
  for (const Part part : {&JournalReader::check_is_journal, &JournalReader::read_meta, &JournalReader::read_facts,
                          &JournalReader::begin}) {
    if (const Result<void> read = (*reader.*part)(); !read) return std::unexpected(read.error());
  }
  return reader;
}

Result<void> JournalReader::check_is_journal() {
  const Result<int64_t> application = database_.integer("PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  const Result<int64_t> form = database_.integer("PRAGMA user_version");
  if (!form) return std::unexpected(form.error());
  const std::string name = printable(database_.path());
  if (*application != kApplicationId)
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: is no journal of weft", name));
  if (*form > kSchemaVersion) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: was written by a newer weft: its form is {}, and this one reads forms up to {}", name,
                            *form, kSchemaVersion));
  }
  if (*form < 1) return damaged("it has no form");
  return {};
}

Result<void> JournalReader::read_meta() {
  Result<Statement> meta = database_.prepare("SELECT name, value FROM meta");
  if (!meta) return std::unexpected(meta.error());
  std::optional<uint64_t> calls, events, decisions, hash;
  std::optional<Result<PolicyConfig>> policy;
  uint8_t names = 0;
  for (;;) {
    const Statement::Step step = meta->step();
    if (step == Statement::Step::kFailed) return std::unexpected(database_.last_error());
    if (step == Statement::Step::kDone) break;
    const std::string name(meta->bytes(0));
    const auto number = static_cast<uint64_t>(meta->integer(1));
    const auto take = [&](std::string_view wanted, std::optional<uint64_t>& into) {
      if (name == wanted && meta->is_integer(1)) into = number;
    };
    take("end_calls", calls);
    take("end_events", events);
    take("end_decisions", decisions);
    take("end_hash", hash);
    if (name == "wall_start_ms" && meta->is_integer(1)) head_.wall_start_ms = meta->integer(1);
    if (name == "policy") policy = decode_policy(meta->bytes(1));
    if (name == "weft") head_.weft_version = printable(std::string(meta->bytes(1))), ++names;
    if (name == "command") head_.command = printable(std::string(meta->bytes(1))), ++names;
  }
  if (names != 2 || !policy) return damaged("it does not say what was run");
  if (!*policy) return damaged("the policy: " + policy->error().message);
  head_.policy = std::move(**policy);
  if (calls && events && decisions && hash)
    end_ = JournalEnd{.calls = *calls, .events = *events, .decisions = *decisions, .decision_hash = *hash};
  return {};
}

Result<void> JournalReader::read_facts() {
  Result<Statement> facts = database_.prepare("SELECT name, value FROM facts ORDER BY number");
  if (!facts) return std::unexpected(facts.error());
  for (;;) {
    const Statement::Step step = facts->step();
    if (step == Statement::Step::kFailed) return std::unexpected(database_.last_error());
    if (step == Statement::Step::kDone) return {};
    std::string name(facts->bytes(0));  // one at a time: reading the second may move the first
    head_.facts.emplace_back(std::move(name), std::string(facts->bytes(1)));
  }
}

Result<void> JournalReader::begin() {
  const Result<int64_t> last = database_.integer("SELECT coalesce(max(number), 0) FROM calls");
  if (!last) return std::unexpected(last.error());
  call_count_ = static_cast<uint64_t>(std::max<int64_t>(0, *last));
  Result<Statement> select = database_.prepare(
      "SELECT number, at, kind, told, decided, decisions, hash, check_sum FROM calls ORDER BY number");
  if (!select) return std::unexpected(select.error());
  select_ = std::move(*select);
  return {};
}

Result<JournalReader::Step> JournalReader::next(RecordedCall& call) {
  switch (select_->step()) {
    case Statement::Step::kFailed: return std::unexpected(database_.last_error());
    case Statement::Step::kDone: return check_end();
    case Statement::Step::kRow: break;
  }
  if (const Result<void> read = read_call(call); !read) return std::unexpected(read.error());
  return Step::kCall;
}

Result<void> JournalReader::read_call(RecordedCall& call) {
  const Statement& row = *select_;
  const uint64_t expected = read_.calls + 1;
  const auto wrong = [&](std::string_view what) {
    return damaged(fmt::format("call {}: {}", count_text(expected), what));
  };
  for (const int column : {0, 1, 2, 5, 6, 7}) {
    if (!row.is_integer(column)) return wrong("a number is none");
  }
  if (!row.is_blob(3) || !row.is_blob(4)) return wrong("what was told or decided is missing");
  if (static_cast<uint64_t>(row.integer(0)) != expected) return wrong("it is missing");
  const CallRow columns{.number = expected,
                        .at = row.integer(1),
                        .kind = row.integer(2),
                        .told = row.bytes(3),
                        .decided = row.bytes(4),
                        .decisions = static_cast<uint64_t>(row.integer(5)),
                        .hash = static_cast<uint64_t>(row.integer(6))};
  if (row.integer(7) != check_sum_of(columns)) return wrong("its check sum is another");
  if (columns.kind < 0 || columns.kind > static_cast<int64_t>(CallKind::kTryEverybody)) return wrong("an unknown kind");
  call.number = expected;
  call.at = Instant{columns.at};
  call.kind = static_cast<CallKind>(columns.kind);
  call.decision_count = columns.decisions;
  call.decision_hash = columns.hash;
  if (call.at < last_at_ || call.at >= kNever) return wrong("time runs backwards");
  last_at_ = call.at;
  const bool has_events = call.kind == CallKind::kApply || call.kind == CallKind::kAbsorb;
  if (!has_events) call.events.clear();
  call.tasks.clear();
  if (has_events) {
    if (const Result<void> told = decode_events(columns.told, call.at, call.events); !told)
      return wrong("its events: " + told.error().message);
  } else if (call.kind == CallKind::kExpectTasks) {
    if (const Result<void> told = decode_tasks(columns.told, call.tasks); !told)
      return wrong("its tasks: " + told.error().message);
  }
  call.decisions.clear();
  if (!columns.decided.empty()) {
    if (const Result<void> decided = decode_decisions(columns.decided, call.at, call.decisions); !decided)
      return wrong("its decisions: " + decided.error().message);
  }
  read_.decisions += call.decisions.size();
  if (read_.decisions != call.decision_count) return wrong("its decisions are not as many as it says");
  ++read_.calls;
  read_.events += call.events.size();
  read_.decision_hash = call.decision_hash;
  return {};
}

Result<JournalReader::Step> JournalReader::check_end() {
  if (end_ && read_ != *end_) {
    return damaged(fmt::format("it holds {} calls, and had {} when it was finished", count_text(read_.calls),
                               count_text(end_->calls)));
  }
  return Step::kEnd;
}

}  // namespace weft::store
