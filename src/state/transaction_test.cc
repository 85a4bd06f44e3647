#include "state/transaction.h"

#include "state/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::cpu_demand;
using testing::gpu_node;
using ::testing::IsEmpty;
using testing::on_node;
using testing::share_on;
using testing::snapshot_of;
using testing::whole_demand;
using testing::whole_on;

constexpr const char* kA100 = "A100-SXM4-80GB";

class TransactionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(state_.define_queue(testing::queue("red")));
    NodeSpec spec = gpu_node("a", 8, kA100);
    spec.share = ShareMode::kTimeSlice;
    spec.numa = {{.cpu_milli = 30'000, .devices = 0x0f}, {.cpu_milli = 30'000, .devices = 0xf0}};
    spec.devices[6].mig_mode = MigMode::kOn;
    spec.devices[7].mig_mode = MigMode::kOn;
    spec.devices[7].mig_cut = MigCut::kFixed;
    spec.devices[7].mig_instances = {{.profile = "3g.40gb"}, {.profile = "1g.10gb"}, {.profile = "1g.10gb"}};
    ASSERT_TRUE(state_.add_node(spec));
    const auto shape = state_.resolve(JobSpec{.name = "j", .queue = "red", .roles = {RoleSpec{.count = 2}}});
    ASSERT_TRUE(shape);
    state_.add_job(state_.intern(*shape), UserId{0}, Instant{}, hours(1));
  }

  TaskPlacement instance(unsigned device, const char* profile, uint8_t start) const {
    TaskPlacement at = on_node(NodeId{0});
    at.kind = DeviceNeedKind::kMig;
    at.devices = uint64_t{1} << device;
    at.mig_profile = find_mig_profile(state_.names().devices.model(state_.devices().model[device]), profile);
    at.mig_start = start;
    return at;
  }

  ClusterState state_;
  const NodeId node_{0};
};

TEST_F(TransactionTest, DestructionWithoutCommitRollsEverythingBack) {
  const auto before = snapshot_of(state_);
  {
    Transaction txn(state_);
    txn.take(whole_demand(2), whole_on(node_, 0b11));
    txn.charge(QueueId{0}, {1, 2, 3}, 0);
    txn.set_task(TaskId{0}, TaskState::kHeld, whole_on(node_, 0b11));
    txn.set_job_state(JobId{0}, JobState::kHolding);
    txn.set_job_times(JobId{0}, Instant{5}, Instant{50});
    txn.set_job_attempt(JobId{0}, 1);
    EXPECT_FALSE(snapshot_of(state_) == before);
  }
  EXPECT_TRUE(snapshot_of(state_) == before);
}

TEST_F(TransactionTest, CommitKeepsWhatWasWritten) {
  {
    Transaction txn(state_);
    txn.take(whole_demand(2), whole_on(node_, 0b11));
    txn.commit();
    txn.take(whole_demand(1), whole_on(node_, 0b100));
  }
  EXPECT_EQ(state_.nodes().free[0], 0b0011'1100U) << "the write after the commit is undone";
  EXPECT_EQ(state_.nodes().free_cpu_milli[0], 63'000);
}

TEST_F(TransactionTest, RollbackGoesBackToItsMarkAndNoFurther) {
  Transaction txn(state_);
  txn.take(whole_demand(1), whole_on(node_, 0b1));
  const auto one = snapshot_of(state_);
  const Transaction::Mark outer = txn.mark();
  txn.take(whole_demand(1), whole_on(node_, 0b10));
  const auto two = snapshot_of(state_);
  const Transaction::Mark inner = txn.mark();
  txn.give(whole_demand(1), whole_on(node_, 0b1));
  txn.rollback(inner);
  EXPECT_TRUE(snapshot_of(state_) == two);
  txn.rollback(outer);
  EXPECT_TRUE(snapshot_of(state_) == one);
  txn.rollback(outer);
  EXPECT_TRUE(snapshot_of(state_) == one) << "a second rollback to the same mark finds nothing to undo";
}

TEST_F(TransactionTest, TheFirstFractionTurnsADeviceSharedAndTheLastGivesItBack) {
  const TaskDemand demand;
  const int64_t memory = state_.devices().memory_bytes[2];
  Transaction txn(state_);
  txn.take(demand, share_on(node_, 2, 250, 10 * kGiB));
  EXPECT_EQ(state_.nodes().free[0], 0b0011'1011U);
  EXPECT_EQ(state_.nodes().shared[0], 0b0000'0100U);
  txn.take(demand, share_on(node_, 2, 500, 20 * kGiB));
  EXPECT_EQ(state_.devices().free_milli[2], 250);
  EXPECT_EQ(state_.devices().free_memory_bytes[2], memory - 30 * kGiB);
  EXPECT_EQ(state_.devices().share_count[2], 2);
  txn.give(demand, share_on(node_, 2, 250, 10 * kGiB));
  EXPECT_EQ(state_.nodes().shared[0], 0b0000'0100U);
  txn.give(demand, share_on(node_, 2, 500, 20 * kGiB));
  EXPECT_EQ(state_.nodes().free[0], 0b0011'1111U);
  EXPECT_EQ(state_.nodes().shared[0], 0U);
  EXPECT_EQ(state_.devices().free_milli[2], 1000);
  EXPECT_THAT(state_.audit_indices(), IsEmpty());
}

TEST_F(TransactionTest, InstancesTakeMemoryAndComputeSlices) {
  const TaskDemand demand;
  Transaction txn(state_);
  txn.take(demand, instance(6, "3g.40gb", 4));
  EXPECT_EQ(state_.devices().mig_occupied[6], 0b1111'0000);
  EXPECT_EQ(state_.devices().mig_compute_used[6], 3);
  txn.take(demand, instance(6, "1g.10gb", 0));
  EXPECT_EQ(state_.devices().mig_occupied[6], 0b1111'0001);
  EXPECT_EQ(state_.devices().mig_compute_used[6], 4);
  txn.give(demand, instance(6, "3g.40gb", 4));
  EXPECT_EQ(state_.devices().mig_occupied[6], 0b0000'0001);
  EXPECT_EQ(state_.devices().mig_fixed_busy[6], 0);
  EXPECT_EQ(state_.nodes().free[0], 0b0011'1111U) << "whole devices are not touched";
}

TEST_F(TransactionTest, FixedInstancesAreBusyOrIdle) {
  const TaskDemand demand;
  const auto& fixed = state_.devices().mig_fixed[7];
  ASSERT_EQ(fixed.size(), 3U);
  Transaction txn(state_);
  txn.take(demand, instance(7, "1g.10gb", fixed[2].start));
  EXPECT_EQ(state_.devices().mig_fixed_busy[7], 0b100);
  txn.take(demand, instance(7, "3g.40gb", fixed[0].start));
  EXPECT_EQ(state_.devices().mig_fixed_busy[7], 0b101);
  txn.give(demand, instance(7, "1g.10gb", fixed[2].start));
  EXPECT_EQ(state_.devices().mig_fixed_busy[7], 0b001);
  EXPECT_EQ(state_.view_node(node_).device_free_milli[7], 2 * 1000 / 7) << "two idle instances of one slice";
  EXPECT_DEATH(txn.take(demand, instance(7, "1g.10gb", 6)), "has the instance that a placement names");
}

TEST_F(TransactionTest, OnlyTasksBoundToAZoneTakeFromIt) {
  Transaction txn(state_);
  TaskPlacement bound = on_node(node_);
  bound.numa_zone = 1;
  txn.take(cpu_demand(20'000), bound);
  txn.take(cpu_demand(20'000), on_node(node_));
  EXPECT_EQ(state_.zones().free_cpu_milli[0], 30'000);
  EXPECT_EQ(state_.zones().free_cpu_milli[1], 10'000);
  EXPECT_EQ(state_.nodes().free_cpu_milli[0], 24'000);
  EXPECT_DEATH(txn.take(cpu_demand(10'001), bound), "takes what is free");
}

TEST_F(TransactionTest, TheTimelineFollowsExpectedEnds) {
  Transaction txn(state_);
  txn.set_job_times(JobId{0}, Instant{5}, Instant{50});
  EXPECT_EQ(state_.timeline().end_of(JobId{0}), Instant{50});
  const Transaction::Mark mark = txn.mark();
  txn.set_job_times(JobId{0}, Instant{5}, Instant{70});
  EXPECT_EQ(state_.timeline().end_of(JobId{0}), Instant{70});
  txn.set_job_times(JobId{0}, kNever, kNever);
  EXPECT_FALSE(state_.timeline().contains(JobId{0}));
  txn.rollback(mark);
  EXPECT_EQ(state_.timeline().end_of(JobId{0}), Instant{50});
}

TEST_F(TransactionTest, ATaskKnowsItsOwnIdInItsPlacement) {
  Transaction txn(state_);
  txn.set_task(TaskId{1}, TaskState::kRunning, whole_on(node_, 0b1));
  EXPECT_EQ(state_.tasks().placement[1].task, TaskId{1});
  EXPECT_EQ(state_.tasks().placement[1].devices, 0b1U);
  EXPECT_EQ(state_.tasks().state[1], TaskState::kRunning);
}

TEST_F(TransactionTest, EveryWriteAndUndoneWriteIsInTheChangeLog) {
  const uint64_t start = state_.change_count();
  Transaction txn(state_);
  txn.take(whole_demand(1), whole_on(node_, 0b1));
  EXPECT_EQ(state_.change_count(), start + 1);
  EXPECT_EQ(state_.changed_node(start), node_);
  txn.rollback(0);
  EXPECT_EQ(state_.change_count(), start + 2) << "one entry for the records of one node";
  txn.charge(QueueId{0}, {1, 1, 1}, 1);
  EXPECT_EQ(state_.change_count(), start + 2) << "a charge changes no node";
  for (int i = 0; i < 5000; ++i) {
    txn.take(whole_demand(1), whole_on(node_, 0b1));
    txn.rollback(0);
  }
  EXPECT_EQ(state_.changes_kept(), 4096U);
}

TEST_F(TransactionTest, WhatDoesNotFitIsABug) {
  Transaction txn(state_);
  txn.take(whole_demand(1), whole_on(node_, 0b1));
  EXPECT_DEATH(txn.take(whole_demand(1), whole_on(node_, 0b1)), "while nobody is on them");
  EXPECT_DEATH(txn.take(whole_demand(1), whole_on(node_, uint64_t{1} << 9)), "while nobody is on them");
  EXPECT_DEATH(txn.take(whole_demand(1), whole_on(node_, uint64_t{1} << 6)), "while nobody is on them")
      << "in MIG mode";
  EXPECT_DEATH(txn.give(whole_demand(1, 1001), whole_on(node_, 0b1)), "gives back what it took")
      << "more CPUs than were taken";
  EXPECT_DEATH(txn.give(cpu_demand(1), whole_on(node_, 0b10)), "come back from the task that owned them");
  EXPECT_DEATH(txn.take(cpu_demand(64'000), on_node(node_)), "takes what is free");
  EXPECT_DEATH(txn.take(TaskDemand{}, share_on(node_, 0, 1, 1)), "of a free or a shared device");
  EXPECT_DEATH(txn.take(TaskDemand{}, share_on(node_, 1, 1001, 1)), "takes what is free of the device");
  EXPECT_DEATH(txn.take(TaskDemand{}, instance(1, "1g.10gb", 0)), "of a device in MIG mode");
  EXPECT_DEATH(txn.charge(QueueId{0}, {-1, 0, 0}, 1), "what its tasks were charged");
  EXPECT_DEATH(txn.rollback(1000), "a mark is of this transaction");
  EXPECT_DEATH(Transaction(state_).mark(), "one transaction at a time");
  EXPECT_DEATH(state_.set_node_up(node_, 0), "structure does not change inside a transaction");
}

TEST_F(TransactionTest, OverlappingInstancesAreABug) {
  Transaction txn(state_);
  txn.take(TaskDemand{}, instance(6, "4g.40gb", 0));
  EXPECT_DEATH(txn.take(TaskDemand{}, instance(6, "1g.10gb", 3)), "while nobody is on its slices");
  EXPECT_DEATH(txn.give(TaskDemand{}, instance(6, "3g.40gb", 4)), "comes back from the task that had it");
}

}  // namespace
}  // namespace weft
