#include "scheduler/lifecycle.h"
#include "scheduler/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::IsEmpty;

const NodeId kNode0 = make_id<NodeId>(0);

// Answers that come late, twice or between others: what a real engine does on a bad day.
struct Faults : ::testing::Test {
  void build(unsigned nodes) {
    add_default_queue(world);
    add_nodes(world, nodes, 4);
  }
  void TearDown() override { EXPECT_THAT(world.scheduler->audit(), IsEmpty()); }

  TestWorld world;
};

JobSpec pair_of(int32_t gpus, Duration stale_after) {
  JobSpec spec = job_spec("pair", {.count = 2, .gpus = gpus});
  spec.stale_after = stale_after;
  return spec;
}

TEST_F(Faults, AGangThatIsCancelledWhileItStartsIsCancelledWhateverItsTimeLimit) {
  build(1);
  JobSpec spec = pair_of(2, {});
  spec.time_limit = seconds(10);
  const JobId job = make_id<JobId>(0);
  world.apply({{{}, JobSubmitted{spec}}});
  world.apply({world.engine.accept({job, 1})});
  world.apply({{{}, JobCancelled{job}}});
  world.apply({world.engine.start({job, 1})});
  EXPECT_EQ(world.scheduler->next_timer(), kNever);
  world.now = Instant{} + seconds(10);
  world.apply({{world.now, Tick{}}});
  world.settle();
  EXPECT_EQ(world.state(job), JobState::kCancelled);
}

TEST_F(Faults, ATaskThatWasOnlyHeldCannotEnd) {
  build(1);
  const JobId job = make_id<JobId>(0);
  world.apply({{{}, JobSubmitted{pair_of(2, {})}}});
  world.apply({{{}, TaskEnded{job, 1, 0, TaskOutcome::kFailed, 1}}});
  EXPECT_EQ(world.scheduler->cluster().ignored_event_count, 1U);
  EXPECT_EQ(world.state(job), JobState::kHolding);
  world.settle();
  EXPECT_EQ(world.state(job), JobState::kRunning);
}

TEST_F(Faults, ATaskThatWasToldToStopWhileItStartedDoesNotRun) {
  build(1);
  const JobId job = make_id<JobId>(0);
  world.apply({{{}, JobSubmitted{pair_of(2, {})}}});
  world.apply({world.engine.accept({job, 1})});
  world.apply({{{}, DeviceFailed{kNode0, 0}}});
  world.apply({world.engine.start({job, 1})});
  EXPECT_EQ(world.state(job), JobState::kReleasing);
  for (const TaskView& task : world.scheduler->job(job).tasks) EXPECT_EQ(task.state, TaskState::kReleasing);
  EXPECT_THAT(world.scheduler->audit(), IsEmpty());
}

TEST_F(Faults, ALossThatWasMadeGoodDoesNotShortenTheTimeOfTheNextOne) {
  build(2);
  const JobId job = world.submit(pair_of(4, seconds(60)));
  JobSpec later = job_spec("later", {.gpus = 4});
  later.start_no_earlier = Instant{} + seconds(50);  // stands before the first timer, which nobody drops so
  world.tell(JobSubmitted{later});
  const auto at = [&](int64_t second, EventBody body) {
    world.now = Instant{} + seconds(second);
    world.apply({{world.now, std::move(body)}});
    for (const AttemptKey& key : std::vector(world.engine.to_hold())) world.apply({world.engine.accept(key)});
    for (const AttemptKey& key : std::vector(world.engine.to_start())) world.apply({world.engine.start(key)});
  };
  at(0, NodeDown{kNode0});
  at(30, NodeUp{kNode0});
  ASSERT_EQ(world.state(job), JobState::kRunning);
  at(40, NodeDown{kNode0});
  at(60, Tick{});
  EXPECT_EQ(world.count(DecisionKind::kStop), 0U);
  EXPECT_EQ(world.scheduler->next_timer(), Instant{} + seconds(100));
  at(100, Tick{});
  EXPECT_EQ(world.count(DecisionKind::kStop), 1U);
}

TEST_F(Faults, ATaskIsReplacedOnlyOnceItHasGone) {
  build(3);
  const JobId job = world.submit(pair_of(4, seconds(60)));
  const NodeId lost = world.scheduler->job(job).tasks[0].placement.node;
  world.apply({{{}, DeviceFailed{lost, 0}}});
  EXPECT_EQ(world.scheduler->job(job).attempt, 1U) << "there is room, but no task to put there";
  world.apply(world.answers());
  EXPECT_EQ(world.scheduler->job(job).attempt, 2U);
  world.settle();
  EXPECT_EQ(world.state(job), JobState::kRunning);
}

TEST_F(Faults, TheStatusOfTheFirstTaskThatFailedIsKept) {
  build(1);
  JobSpec spec = job_spec("bag", {.count = 2, .gpus = 1});
  spec.gang = GangRule::kNone;
  spec.retries = 1;
  const JobId job = world.submit(spec);
  world.apply({{{}, TaskEnded{job, 1, 0, TaskOutcome::kFailed, 3}}});
  world.apply({{{}, TaskEnded{job, 2, 1, TaskOutcome::kFailed, 4}}});
  EXPECT_EQ(world.scheduler->job(job).exit_status, 3);
}

}  // namespace
}  // namespace weft
