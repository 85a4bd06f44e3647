#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "sim/simulation/plan.h"
#include "sim/simulation/speed.h"
#include "sim/trace/trace_job.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::sim {

/// How a job's work goes on while it runs, stops and starts again. All times are wall time of the simulated cluster.
///
/// Native rules: a start costs `restart_cost` without progress (the first does not), work goes on at the speed of the
/// place, a stop loses what was done since the last checkpoint. Muri's: at every event each running job that does not
/// end there loses the overhead of its model; the time between two events that is left is progress.
class RunClock {
 public:
  explicit RunClock(const RunPlan& plan)
      : rules_(plan.rules), restart_cost_(plan.restart_cost), every_(plan.checkpoint_every) {}

  /// A job's work in one of its starts.
  struct Work {
    Duration left{0};        ///< of its run time, as of the last checkpoint that counts: of the present start's begin
    Duration overhead{0};    ///< of Muri's rules, at every event
    Duration delay{0};       ///< of the present start: what is still to pass before work goes on
    Duration done{0};        ///< of `left`, in the present start up to `since`
    Duration lost{0};        ///< wall time without progress so far: delays, and work that a stop threw away
    Instant since = kNever;  ///< the present start, last change of speed or last event (Muri); kNever: it does not run
    int64_t speed_ppm = kFullSpeed;
    uint32_t starts = 0;
  };

  Work admit(const TraceJob& job, Duration run_time) const;
  /// Returns when it will end if nothing comes between.
  Instant start(Work& work, Instant now, int64_t speed_ppm = kFullSpeed) const;
  /// It goes on at another speed. Returns when it will end now.
  Instant change_speed(Work& work, Instant now, int64_t speed_ppm) const;
  void stop(Work& work, Instant now) const;
  /// It has done all that was left.
  void end(Work& work, Instant now) const;
  /// Muri: an event at which the job goes on. Returns when it will end now.
  Instant pass_event(Work& work, Instant now) const;
  /// Work that is left at `now`, in run time, whatever a stop would lose.
  static Duration left_at(Work work, Instant now);
  /// Whether not every second that passes now is a second of its run time.
  static bool drifts(const Work& work, Instant now) {
    return work.speed_ppm != kFullSpeed || now < work.since + work.delay;
  }
  bool passes_events() const { return rules_ == Rules::kMuri; }

 private:
  /// Counts what has passed since `since`.
  static void pass(Work& work, Instant now);
  static Duration time_for(Duration work, int64_t speed_ppm);
  static Instant end_of(const Work& work);

  Rules rules_;
  Duration restart_cost_;
  Duration every_;
};

/// The run time of a job, and its submission, by the rules: rounded to whole seconds (Tiresias: submissions down, run
/// times to the nearest, halves to even), or iterations x iteration time x 1.015 (Muri).
Duration run_time_by(Rules rules, const TraceJob& job);
Instant submit_by(Rules rules, const TraceJob& job);

/// What a start of a model costs by Muri's measurements, in seconds; 0 for a model that they do not name.
Duration muri_overhead(std::string_view model, int64_t gpus);

}  // namespace weft::sim
