#include "state/test_world.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::queue;

class JobRows : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(state_.define_queue(queue("red"))); }

  JobId add(const std::vector<int32_t>& counts) {
    JobSpec spec{.name = "j", .queue = "red", .roles = {}};
    for (const int32_t count : counts)
      spec.roles.push_back(RoleSpec{.name = "r" + std::to_string(spec.roles.size()), .count = count});
    const auto shape = state_.resolve(spec);
    EXPECT_TRUE(shape);
    return state_.add_job(state_.intern(*shape), UserId{0}, Instant{1}, hours(1));
  }

  void end(JobId job) {
    {
      Transaction txn(state_);
      txn.set_job_state(job, JobState::kDone);
      txn.commit();
    }
    state_.retire_tasks(job);
  }

  size_t first_task(JobId job) const { return index(state_.jobs().first_task[index(job)]); }

  ClusterState state_;
};

TEST_F(JobRows, TasksStandRoleByRole) {
  const JobId job = add({2, 3});
  EXPECT_EQ(state_.jobs().task_count[0], 5U);
  EXPECT_EQ(state_.jobs().state[0], JobState::kPending);
  EXPECT_EQ(state_.jobs().expected_end[0], kNever);
  EXPECT_EQ(state_.jobs().estimate[0], hours(1));
  const size_t first = first_task(job);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(state_.tasks().role[first + i], i < 2 ? 0 : 1);
    EXPECT_EQ(state_.tasks().job[first + i], job);
    EXPECT_EQ(state_.tasks().state[first + i], TaskState::kPending);
  }
  EXPECT_EQ(state_.audit(), std::vector<std::string>{});
}

TEST_F(JobRows, RetiredRowsAreUsedAgain) {
  const JobId a = add({4});
  const JobId b = add({2});
  end(a);
  EXPECT_EQ(state_.jobs().task_count[0], 0U);
  EXPECT_EQ(state_.jobs().first_task[0], kNone<TaskId>);
  EXPECT_EQ(state_.jobs().state[0], JobState::kDone) << "the job's own row stays";
  EXPECT_EQ(first_task(add({4})), 0U) << "a run of the same length";
  EXPECT_EQ(state_.tasks().size(), 6U);
  end(b);
  EXPECT_EQ(first_task(add({1})), 4U) << "a part of a longer run";
  EXPECT_EQ(first_task(add({1})), 5U) << "and the rest of it";
  EXPECT_EQ(first_task(add({1})), 6U) << "new rows";
  EXPECT_EQ(state_.audit(), std::vector<std::string>{});
}

TEST_F(JobRows, AJobWithoutAShapeHasARowAndNoTasks) {
  const JobId job = state_.add_job(kNone<ShapeId>, UserId{0}, Instant{1}, kEndless);
  EXPECT_EQ(state_.jobs().task_count[index(job)], 0U);
  EXPECT_EQ(add({1}), JobId{1});
  EXPECT_EQ(state_.audit(), std::vector<std::string>{});
}

TEST_F(JobRows, ManyJobsThatComeAndGoDoNotGrowTheTable) {
  Rng rng(3);
  std::vector<JobId> live;
  size_t peak = 0;
  size_t rows = 0;
  for (int i = 0; i < 3000; ++i) {
    if (live.size() > 50) {
      std::swap(live[rng.below(live.size())], live.back());
      rows -= state_.jobs().task_count[index(live.back())];
      end(live.back());
      live.pop_back();
    }
    live.push_back(add({static_cast<int32_t>(rng.between(1, 8))}));
    rows += state_.jobs().task_count[index(live.back())];
    peak = std::max(peak, rows);
  }
  EXPECT_LE(state_.tasks().size(), 2 * peak);
  EXPECT_EQ(state_.audit(), std::vector<std::string>{});
}

TEST_F(JobRows, OnlyAnEndedJobThatHoldsNothingIsRetired) {
  const JobId job = add({1});
  EXPECT_DEATH(state_.retire_tasks(job), "only a job that has ended");
  {
    Transaction txn(state_);
    txn.set_job_state(job, JobState::kDone);
    txn.set_task_state(TaskId{0}, TaskState::kReleasing);
    txn.commit();
  }
  EXPECT_DEATH(state_.retire_tasks(job), "no task of an ended job is anywhere");
}

}  // namespace
}  // namespace weft
