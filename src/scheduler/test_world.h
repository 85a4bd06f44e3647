#pragma once

#include "base/bits.h"
#include "base/check.h"
#include "base/ids.h"
#include "base/rng.h"
#include "base/units.h"
#include "model/decision.h"
#include "model/event.h"
#include "scheduler/scheduler.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// What the tests of this room share: short specs, and an engine whose answers the test gives out one by one.
namespace weft {

inline NodeSpec node_spec(std::string name, unsigned gpus, int64_t cpus = 64) {
  NodeSpec node{.name = std::move(name), .cpu_milli = cpus * 1000};
  node.devices.resize(gpus);
  return node;
}

struct GangWish {
  int32_t count = 1;
  int32_t min = -1;
  int32_t gpus = 0;
  int32_t priority = kPriorityTrain;
  std::string queue = "default";
  int64_t cpu_milli = 1000;
};

inline JobSpec job_spec(std::string name, const GangWish& wish) {
  JobSpec job{.name = std::move(name), .queue = wish.queue, .priority = wish.priority};
  RoleSpec role{.count = wish.count, .min = wish.min, .cpu_milli = wish.cpu_milli};
  if (wish.gpus > 0) role.devices = {.kind = DeviceNeedKind::kWhole, .count = wish.gpus};
  job.roles.push_back(std::move(role));
  return job;
}

/// One task as the engine knows it.
struct EngineTask {
  int32_t local = 0;
  TaskPlacement placement;
  bool is_stopping = false;
};
struct EngineAttempt {
  bool is_starting = false;  ///< kStart was given
  bool is_running = false;
  std::vector<EngineTask> tasks;
};
using AttemptKey = std::pair<JobId, uint32_t>;

/// Keeps what was commanded and what it owes an answer for. The test decides which answer comes when.
class TestEngine {
 public:
  void execute(const Decisions& decisions) {
    for (const Decision& d : decisions.list) {
      const AttemptKey key{d.job, d.attempt};
      switch (d.kind) {
        case DecisionKind::kHold: hold(key, d, decisions.placements_of(d)); break;
        case DecisionKind::kStart:
          WEFT_CHECK(attempts_.contains(key) && !attempts_[key].is_starting, "a start comes once, after a hold");
          attempts_[key].is_starting = true;
          to_start_.push_back(key);
          break;
        case DecisionKind::kRelease:
          WEFT_CHECK(!attempts_.contains(key) || !attempts_[key].is_starting,
                     "a hold is released before it is started");
          attempts_.erase(key);  // it may have been refused meanwhile
          std::erase(to_hold_, key);
          break;
        case DecisionKind::kStop: stop(key, d.task); break;
        default: break;
      }
    }
  }

  std::vector<AttemptKey>& to_hold() { return to_hold_; }
  std::vector<AttemptKey>& to_start() { return to_start_; }
  std::map<AttemptKey, EngineAttempt>& attempts() { return attempts_; }

  Event accept(AttemptKey key) {
    std::erase(to_hold_, key);
    return make(HoldAccepted{key.first, key.second});
  }
  Event refuse(AttemptKey key) {
    std::erase(to_hold_, key);
    attempts_.erase(key);
    return make(HoldRefused{key.first, key.second, "no"});
  }
  Event start(AttemptKey key) {
    std::erase(to_start_, key);
    attempts_[key].is_running = true;
    return make(GangStarted{key.first, key.second});
  }
  Event fail_start(AttemptKey key) {
    std::erase(to_start_, key);
    attempts_.erase(key);
    return make(StartFailed{key.first, key.second, "no"});
  }
  /// Requires: the attempt runs.
  Event end_task(AttemptKey key, int32_t local, TaskOutcome outcome) {
    EngineAttempt& attempt = attempts_.at(key);
    std::erase_if(attempt.tasks, [&](const EngineTask& t) { return t.local == local; });
    if (attempt.tasks.empty()) attempts_.erase(key);
    return make(TaskEnded{key.first, key.second, local, outcome, outcome == TaskOutcome::kFailed ? 1 : 0});
  }

  void set_now(Instant now) { now_ = now; }

 private:
  Event make(EventBody body) const { return {now_, std::move(body)}; }
  void hold(AttemptKey key, const Decision& d, std::span<const TaskPlacement> placements) {
    WEFT_CHECK(!attempts_.contains(key), "every hold has a number of its own");
    EngineAttempt& attempt = attempts_[key];
    for (const TaskPlacement& p : placements) {
      attempt.tasks.push_back({.local = static_cast<int32_t>(index(p.task) - index(d.first_task)), .placement = p});
    }
    to_hold_.push_back(key);
  }
  void stop(AttemptKey key, int32_t local) {
    const auto found = attempts_.find(key);
    if (found == attempts_.end()) return;
    for (EngineTask& task : found->second.tasks) task.is_stopping |= local < 0 || task.local == local;
  }

  std::map<AttemptKey, EngineAttempt> attempts_;
  std::vector<AttemptKey> to_hold_;
  std::vector<AttemptKey> to_start_;
  Instant now_;
};

/// A scheduler, an engine that does what it is told, and a clock.
class TestWorld {
 public:
  explicit TestWorld(const PolicyConfig& config = {}) : scheduler(std::move(Scheduler::create(config)).value()) {}

  /// One event, then everything that follows from it until nothing more does. The last decisions stay in `decisions`.
  void tell(EventBody body) {
    apply({{now, std::move(body)}});
    settle();
  }
  /// One apply(), without answers.
  void apply(const std::vector<Event>& events) {
    decisions = scheduler->apply(events);
    record();
  }
  /// Holds are accepted, gangs start, tasks that were told to stop are gone.
  void settle() {
    for (std::vector<Event> events = answers(); !events.empty(); events = answers()) apply(events);
  }
  std::vector<Event> answers() {
    engine.set_now(now);
    std::vector<Event> events;
    for (const AttemptKey& key : std::vector(engine.to_hold())) events.push_back(engine.accept(key));
    for (const AttemptKey& key : std::vector(engine.to_start())) events.push_back(engine.start(key));
    std::vector<std::pair<AttemptKey, int32_t>> gone;
    for (const auto& [key, attempt] : engine.attempts()) {
      for (const EngineTask& task : attempt.tasks) {
        if (attempt.is_running && task.is_stopping) gone.emplace_back(key, task.local);
      }
    }
    for (const auto& [key, local] : gone) events.push_back(engine.end_task(key, local, TaskOutcome::kStopped));
    return events;
  }

  JobId submit(JobSpec spec) {
    const JobId id = scheduler->next_job_id();
    tell(JobSubmitted{std::move(spec)});
    return id;
  }
  void finish(JobId job, TaskOutcome outcome = TaskOutcome::kDone) {
    std::vector<Event> events;
    for (const auto& [key, local] : running(job)) events.push_back(engine.end_task(key, local, outcome));
    apply(events);
    settle();
  }
  void finish_task(JobId job, int32_t local, TaskOutcome outcome) {
    for (const auto& [key, task] : running(job)) {
      if (task != local) continue;
      apply({engine.end_task(key, local, outcome)});
      settle();
      return;
    }
  }
  std::vector<std::pair<AttemptKey, int32_t>> running(JobId job) {
    std::vector<std::pair<AttemptKey, int32_t>> tasks;
    for (const auto& [key, attempt] : engine.attempts()) {
      if (key.first != job || !attempt.is_running) continue;
      for (const EngineTask& task : attempt.tasks) tasks.emplace_back(key, task.local);
    }
    return tasks;
  }
  JobState state(JobId job) const { return scheduler->job_state(job); }
  std::string why(JobId job) const { return scheduler->job(job).why; }
  std::string word(JobId job) const { return scheduler->word(scheduler->job(job).verdict); }
  size_t count(DecisionKind kind) const {
    return static_cast<size_t>(std::ranges::count(history, kind, &Decision::kind));
  }

  std::unique_ptr<Scheduler> scheduler;
  TestEngine engine;
  Instant now;
  Decisions decisions;
  std::vector<Decision> history;  ///< all decisions so far

 private:
  void record() {
    history.insert(history.end(), decisions.list.begin(), decisions.list.end());
    engine.execute(decisions);
  }
};

/// A world with the queue `default` and `nodes` nodes n0, n1, … of `gpus` GPUs.
inline void add_nodes(TestWorld& world, unsigned nodes, unsigned gpus, int64_t cpus = 64) {
  for (unsigned n = 0; n < nodes; ++n) world.tell(NodeAdded{node_spec("n" + std::to_string(n), gpus, cpus)});
}
inline void add_default_queue(TestWorld& world) { world.tell(QueueDefined{QueueSpec{.name = "default"}}); }

}  // namespace weft
