#pragma once

#include "base/ids.h"

#include <cstdint>
#include <vector>

namespace weft {

enum class AttemptId : uint32_t {};

/// How far a start has come with the engine. An attempt is never seen in a phase before its own.
enum class AttemptPhase : uint8_t {
  kWaiting,   ///< what it is to get is still being released by others: no command was given yet
  kHolding,   ///< kHold was given, no answer yet
  kStarting,  ///< kStart was given, no answer yet: tasks may run
  kRunning,   ///< the engine said that every task runs
};

/// Tasks of one job that are started together under one number: a gang, or one task of a job without gang.
struct Attempt {
  JobId job = kNone<JobId>;
  uint32_t number = 0;
  AttemptPhase phase = AttemptPhase::kHolding;
  int32_t only_task = -1;             ///< job-local index where it is one task; -1: those whose attempt number says so
  uint32_t live = 0;                  ///< tasks that still hold something
  uint32_t waits_for = 0;             ///< tasks of others that must go first, in phase kWaiting
  AttemptId next = kNone<AttemptId>;  ///< of the job, in order of number
  AttemptId previous = kNone<AttemptId>;
};

/// The live attempts of all jobs. Found by (job, number) in O(1); rows are used again, so nothing is allocated after
/// warm-up.
class AttemptTable {
 public:
  /// Makes room for ids below `jobs`.
  void resize(size_t jobs) { ends_.resize(jobs); }

  /// Requires: the job has no live attempt of this number, and none of a larger one.
  AttemptId add(JobId job, uint32_t number, int32_t only_task, uint32_t live);
  void remove(AttemptId id);
  /// kNone: no live attempt has that number.
  AttemptId find(JobId job, uint32_t number) const;

  Attempt& operator[](AttemptId id) { return rows_[index(id)]; }
  const Attempt& operator[](AttemptId id) const { return rows_[index(id)]; }
  AttemptId first(JobId job) const { return ends_[index(job)].first; }
  size_t size() const { return size_; }

 private:
  struct Ends {
    AttemptId first = kNone<AttemptId>;
    AttemptId last = kNone<AttemptId>;
  };

  size_t home_of(JobId job, uint32_t number) const;
  void grow();
  void link(AttemptId id);
  void unlink(AttemptId id);

  std::vector<Attempt> rows_;
  std::vector<AttemptId> free_rows_;
  std::vector<Ends> ends_;        ///< by JobId
  std::vector<AttemptId> slots_;  ///< open addressing, a power of two, at most half full; never iterated
  size_t size_ = 0;
};

}  // namespace weft
