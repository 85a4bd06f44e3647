#pragma once

#include "base/bits.h"
#include "policy/victim/victim_cost.h"
#include "scheduler/core.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// What can be taken from a job at once: a task above its minimum, or all that it holds. A task that started alone is a
/// gang of one.
struct Unit {
  JobId job = kNone<JobId>;
  QueueId queue = kNone<QueueId>;
  uint8_t is_surplus = 0;
  uint8_t must_land = 0;  ///< it may be moved only
  int32_t priority = 0;
  int64_t cost = 0;
  Instant started = kNever;
  uint32_t first = 0;  ///< of Units::tasks()
  uint32_t count = 0;
};

/// For whom room is made, and why.
struct Taker {
  JobId job = kNone<JobId>;
  int32_t priority = 0;
  uint8_t is_surplus = 0;  ///< it runs, and wants more than its minimum
};

/// What is against taking a job's tasks.
enum class Taking : uint8_t {
  kPreempt,  ///< inside one queue, for a higher priority
  kReclaim,  ///< by another queue
  kMove,     ///< it runs on elsewhere
};

/// Everything that could be taken, one unit after another; a gang's surplus comes before its minimum, and the units of
/// one job together are all that it holds.
class Units {
 public:
  explicit Units(const Core& core) : core_(core) {}

  void clear();
  /// Adds what the jobs of the queue could give to the taker, in no order.
  void add_queue(QueueId queue, const Taker& taker, Taking taking);
  /// Adds the jobs of the queue that run whole, to be moved, where they are not among the others.
  void add_movable(QueueId queue, const Taker& taker);
  /// Those that are given up first come first: surplus, lower priority, lower cost, started last; then those to be
  /// moved.
  void sort();

  /// When the first minimum run time ends that kept a job out; kNever: none did.
  Instant first_protection_end() const { return first_protection_end_; }

  size_t size() const { return units_.size(); }
  const Unit& operator[](size_t unit) const { return units_[unit]; }
  std::span<const TaskId> tasks(const Unit& unit) const {
    return std::span<const TaskId>(tasks_).subspan(unit.first, unit.count);
  }
  static bool goes_before(const Unit& a, const Unit& b);

 private:
  void add_job(JobId job, const Taker& taker, Taking taking);
  void add_surplus(JobId job);
  enum class Kind : uint8_t { kSurplus, kWhole, kMovable };
  void add_unit(JobId job, std::span<const TaskId> tasks, Kind kind);
  bool may_be_taken(JobId job, Taking taking);
  Instant protected_until(JobId job, Taking taking) const;
  VictimKey key_of(JobId job, std::span<const TaskId> tasks) const;

  const Core& core_;
  std::vector<Unit> units_;
  std::vector<TaskId> tasks_;
  BitSet is_listed_;  ///< by JobId: it has a unit
  Instant first_protection_end_ = kNever;
  std::vector<TaskId> held_;     ///< scratch: of one job
  std::vector<TaskId> surplus_;  ///< scratch
  std::vector<RoleCounts> counts_;
};

}  // namespace weft
