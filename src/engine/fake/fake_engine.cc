#include "engine/fake/fake_engine.h"

#include "base/bits.h"
#include "base/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {

void FakeEngine::execute(const Decisions& decisions) {
  for (const Decision& decision : decisions.list) {
    switch (decision.kind) {
      case DecisionKind::kHold: hold(decision, decisions.placements_of(decision)); break;
      case DecisionKind::kStart: start(decision); break;
      case DecisionKind::kRelease: release(decision); break;
      case DecisionKind::kStop: stop(decision); break;
      case DecisionKind::kAdmit:
      case DecisionKind::kReject:
      case DecisionKind::kEnd: break;
    }
  }
}

void FakeEngine::poll(std::vector<Event>& out) {
  out.insert(out.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
  events_.clear();
}

FakeEngine::Job& FakeEngine::job_of(JobId job) {
  if (index(job) >= jobs_.size()) jobs_.resize(index(job) + 1);
  return jobs_[index(job)];
}

bool FakeEngine::is_on_lost_node(std::span<const TaskPlacement> placements) const {
  return std::ranges::any_of(placements, [&](const TaskPlacement& p) { return lost_nodes_.contains(p.node); });
}

void FakeEngine::hold(const Decision& decision, std::span<const TaskPlacement> placements) {
  Job& job = job_of(decision.job);
  if (decision.attempt <= job.last_attempt) return;
  job.last_attempt = decision.attempt;
  if (job.refusals > 0 || is_on_lost_node(placements)) {
    const bool is_scripted = job.refusals > 0;
    job.refusals -= is_scripted ? 1 : 0;
    say(HoldRefused{decision.job, decision.attempt, is_scripted ? "refused by the script" : "a node is down"});
    return;
  }
  const Key key{decision.job, decision.attempt};
  Attempt& attempt = attempts_[key];
  for (const TaskPlacement& placement : placements) {
    const auto local = static_cast<int32_t>(index(placement.task) - index(decision.first_task));
    attempt.tasks.push_back({.index = local, .placement = placement});
    occupy(key, placement);
  }
  say(HoldAccepted{decision.job, decision.attempt});
}

void FakeEngine::start(const Decision& decision) {
  const Key key{decision.job, decision.attempt};
  const auto found = attempts_.find(key);
  if (found == attempts_.end() || found->second.is_running) return;
  Job& job = job_of(decision.job);
  const bool is_scripted = job.start_failures > 0;
  const bool is_lost =
      std::ranges::any_of(found->second.tasks, [&](const Task& t) { return lost_nodes_.contains(t.placement.node); });
  if (is_scripted || is_lost) {
    job.start_failures -= is_scripted ? 1 : 0;
    for (const Task& task : found->second.tasks) vacate(task.placement);
    attempts_.erase(found);
    say(StartFailed{decision.job, decision.attempt, is_scripted ? "failed by the script" : "a node is down"});
    return;
  }
  say(GangStarted{decision.job, decision.attempt});
  run(key, found->second, now_);
}

void FakeEngine::run(const Key& key, Attempt& attempt, Instant started) {
  attempt.is_running = 1;
  const Duration runtime = job_of(key.job).runtime;
  if (runtime < kEndless) timers_.insert({.due = std::max(now_, started + runtime), .key = key});
}

void FakeEngine::release(const Decision& decision) {
  const auto found = attempts_.find({decision.job, decision.attempt});
  if (found == attempts_.end() || found->second.is_running) return;
  for (const Task& task : found->second.tasks) vacate(task.placement);
  attempts_.erase(found);
}

void FakeEngine::stop(const Decision& decision) {
  const Key key{decision.job, decision.attempt};
  const auto found = attempts_.find(key);
  if (found == attempts_.end() || !found->second.is_running) return;
  std::vector<int32_t> gone;
  for (Task& task : found->second.tasks) {
    if (task.is_stopping || (decision.task >= 0 && task.index != decision.task)) continue;
    told_to_stop(key, task, decision.grace);
    if (task.stop_due <= now_) gone.push_back(task.index);
  }
  for (const int32_t task : gone) end_task(key, task, TaskOutcome::kStopped, 0);
}

/// Sets when the task will be gone; `stop_due` is now where that is at once.
void FakeEngine::told_to_stop(const Key& key, Task& task, Duration grace) {
  task.is_stopping = 1;
  task.stop_cycle = cycle_;
  if (job_of(key.job).stuck.contains(task.index)) return;
  if (grace > Duration{}) {
    task.stop_due = now_ + grace;
    timers_.insert({.due = task.stop_due, .key = key, .task = task.index});
  } else if (stop_timing_ == StopTiming::kAtOnce) {
    task.stop_due = now_;
  } else {
    stopping_.insert({key, task.index});
  }
}

void FakeEngine::unstick(JobId job, int32_t task) {
  if (job_of(job).stuck.erase(task) == 0) return;
  for (const Key& key : attempts_of(job)) {
    for (Task& row : attempts_.at(key).tasks) {
      if (row.index != task || !row.is_stopping) continue;
      told_to_stop(key, row, {});
      if (row.stop_due > now_) return;
      end_task(key, task, TaskOutcome::kStopped, 0);
      return;
    }
  }
}

void FakeEngine::end_cycle() {
  WEFT_CHECK(stop_timing_ == StopTiming::kAfterNextCycle, "only then cycles are counted");
  std::vector<std::pair<Key, int32_t>> gone;
  for (const auto& [key, task] : stopping_) {
    const auto& tasks = attempts_.at(key).tasks;
    const auto row = std::ranges::find(tasks, task, &Task::index);
    if (row->stop_cycle < cycle_) gone.emplace_back(key, task);
  }
  for (const auto& [key, task] : gone) end_task(key, task, TaskOutcome::kStopped, 0);
  ++cycle_;
}

void FakeEngine::end_task(const Key& key, int32_t task, TaskOutcome outcome, int32_t exit_status) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) return;
  auto& tasks = found->second.tasks;
  const auto row = std::ranges::find(tasks, task, &Task::index);
  if (row == tasks.end()) return;
  timers_.erase({.due = row->stop_due, .key = key, .task = task});
  stopping_.erase({key, task});
  vacate(row->placement);
  tasks.erase(row);
  say(TaskEnded{key.job, key.attempt, task, outcome, exit_status});
  if (tasks.empty()) attempts_.erase(found);
}

std::vector<FakeEngine::Key> FakeEngine::attempts_of(JobId job) const {
  std::vector<Key> out;
  for (auto it = attempts_.lower_bound({job, 0}); it != attempts_.end() && it->first.job == job; ++it)
    out.push_back(it->first);
  return out;
}

size_t FakeEngine::end_tasks(JobId job, int32_t task, TaskOutcome outcome, int32_t exit_status) {
  size_t count = 0;
  for (const Key& key : attempts_of(job)) {
    const Attempt& attempt = attempts_.at(key);
    if (!attempt.is_running) continue;
    std::vector<int32_t> ending;
    for (const Task& row : attempt.tasks) {
      if (task < 0 || row.index == task) ending.push_back(row.index);
    }
    for (const int32_t row : ending) end_task(key, row, outcome, exit_status);
    count += ending.size();
  }
  return count;
}

size_t FakeEngine::finish(JobId job) { return end_tasks(job, -1, TaskOutcome::kDone, 0); }

size_t FakeEngine::crash(JobId job, int32_t task, int32_t exit_status) {
  return end_tasks(job, task, TaskOutcome::kFailed, exit_status);
}

void FakeEngine::lose_node(NodeId node) {
  lost_nodes_.insert(node);
  say(NodeDown{node});
  std::vector<std::pair<Key, int32_t>> lost;
  for (const auto& [key, attempt] : attempts_) {
    if (!attempt.is_running) continue;  // a hold there is for the core to release
    for (const Task& task : attempt.tasks) {
      if (task.placement.node == node) lost.emplace_back(key, task.index);
    }
  }
  for (const auto& [key, task] : lost) end_task(key, task, TaskOutcome::kLost, 0);
}

void FakeEngine::recover_node(NodeId node) {
  lost_nodes_.erase(node);
  say(NodeUp{node});
}

void FakeEngine::set_runtime(JobId job, Duration runtime, FakeEnding ending) {
  job_of(job).runtime = runtime;
  job_of(job).ending = ending;
}

void FakeEngine::adopt(JobId job, uint32_t attempt, std::span<const std::pair<int32_t, TaskPlacement>> tasks,
                       Instant started) {
  if (tasks.empty()) return;
  const Key key{job, attempt};
  job_of(job).last_attempt = std::max(job_of(job).last_attempt, attempt);
  Attempt& row = attempts_[key];
  for (const auto& [task, placement] : tasks) {
    row.tasks.push_back({.index = task, .placement = placement});
    occupy(key, placement);
  }
  run(key, row, started);
}

size_t FakeEngine::running_count(JobId job) const {
  size_t count = 0;
  for (const Key& key : attempts_of(job)) {
    const Attempt& attempt = attempts_.at(key);
    count += attempt.is_running ? attempt.tasks.size() : 0;
  }
  return count;
}

std::vector<int32_t> FakeEngine::running_tasks(JobId job, uint32_t attempt) const {
  std::vector<int32_t> out;
  const auto found = attempts_.find({job, attempt});
  if (found == attempts_.end() || !found->second.is_running) return out;
  for (const Task& task : found->second.tasks) {
    if (!task.is_stopping) out.push_back(task.index);
  }
  return out;
}

Instant FakeEngine::next_event() const { return timers_.empty() ? kNever : timers_.begin()->due; }

Instant FakeEngine::next_grace_end() const {
  const auto found = std::ranges::find_if(timers_, [](const Timer& t) { return t.task >= 0; });
  return found == timers_.end() ? kNever : found->due;
}

void FakeEngine::advance_to(Instant to) {
  WEFT_CHECK(to >= now_, "time does not run backwards");
  while (!timers_.empty() && timers_.begin()->due <= to) {
    const Timer timer = *timers_.begin();
    timers_.erase(timers_.begin());
    now_ = std::max(now_, timer.due);
    fire(timer);
  }
  now_ = to;
}

void FakeEngine::fire(const Timer& timer) {
  if (timer.task >= 0) {
    end_task(timer.key, timer.task, TaskOutcome::kStopped, 0);
  } else if (!attempts_.contains(timer.key)) {
    return;  // the attempt was over before its time was up
  } else if (job_of(timer.key.job).ending == FakeEnding::kTogether) {
    finish(timer.key.job);
  } else {
    std::vector<int32_t> tasks;
    for (const Task& task : attempts_.at(timer.key).tasks) tasks.push_back(task.index);
    for (const int32_t task : tasks) end_task(timer.key, task, TaskOutcome::kDone, 0);
  }
}

void FakeEngine::occupy(const Key& key, const TaskPlacement& placement) {
  NodeUse& use = use_[placement.node];
  const auto complain = [&](unsigned device) {
    violations_.push_back(fmt::format("device {} of node {} was given to job {} attempt {} while another task owns it",
                                      device, index(placement.node), index(key.job), key.attempt));
  };
  if (placement.kind == DeviceNeedKind::kWhole) {
    for_each_bit(placement.devices, [&](unsigned device) {
      const auto shared = use.shared_milli.find(device);
      if ((use.whole >> device & 1U) != 0 || (shared != use.shared_milli.end() && shared->second > 0)) complain(device);
    });
    use.whole |= placement.devices;
  } else if (placement.kind == DeviceNeedKind::kMilli || placement.kind == DeviceNeedKind::kMemory) {
    for_each_bit(placement.devices, [&](unsigned device) {
      int64_t& milli = use.shared_milli[device];
      milli += placement.milli;
      if ((use.whole >> device & 1U) != 0 || (placement.kind == DeviceNeedKind::kMilli && milli > 1000))
        complain(device);
    });
  }
}

void FakeEngine::vacate(const TaskPlacement& placement) {
  NodeUse& use = use_[placement.node];
  if (placement.kind == DeviceNeedKind::kWhole) {
    use.whole &= ~placement.devices;
  } else if (placement.kind == DeviceNeedKind::kMilli || placement.kind == DeviceNeedKind::kMemory) {
    for_each_bit(placement.devices, [&](unsigned device) { use.shared_milli[device] -= placement.milli; });
  }
}

}  // namespace weft
