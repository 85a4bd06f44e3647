#include "state/test_world.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

/// Jobs that come, are held, run, release and end on a random world, with attempts that are undone between: after every
/// transaction the whole audit must be silent. Demands of a job are those of its tasks, so that what tasks hold
/// explains all that is taken.
class Life {
 public:
  explicit Life(uint64_t seed) : rng_(seed) { testing::build_random_world(state_, rng_, 5 + rng_.below(20)); }

  void step() {
    switch (rng_.below(6)) {
      case 0:
      case 1: return submit();
      case 2:
      case 3: return place();
      case 4: return end();
      default: return change_health();
    }
  }

  std::string findings() const {
    std::string text;
    for (const std::string& finding : state_.audit()) text += finding + "\n";
    return text;
  }
  size_t started() const { return started_; }

 private:
  void change_health() {
    const NodeId node = make_id<NodeId>(rng_.below(state_.nodes().size()));
    const size_t devices = state_.nodes().device_count[index(node)];
    const auto yes = static_cast<uint8_t>(rng_.below(3) != 0);
    if (devices == 0) return state_.set_node_up(node, yes);
    state_.set_device_healthy(node, static_cast<unsigned>(rng_.below(devices)), yes);
  }

  RoleSpec random_role() {
    RoleSpec role{.name = "w", .count = static_cast<int32_t>(rng_.between(1, 3)), .cpu_milli = rng_.between(0, 4000)};
    switch (rng_.below(5)) {
      case 0: break;
      case 1:
        role.devices = {.kind = DeviceNeedKind::kMilli, .milli = static_cast<int32_t>(rng_.between(1, 999))};
        break;
      case 2:
        role.devices = {.kind = DeviceNeedKind::kMig, .mig_profile = rng_.below(2) == 0 ? "1g.10gb" : "3g.40gb"};
        break;
      default:
        role.devices = {.kind = DeviceNeedKind::kWhole, .count = static_cast<int32_t>(rng_.between(1, 4))};
        break;
    }
    return role;
  }

  void submit() {
    if (waiting_.size() > 8) return;
    JobSpec spec{.name = "j", .queue = rng_.below(2) == 0 ? "red" : "green", .priority = rng_.below(2) == 0 ? 50 : 125};
    spec.roles = {random_role()};
    const auto shape = state_.resolve(spec);
    ASSERT_EQ(testing::error_of(shape), "");
    waiting_.push_back(state_.add_job(state_.intern(*shape), UserId{0}, Instant{0}, hours(1)));
  }

  /// Tries a random lease until one is what the task asks for.
  bool find_place(const TaskDemand& demand, TaskPlacement& at) {
    for (int tries = 0; tries < 60; ++tries) {
      testing::Lease lease;
      if (!testing::random_lease(state_, rng_, lease) || lease.at.kind != demand.devices.kind) continue;
      if (lease.at.kind == DeviceNeedKind::kWhole &&
          popcount(lease.at.devices) != static_cast<unsigned>(demand.devices.count))
        continue;
      if (lease.at.kind == DeviceNeedKind::kMilli) {
        const size_t row = state_.nodes().first_device[index(lease.at.node)] +
                           static_cast<unsigned>(std::countr_zero(lease.at.devices));
        if (state_.devices().free_milli[row] < demand.devices.milli) continue;
        lease.at.milli = demand.devices.milli;
      }
      if (!fits(demand, lease.at)) continue;
      at = lease.at;
      at.charge = {rng_.between(1, 9), demand.cpu_milli, demand.memory_bytes};
      return true;
    }
    return false;
  }

  bool fits(const TaskDemand& demand, const TaskPlacement& at) const {
    const size_t n = index(at.node);
    if (at.numa_zone != kNoZone &&
        state_.zones().free_cpu_milli[state_.nodes().first_zone[n] + at.numa_zone] < demand.cpu_milli)
      return false;
    return state_.nodes().free_cpu_milli[n] >= demand.cpu_milli &&
           state_.nodes().free_memory_bytes[n] >= demand.memory_bytes;
  }

  void place() {
    if (waiting_.empty()) return;
    std::swap(waiting_[rng_.below(waiting_.size())], waiting_.back());
    const JobId job = waiting_.back();
    const Shape& shape = state_.shapes()[state_.jobs().shape[index(job)]];
    Transaction txn(state_);
    const size_t first = index(state_.jobs().first_task[index(job)]);
    for (size_t t = first; t < first + state_.jobs().task_count[index(job)]; ++t) {
      const TaskDemand& demand = shape.roles[state_.tasks().role[t]].demand;
      TaskPlacement at;
      if (!find_place(demand, at)) return;  // undone as a whole
      txn.take(demand, at);
      txn.charge(shape.queue, at.charge, shape.is_preemptible ? 1 : 0);
      txn.set_task(make_id<TaskId>(t), rng_.below(2) == 0 ? TaskState::kHeld : TaskState::kRunning, at);
    }
    txn.set_job_state(job, JobState::kRunning);
    txn.set_job_times(job, Instant{1}, rng_.below(4) == 0 ? kNever : Instant{rng_.between(2, 40)});
    if (rng_.below(4) == 0) return;
    txn.commit();
    waiting_.pop_back();
    running_.push_back(job);
    ++started_;
  }

  void end() {
    if (running_.empty()) return;
    std::swap(running_[rng_.below(running_.size())], running_.back());
    const JobId job = running_.back();
    const Shape& shape = state_.shapes()[state_.jobs().shape[index(job)]];
    {
      Transaction txn(state_);
      const size_t first = index(state_.jobs().first_task[index(job)]);
      for (size_t t = first; t < first + state_.jobs().task_count[index(job)]; ++t) {
        const TaskPlacement at = state_.tasks().placement[t];
        txn.give(shape.roles[state_.tasks().role[t]].demand, at);
        txn.charge(shape.queue, at.charge * -1, shape.is_preemptible ? 1 : 0);
        txn.set_task_state(make_id<TaskId>(t), TaskState::kDone);
      }
      txn.set_job_state(job, JobState::kDone);
      txn.set_job_times(job, state_.jobs().started[index(job)], kNever);
      if (rng_.below(4) == 0) return;
      txn.commit();
    }
    running_.pop_back();
    if (rng_.below(2) == 0) state_.retire_tasks(job);
  }

  Rng rng_;
  ClusterState state_;
  std::vector<JobId> waiting_;
  std::vector<JobId> running_;
  size_t started_ = 0;
};

TEST(LifecycleProperty, WhatTasksHoldExplainsAllThatIsTaken) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Life life(seed);
    for (int i = 0; i < 400; ++i) {
      ASSERT_NO_FATAL_FAILURE(life.step());
      ASSERT_EQ(life.findings(), "") << "seed " << seed << ", step " << i;
    }
    EXPECT_GT(life.started(), 20U) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft
