#pragma once

#include "model/event.h"
#include "scheduler/core.h"
#include "scheduler/expected_tasks.h"
#include "scheduler/lifecycle.h"

namespace weft {

/// Applies single events to the core: structure and facts to the states, answers and faults to the lifecycle, new jobs
/// to the arrivals. What is malformed, stale or given twice is counted and changes nothing; a wrong spec is told in
/// Core::errors.
class Intake {
 public:
  Intake(Core& core, Lifecycle& lifecycle, ExpectedTasks& expected)
      : core_(core), lifecycle_(lifecycle), expected_(expected) {}

  /// The clock first, with every timer that is due by then, then the event.
  void apply(const Event& event);
  /// Forgets timers that mean nothing any more, so that the first one is real.
  void drop_stale_timers();

 private:
  bool on(const Tick&) { return true; }
  bool on(const TopologyDefined& event);
  bool on(const QueueDefined& event);
  bool on(const DeviceModelDefined& event);
  bool on(const NodeAdded& event);
  bool on(const NodeDown& event);
  bool on(const NodeUp& event);
  bool on(const NodeCordoned& event);
  bool on(const NodeUncordoned& event);
  bool on(const DeviceFailed& event);
  bool on(const DeviceRecovered& event);
  bool on(const NodeLoadReported& event);
  bool on(const JobSubmitted& event);
  bool on(const JobAdopted& event);
  bool on(const JobCancelled& event);
  bool on(const JobHeld& event);
  bool on(const JobReleased& event);
  bool on(const JobScaled& event);
  bool on(const HoldAccepted& event) { return lifecycle_.on_hold_accepted(event.job, event.attempt); }
  bool on(const HoldRefused& event) { return lifecycle_.on_hold_refused(event.job, event.attempt, event.reason); }
  bool on(const GangStarted& event) { return lifecycle_.on_gang_started(event.job, event.attempt); }
  bool on(const StartFailed& event) { return lifecycle_.on_start_failed(event.job, event.attempt, event.reason); }
  bool on(const TaskEnded& event) { return lifecycle_.on_task_ended(event); }
  bool on(const GangEnded& event) { return lifecycle_.on_gang_ended(event); }
  bool on(const ProgressReported& event) { return lifecycle_.on_progress(event); }

  bool knows(NodeId node) const { return index(node) < core_.state.nodes().size(); }
  bool knows(NodeId node, unsigned device) const;
  bool is_waiting_or_running(JobId job) const { return core_.knows(job) && !core_.has_ended(job); }
  void set_now(Instant at);
  bool is_valid(const Timer& timer) const;
  void fire(const Timer& timer);
  /// The job's row and record; kNone when its spec was wrong and it was rejected.
  JobId enter(const JobSpec& spec, Instant submitted);
  void reject(const JobSpec& spec, Instant submitted, std::string why);

  Core& core_;
  Lifecycle& lifecycle_;
  ExpectedTasks& expected_;
};

}  // namespace weft
