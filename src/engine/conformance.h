#pragma once

#include "engine/engine.h"
#include "model/decision.h"
#include "model/event.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// What the tasks of a job do once they run.
enum class TaskBehaviour : uint8_t {
  kRunsUntilStopped,
  kEndsWell,
  kFails,
};

/// An engine with a world around it that the conformance suite can set up. One harness per case.
class EngineHarness {
 public:
  virtual ~EngineHarness() = default;
  virtual Engine& engine() = 0;
  /// Makes the job known to the engine before the first command about it.
  virtual void describe_job(JobId job, int32_t task_count, TaskBehaviour behaviour) = 0;
  /// A place for each of the job's tasks; jobs of different ids must not share devices. Each task has one whole device.
  virtual std::vector<TaskPlacement> places(JobId job, int32_t task_count) = 0;
  /// Lets the world go on until the engine has something to say. False where nothing more is going to happen; must not
  /// block for ever.
  virtual bool wait() = 0;
};

/// One rule of the contract.
struct ConformanceCase {
  std::string_view name;                         ///< a sentence
  std::string (*check)(EngineHarness& harness);  ///< empty: the engine keeps the rule; else what it did
};

/// All rules that hold for every engine. For tests only: call each with a fresh harness.
std::span<const ConformanceCase> conformance_cases();

}  // namespace weft
