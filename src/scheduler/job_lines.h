#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "base/units.h"
#include "model/verdict.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

enum class LineId : uint32_t {};
enum class EntryId : uint32_t {};

inline constexpr int32_t kWholeGang = -1;

/// Where a job stands among those of its line: smaller goes first; equal ones go by JobId.
struct LineKey {
  int64_t rank = 0;
  int64_t turn = 0;
  auto operator<=>(const LineKey&) const = default;
};

/// Jobs that ask for the same thing, first come first: what one of them cannot get, none of them can.
struct Line {
  enum class State : uint8_t {
    kIdle,    ///< nobody stands in it, nothing is remembered
    kAwake,   ///< its first job is to be tried
    kAsleep,  ///< it was tried; `verdict` says why not and what could change it
  };

  ShapeId shape = kNone<ShapeId>;
  QueueId queue = kNone<QueueId>;
  int32_t role = kWholeGang;   ///< of a job whose tasks start one by one, or of a gang's surplus: the role
  uint8_t is_surplus = 0;      ///< of gangs that run, and want more tasks
  JobId owner = kNone<JobId>;  ///< set: one job's own line, because where its running tasks are bounds what it lacks
  State state = State::kIdle;
  uint8_t is_retry = 0;   ///< awake only because nodes changed: it can be answered by looking at those nodes
  uint8_t is_judged = 0;  ///< `is_never` was worked out for `judged_version`
  uint8_t is_never = 0;   ///< no placement even in an empty and healthy cluster
  uint64_t judged_version = 0;
  EntryId root = kNone<EntryId>;
  EntryId first = kNone<EntryId>;
  EntryId last = kNone<EntryId>;
  uint32_t size = 0;
  uint32_t list_position = 0;  ///< in the list of the awake, or of the sleepers of its mask
  Verdict verdict;             ///< asleep: why
};

/// Who stands in which line. A line is a treap over its entries in order of (LineKey, JobId), linked through arrays:
/// joining at the end O(1) expected, elsewhere and leaving O(log n) expected. A job that is put back keeps its place. A
/// job can stand in several lines (one per role when its tasks start one by one), once in each.
///
/// Invariants: a line is idle exactly when it is empty; awake() lists exactly the lines that are awake; every asleep
/// line is in the list of the sleepers of its verdict's mask.
class JobLines {
 public:
  JobLines();

  /// Lines are made once per shape (role kWholeGang, or one for each role) and live for ever; own lines are used again.
  LineId line_of_shape(ShapeId shape, QueueId queue, int32_t role);
  /// For the owner alone, else as `like` (a copy: lines move when one is opened).
  LineId open_own_line(JobId owner, Line like);

  void resize_jobs(size_t jobs) { first_entry_.resize(jobs, kNone<EntryId>); }

  /// Requires: the job is not in the line. An idle line wakes.
  void join(JobId job, LineKey key, LineId line);
  /// Requires: the entry is the job's. The last to leave makes the line idle; an own line is given up.
  void leave(JobId job, EntryId entry);
  void leave_all(JobId job);
  /// The job's place in a line for that role (its shape's or its own); kNone: it stands in none.
  EntryId find(JobId job, int32_t role) const;
  EntryId first_entry(JobId job) const { return first_entry_[index(job)]; }
  EntryId next_entry(EntryId entry) const { return entries_[index(entry)].next_of_job; }
  LineId line_of(EntryId entry) const { return entries_[index(entry)].line; }
  JobId job_of(EntryId entry) const { return entries_[index(entry)].job; }
  LineKey key_of(EntryId entry) const { return entries_[index(entry)].key; }
  JobId head(LineId line) const { return job_of(lines_[index(line)].first); }
  /// The next in the line; kNone after the last. O(log n).
  EntryId next_in_line(EntryId entry) const;

  /// Own lines that were given up may be used again from now on; to be called when nobody holds a LineId.
  void recycle();
  /// Whoever is still awake is to be tried in full next time.
  void forget_retries();

  void wake(LineId id);
  /// Requires: the line is not empty.
  void sleep(LineId id, const Verdict& verdict);

  Line& operator[](LineId line) { return lines_[index(line)]; }
  const Line& operator[](LineId line) const { return lines_[index(line)]; }
  size_t size() const { return lines_.size(); }
  std::span<const LineId> awake() const { return awake_; }
  std::span<const LineId> sleepers(size_t mask) const { return sleepers_[mask]; }
  /// The masks that lines sleep with.
  const BitSet& sleeping_masks() const { return sleeping_masks_; }

  /// Broken invariants as text; empty when all is right.
  std::vector<std::string> audit() const;

 private:
  struct Entry {
    JobId job = kNone<JobId>;
    LineId line = kNone<LineId>;
    LineKey key;
    EntryId left = kNone<EntryId>;
    EntryId right = kNone<EntryId>;
    EntryId parent = kNone<EntryId>;
    EntryId next_of_job = kNone<EntryId>;
  };

  Entry& at(EntryId id) { return entries_[index(id)]; }
  const Entry& at(EntryId id) const { return entries_[index(id)]; }
  bool is_before(EntryId a, EntryId b) const;
  void insert(Line& line, EntryId entry);
  void erase(Line& line, EntryId entry);
  void rotate_up(Line& line, EntryId child);
  void replace_child(Line& line, EntryId parent, EntryId old_child, EntryId new_child);
  EntryId previous_in_line(EntryId entry) const;
  void unlist(LineId id);
  static size_t mask_of(const Line& line) { return line.verdict.wakes_on & (kMasks - 1); }
  std::vector<LineId>& list_of(const Line& line);
  LineId new_line();

  std::vector<Entry> entries_;
  std::vector<EntryId> free_entries_;
  std::vector<EntryId> first_entry_;  ///< by JobId
  std::vector<Line> lines_;
  std::vector<LineId> free_lines_;
  std::vector<LineId> given_up_;                     ///< own lines that a pass may still name
  std::vector<std::vector<LineId>> lines_of_shape_;  ///< by ShapeId, then role + 1
  static constexpr size_t kMasks = size_t{1} << 7;
  std::vector<LineId> awake_;
  std::vector<std::vector<LineId>> sleepers_;  ///< by WakeMask
  BitSet sleeping_masks_;
};

}  // namespace weft
