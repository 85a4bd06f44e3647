#pragma once

#include "scheduler/test_world.h"

#include <fmt/format.h>

#include <deque>
#include <set>
#include <string>
#include <vector>

// A seeded storm of events over a small cluster: jobs of all kinds, refusals, crashes, faults of nodes and devices,
// late and repeated answers. The driver makes one batch at a time; what an engine would answer follows from the
// decisions that it is shown.
namespace weft {

enum class Kinds : uint8_t {
  kSimple,
  kAll
};  ///< kSimple: whole GPUs and CPUs, no groups: what a simple ledger understands

struct StormOptions {
  uint64_t seed = 1;
  Kinds kinds = Kinds::kAll;
  uint64_t batch_max = 4;
  uint32_t nodes_max = 5;
};

class Storm {
 public:
  explicit Storm(const StormOptions& options) : options_(options), rng_(options.seed) { build(); }

  const std::vector<Event>& structure() const { return structure_; }
  const std::vector<JobSpec>& jobs() const { return jobs_; }
  const std::vector<QueueSpec>& queues() const { return queues_; }
  const std::vector<NodeSpec>& nodes() const { return nodes_; }
  Instant now() const { return now_; }
  TestEngine& engine() { return engine_; }

  void see(const Decisions& decisions) { engine_.execute(decisions); }

  /// The next batch: at least one event.
  std::vector<Event> next() {
    std::vector<Event> events;
    const uint64_t count = 1 + rng_.below(options_.batch_max);
    if (rng_.below(4) == 0) now_ = now_ + seconds(rng_.between(0, 8));
    engine_.set_now(now_);
    while (events.size() < count) {
      if (std::vector<Event> more = one(); !more.empty()) events.insert(events.end(), more.begin(), more.end());
    }
    for (const Event& event : events) past_.push_back(event);
    while (past_.size() > 200) past_.pop_front();
    return events;
  }

  /// Everything heals and nothing new comes: events that set the world right.
  std::vector<Event> heal() {
    std::vector<Event> events;
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const NodeId node = make_id<NodeId>(n);
      events.push_back({now_, NodeUp{node}});
      events.push_back({now_, NodeUncordoned{node}});
      for (size_t d = 0; d < nodes_[n].devices.size(); ++d)
        events.push_back({now_, DeviceRecovered{node, static_cast<uint8_t>(d)}});
    }
    for (size_t j = 0; j < jobs_.size(); ++j) events.push_back({now_, JobReleased{make_id<JobId>(j)}});
    down_.clear();
    return events;
  }
  /// All answers at once, everything that runs ends well.
  std::vector<Event> wind_down() {
    engine_.set_now(now_);
    std::vector<Event> events;
    for (const AttemptKey& key : std::vector(engine_.to_hold())) events.push_back(engine_.accept(key));
    for (const AttemptKey& key : std::vector(engine_.to_start())) events.push_back(engine_.start(key));
    for (const auto& [key, local] : tasks_if([](const EngineTask&) { return true; })) {
      events.push_back(engine_.end_task(key, local, TaskOutcome::kDone));
    }
    return events;
  }
  void advance_to(Instant to) { now_ = std::max(now_, to); }

 private:
  using TaskKey = std::pair<AttemptKey, int32_t>;

  template <typename Pick>
  std::vector<TaskKey> tasks_if(Pick pick) {
    std::vector<TaskKey> tasks;
    for (const auto& [key, attempt] : engine_.attempts()) {
      for (const EngineTask& task : attempt.tasks) {
        if (attempt.is_running && pick(task)) tasks.emplace_back(key, task.local);
      }
    }
    return tasks;
  }
  template <typename List>
  auto any(const List& list) {
    return list[static_cast<size_t>(rng_.below(list.size()))];
  }
  bool chance(uint64_t percent) { return rng_.below(100) < percent; }

  void build() {
    const bool is_simple = options_.kinds == Kinds::kSimple;
    structure_.push_back({{}, TopologyDefined{{.levels = {"rack"}}}});
    queues_.push_back({.name = "org"});
    queues_.push_back({.name = "a", .parent = "org"});
    queues_.push_back({.name = "b", .parent = "org", .priority = 1});
    queues_.push_back({.name = "c"});
    for (QueueSpec& queue : queues_) {
      if (chance(50)) queue.limit.gpu_units = rng_.between(1, 10) * kGpuUnits;
      if (chance(20)) queue.limit.cpu_milli = rng_.between(3, 20) * 1000;
      queue.guarantee.gpu_units = rng_.between(0, 6) * kGpuUnits;
      if (chance(10)) queue.running_jobs_max = static_cast<int32_t>(rng_.between(1, 3));
      structure_.push_back({{}, QueueDefined{queue}});
    }
    const uint64_t count = 1 + rng_.below(options_.nodes_max);
    for (uint64_t n = 0; n < count; ++n) {
      // One draw at a time: compilers differ in the order in which they work out arguments.
      const auto gpus = static_cast<unsigned>(rng_.below(5));
      const int64_t cpus = rng_.between(2, 8);
      NodeSpec node = node_spec(fmt::format("n{}", n), gpus, cpus);
      if (chance(80)) node.labels.emplace_back("rack", fmt::format("r{}", rng_.below(2)));
      if (!is_simple && chance(40)) node.share = ShareMode::kMps;
      if (!is_simple && chance(40)) {
        for (DeviceSpec& device : node.devices) device.memory_bytes = rng_.between(2, 8) * 10 * kGiB;
      }
      if (!is_simple && chance(20)) {
        for (DeviceSpec& device : node.devices) {
          device.model = "A100-SXM4-80GB";
          device.mig_mode = chance(50) ? MigMode::kOn : MigMode::kOff;
        }
      }
      nodes_.push_back(node);
      structure_.push_back({{}, NodeAdded{std::move(node)}});
    }
  }

  RoleSpec role() {
    RoleSpec role{.count = static_cast<int32_t>(rng_.between(1, 3)), .cpu_milli = rng_.between(1, 4) * 500};
    if (chance(20)) role.min = static_cast<int32_t>(rng_.between(1, role.count));
    const uint64_t kind = rng_.below(options_.kinds == Kinds::kSimple ? 5 : 8);
    if (kind <= 3) role.devices = {.kind = DeviceNeedKind::kWhole, .count = static_cast<int32_t>(rng_.between(1, 3))};
    if (kind == 5)
      role.devices = {.kind = DeviceNeedKind::kMilli, .milli = static_cast<int32_t>(rng_.between(1, 9) * 100)};
    if (kind == 6) role.devices = {.kind = DeviceNeedKind::kMemory, .memory_bytes = rng_.between(5, 40) * kGiB};
    if (kind == 7) role.devices = {.kind = DeviceNeedKind::kMig, .mig_profile = chance(50) ? "1g.10gb" : "3g.40gb"};
    return role;
  }

  JobSpec job() {
    JobSpec spec{.name = fmt::format("j{}", jobs_.size())};
    spec.queue = any(std::vector<std::string>{"a", "b", "c"});
    spec.priority = static_cast<int32_t>(rng_.between(1, 3)) * 50 - 25;  // 25 and 75 are preemptible, 125 is not
    const uint64_t roles = chance(25) ? 2 : 1;
    for (uint64_t r = 0; r < roles; ++r) {
      spec.roles.push_back(role());
      spec.roles.back().name = fmt::format("r{}", r);
    }
    if (chance(20)) spec.gang = GangRule::kNone;
    if (chance(15)) spec.topology.within = chance(50) ? "rack" : "node";
    if (chance(10)) spec.topology.prefer = "rack";
    if (options_.kinds == Kinds::kAll && roles == 2 && chance(30)) {
      spec.groups.push_back({.name = "g", .roles = {"r0", "r1"}, .groups = {}, .min = 1});
    }
    spec.stale_after = seconds(chance(70) ? 0 : rng_.between(1, 20));
    spec.retries = static_cast<int32_t>(rng_.below(3));
    if (chance(10)) spec.time_limit = seconds(rng_.between(5, 40));
    if (chance(10)) spec.start_no_earlier = now_ + seconds(rng_.between(0, 20));
    if (chance(20)) spec.estimate = seconds(rng_.between(1, 100));
    if (chance(12) && !jobs_.empty()) spec.after.push_back(static_cast<uint32_t>(rng_.below(jobs_.size())));
    return spec;
  }

  std::vector<Event> one() {
    const uint64_t dice = rng_.below(100);
    if (dice < 18 && jobs_.size() < 60) {
      jobs_.push_back(job());
      return {{now_, JobSubmitted{jobs_.back()}}};
    }
    if (dice < 60) return answer();
    if (dice < 75) return end_one();
    if (dice < 85) return fault();
    return command();
  }

  std::vector<Event> answer() {
    if (!engine_.to_hold().empty() && chance(60)) {
      const AttemptKey key = any(engine_.to_hold());
      return {chance(90) ? engine_.accept(key) : engine_.refuse(key)};
    }
    if (!engine_.to_start().empty()) {
      const AttemptKey key = any(engine_.to_start());
      const auto& tasks = engine_.attempts().at(key).tasks;
      const bool is_lost =
          std::ranges::any_of(tasks, [&](const EngineTask& t) { return down_.contains(t.placement.node); });
      return {!is_lost && chance(93) ? engine_.start(key) : engine_.fail_start(key)};
    }
    return {};
  }

  std::vector<Event> end_one() {
    const auto stopping = tasks_if([](const EngineTask& t) { return t.is_stopping; });
    if (!stopping.empty() && chance(70)) {
      const auto [key, local] = any(stopping);
      return {engine_.end_task(
          key, local, chance(85) ? TaskOutcome::kStopped : (chance(50) ? TaskOutcome::kDone : TaskOutcome::kFailed))};
    }
    const auto running = tasks_if([](const EngineTask& t) { return !t.is_stopping; });
    if (running.empty()) return {};
    const auto [key, local] = any(running);
    return {engine_.end_task(
        key, local, chance(75) ? TaskOutcome::kDone : (chance(70) ? TaskOutcome::kFailed : TaskOutcome::kLost))};
  }

  std::vector<Event> fault() {
    const NodeId node = make_id<NodeId>(static_cast<size_t>(rng_.below(nodes_.size())));
    switch (rng_.below(6)) {
      case 0: {
        std::vector<Event> events{{now_, NodeDown{node}}};
        down_.insert(node);
        // What ran there is reported lost as well; the core knows already.
        for (const auto& [key, local] : tasks_if([&](const EngineTask& t) { return t.placement.node == node; })) {
          events.push_back(engine_.end_task(key, local, TaskOutcome::kLost));
        }
        if (options_.batch_max > 1) return events;
        late_.insert(late_.end(), events.begin() + 1, events.end());
        return {events[0]};
      }
      case 1: down_.erase(node); return {{now_, NodeUp{node}}};
      case 2: return {{now_, NodeCordoned{node}}};
      case 3: return {{now_, NodeUncordoned{node}}};
      case 4: return {{now_, DeviceFailed{node, static_cast<uint8_t>(rng_.below(5))}}};
      default: return {{now_, DeviceRecovered{node, static_cast<uint8_t>(rng_.below(5))}}};
    }
  }

  std::vector<Event> command() {
    const JobId job =
        make_id<JobId>(static_cast<size_t>(rng_.below(jobs_.size() + 2)));  // now and then one that is not there
    switch (rng_.below(8)) {
      case 0: return {{now_, JobCancelled{job}}};
      case 1: return {{now_, JobHeld{job}}};
      case 2:
      case 3: return {{now_, JobReleased{job}}};
      case 4: return {{now_, Tick{}}};
      case 5:
        if (late_.empty()) return {};
        {
          const Event event = late_.front();
          late_.erase(late_.begin());
          return {event};
        }
      default: {
        if (past_.empty()) return {};
        const Event again = any(past_);
        return is_repeatable(again.body) ? std::vector<Event>{again} : std::vector<Event>{};
      }
    }
  }

  /// Answers may come again, also long after; a job submitted twice would be another job.
  static bool is_repeatable(const EventBody& body) {
    return !std::holds_alternative<JobSubmitted>(body) && !std::holds_alternative<NodeDown>(body) &&
           !std::holds_alternative<NodeUp>(body);
  }

  StormOptions options_;
  Rng rng_;
  Instant now_;
  TestEngine engine_;
  std::vector<Event> structure_;
  std::vector<QueueSpec> queues_;
  std::vector<NodeSpec> nodes_;
  std::vector<JobSpec> jobs_;
  std::set<NodeId> down_;
  std::deque<Event> past_;
  std::vector<Event> late_;
};

}  // namespace weft
