#pragma once

#include "base/result.h"
#include "store/database.h"
#include "store/journal.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weft::store {

/// Reads a journal, also one that is still being written: as it stood when the reading began. Trusts nothing in it.
class JournalReader {
 public:
  /// Error: the file cannot be read, is no journal, is one of a newer weft, or is damaged; one line with its name.
  static Result<std::unique_ptr<JournalReader>> open(const std::string& path);

  const JournalHead& head() const { return head_; }
  /// Nothing: the run had not ended.
  const std::optional<JournalEnd>& end() const { return end_; }
  /// Calls that there are.
  uint64_t call_count() const { return call_count_; }

  enum class Step : uint8_t { kCall, kEnd };
  /// The next call into `call` (its memory is used again). Error: what is wrong with it, by its number.
  Result<Step> next(RecordedCall& call);

 private:
  explicit JournalReader(Database database) : database_(std::move(database)) {}
  Result<void> check_is_journal();
  Result<void> read_meta();
  Result<void> read_facts();
  Result<void> begin();
  Result<void> read_call(RecordedCall& call);
  Result<Step> check_end();
  std::unexpected<Error> damaged(std::string_view what) const;

  Database database_;
  std::optional<Statement> select_;
  JournalHead head_;
  std::optional<JournalEnd> end_;
  uint64_t call_count_ = 0;
  JournalEnd read_;  ///< totals of what was read
  Instant last_at_;
};

}  // namespace weft::store
