#pragma once

#include "base/hash.h"
#include "base/ids.h"
#include "base/units.h"
#include "model/decision.h"

#include <cstdint>
#include <span>

namespace weft {

/// A kStop as it is to be logged.
struct StopOrder {
  JobId job = kNone<JobId>;
  uint32_t attempt = 0;
  int32_t task = -1;  ///< job-local index; -1: every task of the attempt
  StopCause cause = StopCause::kNone;
  Duration grace{0};
};

/// The decisions of the present apply() and the running hash over all since the start. The hash covers every field that
/// means something (placements and verdicts by value, not by their place in the buffers), so that two runs that decide
/// the same have the same hash on any machine. No allocation once the buffers have grown.
class DecisionLog {
 public:
  /// Empties the buffers; the hash goes on.
  void begin();
  /// The time that following decisions carry.
  void set_now(Instant now) { now_ = now; }

  void admit(JobId job);
  void reject(JobId job, const Verdict& verdict);
  /// `first_task` is the job's task 0: a placement's job-local index is its task less this.
  void hold(JobId job, uint32_t attempt, TaskId first_task, std::span<const TaskPlacement> placements);
  void start(JobId job, uint32_t attempt);
  void release(JobId job, uint32_t attempt);
  void stop(const StopOrder& order);
  void end(JobId job, JobState end_state);

  const Decisions& decisions() const { return decisions_; }
  uint64_t hash() const { return hash_.value(); }
  uint64_t count() const { return count_; }

 private:
  void append(const Decision& decision);

  Decisions decisions_;
  RunningHash hash_;
  uint64_t count_ = 0;
  Instant now_;
};

}  // namespace weft
