#pragma once

#include "service/backend.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft::service {

/// A backend with a real core and an engine that says yes to everything; jobs end when a test says so.
class TestBackend final : public Backend {
 public:
  explicit TestBackend(int32_t gpus = 4) {
    node_.name = "box";
    node_.cpu_milli = 8000;
    node_.memory_bytes = 16 * kGiB;
    for (int32_t i = 0; i < gpus; ++i) node_.devices.push_back({.uuid = "GPU-" + std::to_string(i)});
    auto scheduler = Scheduler::create(PolicyConfig{});
    EXPECT_TRUE(scheduler);
    scheduler_ = std::move(*scheduler);
    apply(QueueDefined{{.name = "default", .guarantee = kUnlimitedResources}});
    apply(NodeAdded{node_});
    EXPECT_TRUE(scheduler_->last_errors().empty());
  }

  void apply(EventBody body) {
    std::vector<Event> queue{{Instant{++now_}, std::move(body)}};
    while (!queue.empty()) {
      const std::vector<Event> batch = std::exchange(queue, {});
      const Decisions& decisions = scheduler_->apply(batch);
      for (const Decision& d : decisions.list) answer(d, decisions, queue);
    }
  }
  void end(JobId job, int32_t task, int32_t exit_status) {
    details_[index(job)][static_cast<size_t>(task)].exit_status = exit_status;
    apply(TaskEnded{job, attempts_[index(job)], task, exit_status == 0 ? TaskOutcome::kDone : TaskOutcome::kFailed,
                    exit_status});
  }

  Scheduler& scheduler() override { return *scheduler_; }
  Result<JobId> submit(JobSpec spec) override {
    const JobId job = scheduler_->next_job_id();
    specs_.push_back(spec);
    details_.emplace_back();
    attempts_.push_back(0);
    apply(JobSubmitted{std::move(spec)});
    return job;
  }
  void cancel(JobId job, CancelMode mode) override {
    cancelled.emplace_back(job, mode);
    apply(JobCancelled{job});
  }
  const JobSpec& spec(JobId job) const override { return specs_[index(job)]; }
  std::string message(JobId /*job*/) const override { return note; }
  std::vector<TaskDetail> tasks(JobId job) const override { return details_[index(job)]; }
  Result<OutputFiles> files(JobId /*job*/, int32_t /*task*/) const override { return output_files; }
  const NodeSpec& node_spec(NodeId /*node*/) const override { return node_; }
  int64_t wall_ms(Instant at) const override { return 1'700'000'000'000 + at.ns; }
  bool is_stopping() const override { return stops; }
  bool is_over() const override { return ended; }

  OutputFiles output_files{.output = "/no/such/output", .error = "/no/such/error"};
  std::string note;
  bool stops = false;
  bool ended = false;
  std::vector<std::pair<JobId, CancelMode>> cancelled;

 private:
  void answer(const Decision& d, const Decisions& decisions, std::vector<Event>& queue) {
    const auto say = [&](EventBody body) { queue.push_back({Instant{++now_}, std::move(body)}); };
    if (d.kind == DecisionKind::kHold) {
      attempts_[index(d.job)] = d.attempt;
      auto& details = details_[index(d.job)];
      for (const TaskPlacement& placement : decisions.placements_of(d))
        details.push_back({.placement = placement, .pid = 100});
      say(HoldAccepted{d.job, d.attempt});
    }
    if (d.kind == DecisionKind::kStart) say(GangStarted{d.job, d.attempt});
    if (d.kind == DecisionKind::kStop) {
      for (size_t task = 0; task < details_[index(d.job)].size(); ++task) {
        if (d.task >= 0 && static_cast<size_t>(d.task) != task) continue;
        if (details_[index(d.job)][task].exit_status) continue;
        details_[index(d.job)][task].exit_status = 143;
        details_[index(d.job)][task].is_stopped = true;
        say(TaskEnded{d.job, d.attempt, static_cast<int32_t>(task), TaskOutcome::kStopped, 143});
      }
    }
  }

  NodeSpec node_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<JobSpec> specs_;
  std::vector<std::vector<TaskDetail>> details_;
  std::vector<uint32_t> attempts_;
  int64_t now_ = 0;
};

}  // namespace weft::service
