#pragma once

#include "base/units.h"
#include "model/event.h"
#include "model/expected_task.h"
#include "model/policy.h"
#include "store/recorded_decision.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::store {

/// What a journal tells of the run that it is of.
struct JournalHead {
  std::string weft_version;
  std::string command;                                     ///< "simulate", "serve"
  std::vector<std::pair<std::string, std::string>> facts;  ///< for people: {"trace", "jobs.csv"}, …
  PolicyConfig policy;
  std::optional<int64_t> wall_start_ms;  ///< Unix time of Instant{0}, where the run has one
  bool operator==(const JournalHead&) const = default;
};

/// How a run ended: the totals of its journal.
struct JournalEnd {
  uint64_t calls = 0;
  uint64_t events = 0;
  uint64_t decisions = 0;
  uint64_t decision_hash = 0;
  bool operator==(const JournalEnd&) const = default;
};

/// How the core was told something: Scheduler's functions of these names.
enum class CallKind : uint8_t { kApply, kAbsorb, kExpectTasks, kTryEverybody };

/// One call as it was recorded.
struct RecordedCall {
  uint64_t number = 0;  ///< from 1
  Instant at;           ///< the core's present after it
  CallKind kind = CallKind::kApply;
  std::vector<Event> events;                ///< kApply, kAbsorb
  std::vector<ExpectedTask> tasks;          ///< kExpectTasks
  std::vector<RecordedDecision> decisions;  ///< of this call
  uint64_t decision_count = 0;              ///< since the start, with this call's
  uint64_t decision_hash = 0;
};

}  // namespace weft::store
