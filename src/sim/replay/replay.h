#pragma once

#include "base/result.h"
#include "scheduler/scheduler.h"
#include "store/journal.h"
#include "store/journal_reader.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::sim {

/// A decision and its number since the start of the run, from 1.
struct NumberedDecision {
  uint64_t number = 0;
  store::RecordedDecision decision;
};
using OnDecision = std::function<void(const NumberedDecision&)>;

/// Where a replay was not what was recorded.
struct ReplayDifference {
  uint64_t call = 0;
  Instant at;
  uint64_t decision = 0;  ///< the first that differs, counted as NumberedDecision
  std::string recorded;   ///< in words; "nothing" where the other has one decision more
  std::string found;
};

/// A fresh core that hears once more what a journal's core was told, call by call, and is compared with it after each.
/// Only what was told goes in: questions, which a run may have asked besides, change no decision.
class Replay {
 public:
  /// Error: as JournalReader::open(); a policy that this weft does not have.
  static Result<std::unique_ptr<Replay>> open(const std::string& path);

  const store::JournalReader& journal() const { return *journal_; }
  Scheduler& core() { return *core_; }
  /// What was played so far.
  const store::JournalEnd& totals() const { return totals_; }
  /// The core's present; before the first call 0.
  Instant now() const { return core_->now(); }

  /// The call that play() would play; null at the end.
  const store::RecordedCall* upcoming() const { return has_next_ != 0 ? &next_ : nullptr; }
  /// Plays one call. Requires: upcoming() and no difference(). Error: the call after it is damaged.
  Result<void> play();
  /// Once there is one the replay is over: core() is in a state that the run never was in.
  const std::optional<ReplayDifference>& difference() const { return difference_; }

  /// Told of every decision that is played from now on.
  void set_on_decision(OnDecision on_decision) { on_decision_ = std::move(on_decision); }
  /// The last decisions that were played, oldest first; at most kDecisionsKept.
  const std::deque<NumberedDecision>& last_decisions() const { return last_; }
  static constexpr size_t kDecisionsKept = 8;
  /// The next ones as they were recorded, at most `count`. Nothing can be played afterwards.
  Result<std::vector<NumberedDecision>> read_ahead(size_t count);

  /// Of any job that has come so far (or been read ahead of); empty for others.
  const std::string& job_name(JobId job) const;
  /// "job 17", or "job 17 (train)" where it has a name of its own.
  std::string job_text(JobId job) const;
  /// "hold job 17 (train), attempt 2: n0:0-3 n1:0".
  std::string text(const store::RecordedDecision& decision);

 private:
  Replay(std::unique_ptr<store::JournalReader> journal, std::unique_ptr<Scheduler> core)
      : journal_(std::move(journal)), core_(std::move(core)) {}
  Result<void> read_next();
  const Decisions& tell(const store::RecordedCall& call);
  void compare();
  void learn_names(const std::vector<Event>& events);
  std::string node_text(NodeId node);

  std::unique_ptr<store::JournalReader> journal_;
  std::unique_ptr<Scheduler> core_;
  store::RecordedCall next_;
  uint8_t has_next_ = 0;
  store::JournalEnd totals_;
  std::optional<ReplayDifference> difference_;
  std::vector<store::RecordedDecision> found_;
  std::deque<NumberedDecision> last_;
  OnDecision on_decision_;
  std::vector<std::string> job_names_;   ///< by JobId
  std::vector<std::string> node_names_;  ///< by NodeId, as far as asked for
  Decisions nothing_;
};

/// Where to stop.
struct ReplayStop {
  enum class Kind : uint8_t {
    kEnd,
    kInstant,   ///< after the last call that was made by then
    kDecision,  ///< after the call that made it
  };
  Kind kind = Kind::kEnd;
  Instant at;
  uint64_t decision = 0;
};
/// Plays until there, or until a difference. Error: the journal's; a decision beyond the last one.
Result<void> play_until(Replay& replay, const ReplayStop& stop,
                        const std::function<void(uint64_t done, uint64_t all)>& progress = {});

/// The job that a name or a number means, in the whole journal: a name goes first. Reads, and plays nothing. Error:
/// there is none, or several have that name.
Result<JobId> find_job(const std::string& path, const std::string& name);

/// Devices of a mask: "0-3,6".
std::string device_ranges(DeviceMask devices);
/// They and their node: "n0:0-3,6", or "n0" without any.
std::string place_text(std::string_view node, DeviceMask devices);

}  // namespace weft::sim
