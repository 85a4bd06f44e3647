#pragma once

#include "base/result.h"
#include "model/decision.h"
#include "model/event.h"
#include "model/expected_task.h"
#include "model/policy.h"
#include "model/view.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// The facade of the core: a deterministic state machine. Events in, decisions out; no clock, no random numbers, no
/// I/O, no threads. The same events give the same decisions and the same hash, on any machine. One thread; everything
/// outside of the core (engines, the service, the simulator, the CLI) sees only this header and model/.
class Scheduler {
 public:
  /// Error: an unknown order or score.
  static Result<std::unique_ptr<Scheduler>> create(const PolicyConfig& config);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Applies the events in order, wakes what they could help, runs the ladder (admit, place with backfill) and returns
  /// what was decided. The result is valid until the next apply(). Malformed or stale events are ignored and counted; a
  /// job or node whose spec is wrong is rejected with a verdict (jobs) or an Error kept in last_errors() (structure).
  /// The tasks of a JobAdopted are its attempt 1: the engine's TaskEnded carries that number.
  const Decisions& apply(std::span<const Event> events);
  const Decisions& apply(const Event& event) { return apply(std::span(&event, 1)); }
  /// Takes the events in as facts and answers only what they demand by themselves (the next phase of a start, stops,
  /// ends), without running the ladder: whom they woke the next apply() looks at. For drivers whose cycles are apart
  /// from their events (scenarios).
  const Decisions& absorb(std::span<const Event> events);
  /// Forgets every "no" that is remembered: the next apply() tries everybody who waits. Never needed for correct
  /// decisions (a test compares); for operators in doubt.
  void try_everybody();
  /// What was wrong with structural events and rejected jobs of the last apply(), in order.
  const std::vector<std::string>& last_errors() const;

  /// The earliest moment at which time alone could change a decision; kNever when none.
  Instant next_timer() const;
  Instant now() const;
  /// Over every decision since the start, in order.
  uint64_t decision_hash() const;

  /// Ids that the next JobSubmitted/JobAdopted and NodeAdded will get.
  JobId next_job_id() const;
  NodeId next_node_id() const;

  /// Error: what makes the spec invalid. Yes: it could start now, and `where` says how. No: why it would wait
  /// (is_never: for good).
  Result<Verdict> what_if(const JobSpec& job, std::vector<TaskPlacement>* where = nullptr);
  std::string text(const Verdict& verdict) const;
  std::string word(const Verdict& verdict) const;

  ClusterView cluster();
  JobView job(JobId id) const;
  /// Cheap: no strings, no verdict text.
  JobState job_state(JobId id) const;
  size_t job_count() const;
  NodeView node(NodeId id) const;
  size_t node_count() const;
  QueueView queue(QueueId id) const;
  size_t queue_count() const;
  std::vector<std::string> level_names() const;
  /// The domain of a node at a level as text, empty when in none.
  std::string domain_of(NodeId node, std::string_view level) const;

  /// What fragmentation is measured against (the most popular shapes up to 95 %); until it is given, the tasks of the
  /// jobs seen so far that ask for GPUs.
  void expect_tasks(const std::vector<ExpectedTask>& tasks);
  /// Whether there is anything to measure fragmentation against; without it there are no fragments.
  bool has_expected_tasks() const;
  FragmentationView fragmentation();

  std::vector<std::string> audit() const;

 private:
  struct Impl;
  explicit Scheduler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft
