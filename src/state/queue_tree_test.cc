#include "state/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace weft {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::queue;

TEST(QueueTree, ParentsComeFirstAndKnowThatTheyHaveChildren) {
  ClusterState state;
  EXPECT_THAT(error_of(state.define_queue(queue("red", "org"))),
              HasSubstr("queue 'red': unknown parent 'org' (parents come first)"));
  ASSERT_EQ(state.define_queue(queue("org")), QueueId{0});
  ASSERT_EQ(state.define_queue(queue("red", "org")), QueueId{1});
  EXPECT_EQ(state.queues().parent[1], QueueId{0});
  EXPECT_EQ(state.queues().parent[0], kNone<QueueId>);
  EXPECT_EQ(state.queues().has_children[0], 1);
  EXPECT_EQ(state.queues().has_children[1], 0);
  EXPECT_THAT(error_of(state.define_queue(queue("blue", "redd"))), HasSubstr("did you mean 'red'?"));
}

TEST(QueueTree, AKnownNameChangesItsNumbersButNotItsParent) {
  ClusterState state;
  ASSERT_TRUE(state.define_queue(queue("org")));
  QueueSpec red = queue("red", "org");
  ASSERT_TRUE(state.define_queue(red));
  red.limit.gpu_units = 3 * kGpuUnits;
  red.weight_milli = 2000;
  EXPECT_EQ(state.define_queue(red), QueueId{1});
  EXPECT_EQ(state.queues().spec[1].limit.gpu_units, 3 * kGpuUnits);
  EXPECT_EQ(state.queues().size(), 2U);
  EXPECT_THAT(error_of(state.define_queue(queue("red"))),
              HasSubstr("it is there already, under 'org', and cannot move to the root"));
}

TEST(QueueTree, AQueueWithJobsGetsNoChildren) {
  ClusterState state;
  ASSERT_TRUE(state.define_queue(queue("red")));
  const auto shape = state.resolve(JobSpec{.name = "j", .queue = "red", .roles = {RoleSpec{}}});
  ASSERT_TRUE(shape);
  const JobId job = state.add_job(state.intern(*shape), UserId{0}, Instant{}, kEndless);
  EXPECT_THAT(error_of(state.define_queue(queue("child", "red"))), HasSubstr("its parent 'red' has jobs"));
  EXPECT_EQ(state.queues().size(), 1U);
  {
    Transaction txn(state);
    txn.set_job_state(job, JobState::kDone);
    txn.commit();
  }
  EXPECT_TRUE(state.define_queue(queue("child", "red"))) << "a job that has ended is no longer in the way";
}

TEST(QueueTree, WrongNumbersAreErrors) {
  struct Case {
    const char* words;
    void (*spoil)(QueueSpec&);
  };
  const Case cases[] = {
      {"a queue has no name", [](QueueSpec& s) { s.name.clear(); }},
      {"weight is negative", [](QueueSpec& s) { s.weight_milli = -1; }},
      {"guarantee gpu is negative", [](QueueSpec& s) { s.guarantee.gpu_units = -1; }},
      {"limit memory is negative", [](QueueSpec& s) { s.limit.memory_bytes = -1; }},
      {"limit cpu is too large", [](QueueSpec& s) { s.limit.cpu_milli = kUnlimited + 1; }},
      {"min_runtime is negative", [](QueueSpec& s) { s.min_runtime_before_preempt = seconds(-1); }},
      {"usage is not a number",
       [](QueueSpec& s) { s.past_usage_gpu_hours = std::numeric_limits<double>::quiet_NaN(); }},
      {"running_jobs_max is negative", [](QueueSpec& s) { s.running_jobs_max = -2; }},
  };
  for (const Case& c : cases) {
    ClusterState state;
    QueueSpec spec = queue("red");
    c.spoil(spec);
    EXPECT_THAT(error_of(state.define_queue(spec)), HasSubstr(c.words));
    EXPECT_EQ(state.queues().size(), 0U);
  }
}

TEST(QueueTree, AChargeCountsForAllAncestorsAndFirmOnesApart) {
  ClusterState state;
  ASSERT_TRUE(state.define_queue(queue("org")));
  ASSERT_TRUE(state.define_queue(queue("team", "org")));
  ASSERT_TRUE(state.define_queue(queue("red", "team")));
  ASSERT_TRUE(state.define_queue(queue("other", "org")));
  const ResourceVector amount{kGpuUnits, 500, kGiB};
  Transaction txn(state);
  txn.charge(QueueId{2}, amount, 1);
  txn.charge(QueueId{2}, amount, 0);
  txn.charge(QueueId{3}, amount, 1);
  EXPECT_EQ(state.queues().usage[2], amount * 2);
  EXPECT_EQ(state.queues().usage[1], amount * 2);
  EXPECT_EQ(state.queues().usage[0], amount * 3);
  EXPECT_EQ(state.queues().firm_usage[2], amount);
  EXPECT_EQ(state.queues().firm_usage[0], amount);
  EXPECT_EQ(state.queues().firm_usage[3], ResourceVector{});
  txn.charge(QueueId{2}, amount * -1, 0);
  EXPECT_EQ(state.queues().usage[0], amount * 2);
  EXPECT_EQ(state.queues().firm_usage[0], ResourceVector{});
}

}  // namespace
}  // namespace weft
