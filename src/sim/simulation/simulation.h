#pragma once

#include "base/result.h"
#include "model/decision.h"
#include "model/event.h"
#include "sim/simulation/outcome.h"
#include "sim/simulation/plan.h"
#include "sim/trace/trace_reader.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace weft {
class Scheduler;
}

namespace weft::sim {

/// What a run tells while it goes on.
struct RunProgress {
  uint64_t jobs_come = 0;
  uint64_t jobs_ended = 0;
  uint64_t jobs_expected = 0;  ///< in all, about; 0: nobody can tell
  Instant now;
};
using OnRunProgress = std::function<void(const RunProgress&)>;

/// How the core was given events: see Scheduler::apply() and absorb().
enum class CoreCall : uint8_t { kApply, kAbsorb };

/// Hears all that a run tells the core and all that it answers, in order, the cluster's own events first: for journals
/// and stories of jobs.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// `core` has decided; its views show the state after it. It is not to be changed. Error: the run ends with it.
  virtual Result<void> on_call(CoreCall call, std::span<const Event> events, const Decisions& decisions,
                               Scheduler& core) = 0;
};

/// Who listens to a run.
struct RunListeners {
  OnRunProgress progress;
  std::vector<RunObserver*> observers;
};

/// Plays a trace through the core: a discrete-event driver that keeps no opinion of its own. Time is integer
/// nanoseconds from the trace's epoch. At one instant the core hears, in this order: what is left of the jobs that run
/// (where the rules report it), ends in the order in which the jobs were started, arrivals in the order of the trace;
/// then the engine's answers until nothing is open. The cluster is there before the first job.
///
/// Errors: the trace's own; a policy or placement that does not exist; a job that the cluster could never run ("GPUs
/// beyond the cluster"), by its id.
Result<RunOutcome> simulate(TraceReader& trace, const RunPlan& plan, const RunListeners& listeners = {});

}  // namespace weft::sim
