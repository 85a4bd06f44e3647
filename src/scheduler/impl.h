#pragma once

#include "placement/fragmentation.h"
#include "scheduler/core.h"
#include "scheduler/expected_tasks.h"
#include "scheduler/intake.h"
#include "scheduler/lifecycle.h"
#include "scheduler/rung.h"
#include "scheduler/scheduler.h"

#include <memory>
#include <span>
#include <vector>

namespace weft {

enum class Ladder : uint8_t { kNotNow, kRun };

/// What is behind the facade: the core, and the parts that work on it.
struct Scheduler::Impl {
  explicit Impl(PolicyParts parts);

  const Decisions& take(std::span<const Event> events, Ladder run);
  void climb();
  /// Tells the placers what tasks to expect: when the driver has said so, and each time the tasks seen have doubled.
  void refresh_scores();
  FragmentationView measure();

  Core core;
  Lifecycle lifecycle{core};
  ExpectedTasks expected;
  Intake intake{core, lifecycle, expected};
  static constexpr size_t kQuietRungs = 2;  ///< that disturb nobody: admit, and place or elect
  std::vector<std::unique_ptr<Rung>> ladder;
  FragmentationMeter meter;
  uint64_t meter_version = 0;   ///< of `expected`, as the meter knows it
  uint64_t scores_version = 0;  ///< and as the placers do
  uint64_t scores_seen = 0;
};

}  // namespace weft
