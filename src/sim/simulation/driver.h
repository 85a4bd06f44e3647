#pragma once

#include "base/result.h"
#include "base/rng.h"
#include "model/event.h"
#include "scheduler/scheduler.h"
#include "sim/simulation/job_mapping.h"
#include "sim/simulation/outcome.h"
#include "sim/simulation/places.h"
#include "sim/simulation/run_clock.h"
#include "sim/simulation/sample_series.h"
#include "sim/simulation/simulation.h"

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace weft::sim {

/// One run: the events of the trace, the clock of its jobs, and an engine that does at once what it is told.
class Driver {
 public:
  Driver(TraceReader& trace, const RunPlan& plan, const PolicyPlan& policy, std::unique_ptr<Scheduler> core,
         const RunListeners& listeners);
  Result<RunOutcome> run();

 private:
  struct Ending {
    Instant at;
    uint64_t start = 0;  ///< number of the start that it ends: earlier ones end first
    JobId job = kNone<JobId>;
    bool operator>(const Ending& other) const { return at != other.at ? at > other.at : start > other.start; }
  };
  /// A job in the core, by JobId.
  struct Live {
    RunClock::Work work;
    Duration told = kEndless;  ///< run time, as the core was told
    int64_t gpu_milli = 0;
    uint8_t is_left_out = 0;   ///< no cluster could run it: it is nobody's who waits
    Instant started = kNever;  ///< the present start; kNever: it does not run
    uint64_t start = 0;
    uint32_t attempt = 0;
    Instant end = kNever;
  };
  Result<void> add_cluster();
  Result<void> look_ahead();
  Result<void> take_arrivals(Instant now);
  enum class Room : uint8_t { kPossible, kNever };
  Result<Room> check_possible(const TraceJob& job, const JobSpec& spec);
  /// The next end that will come as it stands; what was to end otherwise is thrown away. Null: nothing runs.
  const Ending* first_ending();
  Instant next_instant(Instant now);
  bool is_round(Instant now) const;
  Instant round_from(Instant at) const;
  void take_endings(Instant now);
  void pass_event(Instant now);
  /// Tells the core, and those who listen.
  Result<const Decisions*> tell(CoreCall call, std::span<const Event> events);
  Result<void> cycle(Instant now);
  void answer(const Decisions& decisions, Instant now);
  void on_start(const Decision& decision, Instant now);
  void on_stop(const Decision& decision, Instant now);
  void on_end(const Decision& decision, Instant now);
  /// The job's present start is over.
  void leave(JobId job, Instant now);
  bool keeps_places() const;
  int64_t speed_of(JobId job) const;
  void note_neighbours(JobId job);
  void settle_speeds(Instant now);
  bool reports_left() const;
  void report_left(JobId job, Instant now, std::vector<Event>& into) const;
  void report_drifting(Instant now);
  void note_drift(JobId job, Instant now);
  void measure_fragments(Instant now);
  void sample(Instant now);
  void tell_progress(Instant now) const;
  void finish(RunOutcome& out);
  Duration told_run_time(const TraceJob& job, Duration run_time);
  void set_end(JobId job, Instant end);

  TraceReader& trace_;
  const RunPlan& plan_;
  const RunListeners& listeners_;
  PolicyPlan policy_;
  std::unique_ptr<Scheduler> core_;
  JobMapping mapping_;
  RunClock clock_;
  Rng random_;  // of estimates

  TraceJob next_;  ///< the trace's next job
  uint8_t has_next_ = 0;
  std::vector<Live> live_;
  std::vector<JobId> running_;  ///< Muri's rules only, in order of their starts
  std::vector<Ending>
      endings_;  ///< a heap, the earliest first; entries of starts that were stopped stay and mean nothing
  std::vector<Event> arrivals_;  ///< specs are used again
  size_t lent_ = 0;              ///< of arrivals_, at the end of events_
  std::vector<Event> events_;
  std::vector<Event> answers_;
  Places places_;
  std::vector<std::string> networks_;  ///< by JobId; for models of speed
  std::vector<JobId> disturbed_;       ///< their neighbours have changed
  std::vector<JobId> drifting_;        ///< they run, and not by the second
  uint8_t is_waiting_for_round_ = 0;   ///< the core has heard something that it has not decided on
  /// What decides whether the cluster could ever run a job: those that have been asked for.
  using Demand =
      std::tuple<int32_t, int32_t, int32_t, uint8_t, int64_t, int64_t, std::vector<std::string>, std::string>;
  std::map<Demand, Room, std::less<>> checked_;  ///< what was asked for, and whether an empty cluster could hold it
  uint64_t starts_ = 0;
  RunOutcome out_;
  SampleSeries samples_;
  uint64_t samples_since_measured_ = 0;
  double fragment_milli_ = std::numeric_limits<double>::quiet_NaN();
  int64_t used_milli_ = 0;
  int64_t pending_milli_ = 0;
  uint32_t running_count_ = 0;
  uint32_t pending_count_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace weft::sim
