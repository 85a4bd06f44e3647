#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "engine/engine.h"
#include "model/event.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// How the jobs of a fake engine end by themselves.
enum class FakeEnding : uint8_t {
  kTogether,  ///< when one attempt's time is up, every task of the job ends well
  kEachTask,  ///< each attempt ends on its own
};

/// An engine without a world: the reference of the contract in engine/engine.h, for scenarios, the simulator and tests.
/// Deterministic; its clock is moved by its driver.
///
/// Holds are accepted and gangs start at once, unless a script says otherwise. A task that is told to stop takes its
/// whole grace; without one it is gone at once, or at the end of the next cycle where the driver counts cycles
/// (StopTiming::kAfterNextCycle).
///
/// It watches over the core as well: violations() tells of devices that were given out twice.
/// Cost: O(log attempts) per command and task; a lost node O(live tasks).
class FakeEngine final : public Engine {
 public:
  enum class StopTiming : uint8_t { kAtOnce, kAfterNextCycle };

  explicit FakeEngine(StopTiming stops = StopTiming::kAtOnce) : stop_timing_(stops) {}

  void execute(const Decisions& decisions) override;
  void poll(std::vector<Event>& out) override;
  bool has_events() const { return !events_.empty(); }

  // Time
  Instant now() const { return now_; }
  /// What is due until `to` happens, in order. Requires: not before now().
  void advance_to(Instant to);
  /// The next end of a run time or of a grace; kNever when none.
  Instant next_event() const;
  Instant next_grace_end() const;
  /// Tasks that were told to stop in an earlier cycle are gone. Only with kAfterNextCycle.
  void end_cycle();
  /// True while tasks will be gone at the end of a cycle to come.
  bool has_stops_due() const { return !stopping_.empty(); }

  // The script
  /// Jobs run for ever where this was not called.
  void set_runtime(JobId job, Duration runtime, FakeEnding ending);
  /// A fact: these tasks run already, as the given attempt, since `started`.
  void adopt(JobId job, uint32_t attempt, std::span<const std::pair<int32_t, TaskPlacement>> tasks, Instant started);
  void refuse_holds(JobId job, uint32_t times) { job_of(job).refusals = times; }
  void fail_starts(JobId job, uint32_t times) { job_of(job).start_failures = times; }
  /// Every task that runs ends well. Returns how many did.
  size_t finish(JobId job);
  /// A task (-1: every one) fails. Returns how many ran.
  size_t crash(JobId job, int32_t task, int32_t exit_status);
  /// The task does not stop when told, until it is unstuck; then as if it had been told now.
  void stick(JobId job, int32_t task) { job_of(job).stuck.insert(task); }
  void unstick(JobId job, int32_t task);
  void lose_node(NodeId node);
  void recover_node(NodeId node);
  void fail_device(NodeId node, uint8_t device) { say(DeviceFailed{node, device}); }
  void recover_device(NodeId node, uint8_t device) { say(DeviceRecovered{node, device}); }

  /// Tasks that run, those that are told to stop included.
  size_t running_count(JobId job) const;
  /// Those of one attempt that run and have not been told to stop.
  std::vector<int32_t> running_tasks(JobId job, uint32_t attempt) const;
  /// What a sound core never does, in words; empty when nothing was wrong.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Key {
    JobId job = kNone<JobId>;
    uint32_t attempt = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Task {
    int32_t index = 0;
    TaskPlacement placement;
    uint8_t is_stopping = 0;
    uint64_t stop_cycle = 0;    ///< the cycle in which it was told
    Instant stop_due = kNever;  ///< the end of its grace; kNever without one
  };
  struct Attempt {
    uint8_t is_running = 0;
    std::vector<Task> tasks;  ///< that have not ended
  };
  struct Job {
    Duration runtime = kEndless;
    FakeEnding ending = FakeEnding::kTogether;
    uint32_t refusals = 0;
    uint32_t start_failures = 0;
    uint32_t last_attempt = 0;  ///< the largest that was held
    std::set<int32_t> stuck;
  };
  struct Timer {
    Instant due;
    Key key;
    int32_t task = -1;  ///< -1: the end of the attempt's run time
    auto operator<=>(const Timer&) const = default;
  };
  /// What of a node's devices is taken.
  struct NodeUse {
    DeviceMask whole = 0;
    std::map<unsigned, int64_t> shared_milli;
  };

  Job& job_of(JobId job);
  void say(EventBody body) { events_.push_back({now_, std::move(body)}); }
  void hold(const Decision& decision, std::span<const TaskPlacement> placements);
  void start(const Decision& decision);
  void release(const Decision& decision);
  void stop(const Decision& decision);
  void told_to_stop(const Key& key, Task& task, Duration grace);
  void run(const Key& key, Attempt& attempt, Instant started);
  bool is_on_lost_node(std::span<const TaskPlacement> placements) const;
  /// The task leaves its attempt; an attempt without tasks is over.
  void end_task(const Key& key, int32_t task, TaskOutcome outcome, int32_t exit_status);
  void fire(const Timer& timer);
  /// The live attempts of a job, oldest first.
  std::vector<Key> attempts_of(JobId job) const;
  size_t end_tasks(JobId job, int32_t task, TaskOutcome outcome, int32_t exit_status);
  void occupy(const Key& key, const TaskPlacement& placement);
  void vacate(const TaskPlacement& placement);

  StopTiming stop_timing_;
  Instant now_;
  uint64_t cycle_ = 0;
  std::map<Key, Attempt> attempts_;
  std::vector<Job> jobs_;  ///< by JobId
  std::set<Timer> timers_;
  std::set<std::pair<Key, int32_t>> stopping_;  ///< that end at the end of a cycle
  std::set<NodeId> lost_nodes_;
  std::map<NodeId, NodeUse> use_;
  std::vector<Event> events_;
  std::vector<std::string> violations_;
};

}  // namespace weft
