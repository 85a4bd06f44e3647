#pragma once

#include "base/result.h"
#include "model/decision.h"
#include "store/database.h"
#include "store/journal.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::store {

class JournalFile;

/// Writes the journal of one run: all that its core is told, in order, and what it decided. One SQLite file, see
/// docs/adr/0010. Used by one thread. Cost of a record: its bytes, and some microseconds with kLive.
class JournalWriter {
 public:
  enum class Keep : uint8_t {
    kWhole,  ///< for runs that can be run again: written as PATH.unfinished, some thousand calls at a time, and takes
             ///< the place of PATH in finish(); without it nothing stays, except where the program is killed
    kLive,   ///< for servers: PATH itself, which must not be there, or be empty; every call is safe from a kill (not
             ///< from a power failure, which may take the last ones) when record() returns
  };
  /// Error: the file cannot be made; kLive: it is there; kWhole: another program is writing it.
  static Result<std::unique_ptr<JournalWriter>> create(const std::string& path, Keep keep, const JournalHead& head);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  /// `hash`: the core's, after the call. After an error nothing more can be recorded.
  Result<void> record(CallKind kind, std::span<const Event> events, const Decisions& decisions, uint64_t hash);
  /// The same of calls that decide nothing.
  Result<void> record_tasks(std::span<const ExpectedTask> tasks);
  Result<void> record_try_everybody();

  /// The run has ended. `wall_start_ms`: where it became known while it ran.
  Result<void> finish(std::optional<int64_t> wall_start_ms = std::nullopt);

  const JournalEnd& totals() const { return totals_; }

 private:
  JournalWriter(std::unique_ptr<JournalFile> file, Keep keep, Database database);
  Result<void> write_head(const JournalHead& head);
  Result<void> put_meta(std::string_view name, int64_t value);
  /// Writes the call whose `told_` and `decided_` are ready.
  Result<void> write(CallKind kind, uint64_t hash);
  Result<void> commit();

  std::unique_ptr<JournalFile> file_;
  Keep keep_;
  std::optional<Database> database_;  ///< nothing: it is finished
  std::optional<Statement> insert_;
  JournalEnd totals_;
  Instant now_;
  uint32_t open_calls_ = 0;  ///< of the present transaction
  std::string told_;
  std::string decided_;
  std::vector<RecordedDecision> decisions_;
};

}  // namespace weft::store
