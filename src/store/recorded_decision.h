#pragma once

#include "model/decision.h"

#include <vector>

namespace weft::store {

/// Where tasks of a hold go: neighbours on one node are one place.
struct RecordedPlace {
  NodeId node = kNone<NodeId>;
  DeviceMask devices = 0;
  bool operator==(const RecordedPlace&) const = default;
};

/// A decision as a journal keeps it: what people ask about. Amounts (CPUs, memory, charges) are left out; the running
/// hash covers those.
struct RecordedDecision {
  Instant at;
  DecisionKind kind = DecisionKind::kAdmit;
  StopCause cause = StopCause::kNone;       ///< kStop
  JobState end_state = JobState::kPending;  ///< kEnd, kReject
  JobId job = kNone<JobId>;
  uint32_t attempt = 0;
  int32_t task = -1;  ///< kStop; -1: every task of the attempt
  Duration grace{0};  ///< kStop
  std::vector<RecordedPlace> places;
  bool operator==(const RecordedDecision&) const = default;
};

/// `out` is used again.
void record_decisions(const Decisions& decisions, std::vector<RecordedDecision>& out);

}  // namespace weft::store
