#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/placement.h"
#include "model/verdict.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

enum class DecisionKind : uint8_t {
  kAdmit,    ///< the job may wait for its turn
  kReject,   ///< a request that can never be valid: see `verdict`
  kHold,     ///< command: reserve these placements for attempt `attempt` of the job (first phase)
  kStart,    ///< command: start every task of the attempt (second phase)
  kRelease,  ///< command: give up the hold of the attempt
  kStop,     ///< command: stop the task `task` (all of the attempt's tasks: -1)
  kEnd,      ///< the job reached an end state
};

enum class StopCause : uint8_t {
  kNone,
  kCancelled,
  kPreempted,
  kReclaimed,
  kMoved,
  kShrunk,
  kNodeFault,
  kGangBroken,
  kTimeLimit
};

enum class JobState : uint8_t {
  kPending,
  kHolding,
  kStarting,
  kRunning,
  kReleasing,
  kDone,
  kFailed,
  kCancelled,
  kRejected
};
constexpr bool is_end_state(JobState s) { return s >= JobState::kDone; }

/// One decision of the core. The commands among them (kHold … kStop) carry job + attempt as their idempotency key.
struct Decision {
  Instant at;
  DecisionKind kind = DecisionKind::kAdmit;
  StopCause cause = StopCause::kNone;
  JobState end_state = JobState::kPending;  ///< kEnd
  JobId job = kNone<JobId>;
  uint32_t attempt = 0;
  int32_t task = -1;             ///< kStop
  Duration grace{0};             ///< kStop
  uint32_t first_placement = 0;  ///< kHold: range in Decisions::placements
  uint32_t placement_count = 0;
  TaskId first_task = kNone<TaskId>;  ///< kHold: the job's task 0; a placement's job-local index is its task less this
  uint32_t verdict = 0;               ///< kReject: index into Decisions::verdicts
  bool operator==(const Decision&) const = default;
};

/// What one apply() decided. Buffers are reused: views are valid until the next apply().
struct Decisions {
  std::vector<Decision> list;
  std::vector<TaskPlacement> placements;
  std::vector<Verdict> verdicts;

  void clear() {
    list.clear();
    placements.clear();
    verdicts.clear();
  }
  std::span<const TaskPlacement> placements_of(const Decision& d) const {
    return std::span(placements).subspan(d.first_placement, d.placement_count);
  }
};

}  // namespace weft
