#pragma once

#include "engine/fake/fake_engine.h"
#include "scheduler/scheduler.h"
#include "sim/scenario/progress.h"
#include "sim/scenario/scenario.h"

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft::scenario {

/// Who was disturbed for others, since the last expect.
struct Tally {
  int64_t evictions = 0;  ///< tasks
  int64_t moves = 0;      ///< tasks
  std::set<std::pair<JobIndex, TaskIndex>> evicted;
};

enum class Transcript : uint8_t { kOff, kOn };

/// The world of one scenario while it runs: the real scheduler, the fake engine, the clock. Steps tell it what happens;
/// it knows nothing of expectations.
///
/// A cycle is one run of the scheduler's ladder. Facts (what steps do, what the engine answers) reach the scheduler at
/// once, without the ladder. What a cycle commands takes effect at its end: holds are answered and gangs start there; a
/// task that was told to stop ends at the end of the next cycle, or after its grace. What is left of a job that was
/// stopped reaches the scheduler as a report of its engine.
class World {
 public:
  /// Problem: a policy, a node, a queue or a running job that the scheduler does not take. `scenario` must outlive the
  /// world.
  static std::expected<std::unique_ptr<World>, Problem> create(const Scenario& scenario, Transcript transcript);

  // What steps do. The text is empty, or says why it makes no sense now.
  void submit(uint32_t group);
  std::string finish(JobIndex job);
  std::string crash(JobIndex job, TaskIndex task);
  void cancel(JobIndex job);
  void scale(JobIndex job, int64_t tasks);
  void fault(const FaultStep& step);
  void stick(const StickStep& step);

  /// Runs one cycle. False where nothing changed and, the clock standing still, nothing will.
  bool cycle();
  /// Moves the clock; what is due on the way happens at its time. Requires: not before now().
  void advance_to(Instant to);
  Instant now() const { return engine_.now(); }
  int64_t cycle_count() const { return cycle_count_; }
  /// The next thing that happens by itself, or that time alone could change; kNever when nothing.
  Instant next_event() const;
  /// The next end of a grace, or of how long a gang below its minimum is tolerated.
  Instant next_grace_or_stale_end();

  const Scenario& scenario() const { return scenario_; }
  Scheduler& scheduler() const { return *scheduler_; }
  const FakeEngine& engine() const { return engine_; }
  /// Kept until the next change. Requires: the job was submitted.
  const JobView& view(JobIndex job);
  bool is_submitted(JobIndex job) const { return is_set(ids_[job]); }
  JobId id_of(JobIndex job) const { return ids_[job]; }
  /// Jobs in the order of their ids.
  const std::vector<JobIndex>& submitted_jobs() const { return jobs_by_id_; }
  /// The job was moved and has been placed again.
  bool is_moved(JobIndex job) const { return moved_.contains(job); }

  const Tally& tally() const { return tally_; }
  void clear_tally() { tally_ = {}; }
  /// What was decided since the last call, a line each. Only with Transcript::kOn.
  std::vector<std::string> take_transcript() { return std::exchange(transcript_, {}); }

 private:
  World(const Scenario& scenario, std::unique_ptr<Scheduler> scheduler, Transcript transcript);

  std::expected<void, Problem> set_up();
  JobSpec spec_of(const JobGroup& group, JobIndex job) const;
  void adopt(const JobGroup& group, JobIndex job, Duration by_order, std::vector<Event>& events);
  void tell_engine(const JobGroup& group, JobIndex job);
  void tell_adopted(const JobGroup& group, JobIndex job);
  void fact(EventBody body);
  /// The scheduler hears what the engine has said, and the engine what follows, until both are silent.
  bool drain();
  /// Follows how far the gangs' work comes, from what the engine says.
  void watch_progress(const Event& event);
  /// The engine and the scheduler hear what is left of the gangs that were stopped.
  void tell_progress();
  /// Since when each gang runs below its minimum.
  void watch_gangs();
  bool note(const Decisions& decisions);
  void note_stop(const Decision& decision, JobIndex job);
  void write(const Decisions& decisions, const Decision& decision);

  const Scenario& scenario_;
  std::unique_ptr<Scheduler> scheduler_;
  FakeEngine engine_{FakeEngine::StopTiming::kAfterNextCycle};
  std::vector<JobId> ids_;  ///< by JobIndex; kNone before it is submitted
  std::vector<JobIndex> jobs_by_id_;
  std::map<JobIndex, JobView> views_;  ///< of the present state
  std::vector<Instant> stale_since_;   ///< by JobIndex; kNever while its gang is whole or waits
  std::vector<Progress> progress_;     ///< by JobIndex; of gangs
  std::vector<JobIndex> stopped_;      ///< gangs whose work is to be told
  std::set<JobIndex> moving_, moved_;
  std::set<JobIndex> finished_;  ///< by a step; tasks of a loose job that waited then end as soon as they start
  Tally tally_;
  Transcript has_transcript_;
  std::vector<std::string> transcript_;
  std::vector<Event> scratch_;
  int64_t cycle_count_ = 0;
};

}  // namespace weft::scenario
