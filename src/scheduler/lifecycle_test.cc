#include "scheduler/lifecycle.h"

#include "scheduler/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const NodeId kNode0 = make_id<NodeId>(0);
const NodeId kNode1 = make_id<NodeId>(1);

/// `nodes` nodes of four GPUs and the queue `default`.
struct Cluster : TestWorld {
  explicit Cluster(unsigned nodes) {
    add_default_queue(*this);
    add_nodes(*this, nodes, 4);
  }
  ~Cluster() { EXPECT_THAT(scheduler->audit(), IsEmpty()); }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  std::vector<Decision> stops() const {
    std::vector<Decision> found;
    for (const Decision& d : history) {
      if (d.kind == DecisionKind::kStop) found.push_back(d);
    }
    return found;
  }
};

JobSpec strict_gang(int32_t count, int32_t gpus) {
  JobSpec spec = job_spec("gang", {.count = count, .gpus = gpus});
  spec.stale_after = {};
  return spec;
}

TEST(Lifecycle, ReleasesWhatAnEngineRefusesAndGivesUpAfterAllAttempts) {
  Cluster world(1);
  world.apply({{{}, JobSubmitted{strict_gang(1, 4)}}});
  const JobId job = make_id<JobId>(0);
  world.apply({world.engine.refuse({job, 1})});
  EXPECT_EQ(world.state(job), JobState::kHolding) << "it tries again at once";
  world.apply({world.engine.accept({job, 2})});
  world.apply({world.engine.fail_start({job, 2})});
  EXPECT_EQ(world.state(job), JobState::kHolding);
  world.apply({world.engine.refuse({job, 3})});
  EXPECT_EQ(world.state(job), JobState::kFailed);
  EXPECT_THAT(world.why(job), HasSubstr("engine"));
  EXPECT_EQ(world.scheduler->node(kNode0).free_devices, low_bits(4));
}

TEST(Lifecycle, ForgetsRefusalsOnceAGangHasStarted) {
  Cluster world(1);
  JobSpec spec = strict_gang(1, 4);
  spec.retries = 1;
  world.apply({{{}, JobSubmitted{spec}}});
  const JobId job = make_id<JobId>(0);
  world.apply({world.engine.refuse({job, 1})});
  world.apply({world.engine.refuse({job, 2})});
  world.settle();
  ASSERT_EQ(world.state(job), JobState::kRunning);
  world.apply({world.engine.end_task({job, 3}, 0, TaskOutcome::kFailed)});
  world.apply({world.engine.refuse({job, 4})});
  world.settle();
  EXPECT_EQ(world.state(job), JobState::kRunning);
}

TEST(Lifecycle, CancelsInEveryPhase) {
  Cluster world(1);
  const JobId job = make_id<JobId>(0);
  for (int phase = 0; phase < 4; ++phase) {
    const JobId next = world.scheduler->next_job_id();
    world.apply({{{}, JobSubmitted{strict_gang(2, 2)}}});
    if (phase >= 1) world.apply({world.engine.accept({next, 1})});
    if (phase >= 2) world.apply({world.engine.start({next, 1})});
    if (phase >= 3) world.apply({world.engine.end_task({next, 1}, 0, TaskOutcome::kDone)});
    world.apply({{{}, JobCancelled{next}}});
    EXPECT_EQ(is_end_state(world.state(next)), phase == 0) << "what may run holds its devices until it is gone";
    EXPECT_EQ(world.scheduler->node(kNode0).free_devices == low_bits(4), phase == 0);
    world.settle();
    EXPECT_EQ(world.state(next), JobState::kCancelled);
    EXPECT_EQ(world.scheduler->node(kNode0).free_devices, low_bits(4));
  }
  EXPECT_EQ(world.count(DecisionKind::kRelease), 1U);
  ASSERT_EQ(world.stops().size(), 3U);
  for (const Decision& stop : world.stops()) {
    EXPECT_EQ(stop.cause, StopCause::kCancelled);
    EXPECT_EQ(stop.task, -1) << "one command for all";
  }
  EXPECT_EQ(world.state(job), JobState::kCancelled);
}

TEST(Lifecycle, CancelledTwiceIsStoppedOnce) {
  Cluster world(1);
  const JobId job = world.submit(strict_gang(2, 2));
  world.apply({{{}, JobCancelled{job}}});
  world.apply({{{}, JobCancelled{job}}});
  EXPECT_EQ(world.stops().size(), 1U);
}

TEST(Lifecycle, StopsAGangThatLostANodeWholeAndKeepsItsPlaceInLine) {
  Cluster world(2);
  const JobId gang = world.submit(strict_gang(2, 4));
  ASSERT_EQ(world.state(gang), JobState::kRunning);
  const JobId later = world.submit(job_spec("later", {.gpus = 4}));
  world.apply({{{}, NodeDown{kNode0}}});
  ASSERT_EQ(world.stops().size(), 1U);
  EXPECT_EQ(world.stops()[0].cause, StopCause::kNodeFault);
  EXPECT_EQ(world.state(gang), JobState::kReleasing);
  EXPECT_EQ(world.state(later), JobState::kPending) << "the other node is not free before its task is gone";
  world.settle();
  EXPECT_EQ(world.state(later), JobState::kRunning);
  EXPECT_EQ(world.state(gang), JobState::kPending);
  world.apply({{{}, NodeUp{kNode0}}});
  world.finish(later);
  EXPECT_EQ(world.state(gang), JobState::kRunning);
}

TEST(Lifecycle, ToleratesAGangBelowItsMinimumForAsLongAsItSays) {
  Cluster world(2);
  JobSpec spec = strict_gang(2, 4);
  spec.stale_after = seconds(60);
  const JobId gang = world.submit(spec);
  world.tell(NodeDown{kNode0});
  EXPECT_EQ(world.state(gang), JobState::kPending);
  EXPECT_EQ(world.running(gang).size(), 2U) << "the engine of this test still has both; the core counts one";
  EXPECT_THAT(world.stops(), IsEmpty());
  EXPECT_EQ(world.scheduler->next_timer(), Instant{} + seconds(60));
  world.now = Instant{} + seconds(60);
  world.tell(Tick{});
  ASSERT_EQ(world.stops().size(), 1U);
  EXPECT_EQ(world.stops()[0].cause, StopCause::kNodeFault);
  EXPECT_EQ(world.state(gang), JobState::kPending);
  EXPECT_EQ(world.scheduler->node(kNode1).free_devices, low_bits(4));
}

TEST(Lifecycle, CompletesAToleratedGangWhereThereIsRoom) {
  Cluster world(3);
  JobSpec spec = strict_gang(2, 4);
  spec.stale_after = seconds(60);
  const JobId gang = world.submit(spec);
  world.tell(NodeDown{kNode0});
  EXPECT_EQ(world.state(gang), JobState::kRunning);
  EXPECT_EQ(world.scheduler->job(gang).attempt, 2U) << "the missing task was started on its own";
  EXPECT_EQ(world.scheduler->next_timer(), kNever);
  EXPECT_THAT(world.stops(), IsEmpty());
}

TEST(Lifecycle, StopsWhatUsesAFailedDeviceAndNothingElse) {
  Cluster world(1);
  const JobId one = world.submit(strict_gang(1, 2));
  const JobId two = world.submit(strict_gang(1, 2));
  const DeviceMask of_one = world.scheduler->job(one).tasks[0].placement.devices;
  world.apply({{{}, DeviceFailed{kNode0, static_cast<uint8_t>(std::countr_zero(of_one))}}});
  ASSERT_EQ(world.stops().size(), 1U);
  EXPECT_EQ(world.stops()[0].job, one);
  EXPECT_EQ(world.stops()[0].cause, StopCause::kNodeFault);
  world.settle();
  EXPECT_EQ(world.state(one), JobState::kPending) << "a fault costs no retry";
  EXPECT_EQ(world.state(two), JobState::kRunning);
  world.tell(DeviceRecovered{kNode0, static_cast<uint8_t>(std::countr_zero(of_one))});
  EXPECT_EQ(world.state(one), JobState::kRunning);
}

TEST(Lifecycle, FailsAGangWhoseTaskCrashedAndGivesBackAllOfIt) {
  Cluster world(2);
  const JobId gang = world.submit(strict_gang(2, 4));
  world.apply({world.engine.end_task({gang, 1}, 1, TaskOutcome::kFailed)});
  ASSERT_EQ(world.stops().size(), 1U);
  EXPECT_EQ(world.stops()[0].cause, StopCause::kGangBroken);
  EXPECT_EQ(world.state(gang), JobState::kReleasing);
  world.settle();
  EXPECT_EQ(world.state(gang), JobState::kFailed);
  EXPECT_EQ(world.scheduler->job(gang).exit_status, 1);
}

TEST(Lifecycle, RunsAGangAgainWhileItHasRetries) {
  Cluster world(2);
  JobSpec spec = strict_gang(2, 4);
  spec.retries = 1;
  const JobId gang = world.submit(spec);
  world.finish_task(gang, 0, TaskOutcome::kDone);
  world.finish_task(gang, 1, TaskOutcome::kFailed);
  EXPECT_EQ(world.state(gang), JobState::kRunning);
  EXPECT_EQ(world.running(gang).size(), 2U) << "it begins anew, with the task that had ended well";
  world.finish_task(gang, 1, TaskOutcome::kFailed);
  EXPECT_EQ(world.state(gang), JobState::kFailed);
}

TEST(Lifecycle, GoesOnWithTheMinimumWhenSurplusIsLost) {
  Cluster world(2);
  JobSpec spec = job_spec("flex", {.count = 2, .min = 1, .gpus = 4});
  world.tell(JobAdopted{spec, {}, {}, {{.task = 0, .node = kNode0}, {.task = 1, .node = kNode1}}});
  const JobId job = make_id<JobId>(0);
  EXPECT_EQ(world.state(job), JobState::kRunning);
  world.tell(NodeDown{kNode1});
  EXPECT_EQ(world.state(job), JobState::kRunning);
  EXPECT_THAT(world.stops(), IsEmpty());
}

TEST(Lifecycle, GivesUpAHoldOnANodeThatGoesDown) {
  Cluster world(2);
  world.apply({{{}, JobSubmitted{strict_gang(2, 4)}}});
  world.apply({{{}, NodeDown{kNode1}}});
  EXPECT_EQ(world.count(DecisionKind::kRelease), 1U);
  EXPECT_EQ(world.state(make_id<JobId>(0)), JobState::kPending);
  EXPECT_EQ(world.scheduler->node(kNode0).free_devices, low_bits(4));
  world.tell(NodeUp{kNode1});
  EXPECT_EQ(world.state(make_id<JobId>(0)), JobState::kRunning);
}

TEST(Lifecycle, StopsAGangThatLosesANodeWhileItStarts) {
  Cluster world(2);
  const JobId job = make_id<JobId>(0);
  JobSpec spec = strict_gang(2, 4);
  spec.stale_after = seconds(60);
  world.apply({{{}, JobSubmitted{spec}}});
  world.apply({world.engine.accept({job, 1})});
  world.apply({{{}, NodeDown{kNode1}}});
  EXPECT_EQ(world.stops().size(), 1U) << "a gang that has not run yet is not tolerated";
  world.apply({world.engine.fail_start({job, 1})});
  EXPECT_EQ(world.state(job), JobState::kPending);
  EXPECT_EQ(world.scheduler->node(kNode0).free_devices, low_bits(4));
}

TEST(Lifecycle, EndsByItsTimeLimit) {
  Cluster world(1);
  JobSpec spec = strict_gang(1, 4);
  spec.time_limit = seconds(10);
  spec.grace = seconds(3);
  const JobId job = world.submit(spec);
  EXPECT_EQ(world.scheduler->next_timer(), Instant{} + seconds(10));
  world.now = Instant{} + seconds(10);
  world.apply({{world.now, Tick{}}});
  ASSERT_EQ(world.stops().size(), 1U);
  EXPECT_EQ(world.stops()[0].cause, StopCause::kTimeLimit);
  EXPECT_EQ(world.stops()[0].grace, seconds(3));
  world.settle();
  EXPECT_EQ(world.state(job), JobState::kFailed);
}

TEST(Lifecycle, IsDoneWhenItWasFasterThanTheStop) {
  Cluster world(1);
  JobSpec spec = strict_gang(1, 4);
  spec.time_limit = seconds(10);
  const JobId job = world.submit(spec);
  world.now = Instant{} + seconds(10);
  world.apply({{world.now, Tick{}}});
  world.apply({world.engine.end_task({job, 1}, 0, TaskOutcome::kDone)});
  EXPECT_EQ(world.state(job), JobState::kDone);
}

TEST(Lifecycle, IgnoresWhatIsSaidOfAnOlderAttempt) {
  Cluster world(1);
  JobSpec spec = strict_gang(1, 4);
  spec.retries = 1;
  const JobId job = world.submit(spec);
  world.finish(job, TaskOutcome::kFailed);
  ASSERT_EQ(world.scheduler->job(job).attempt, 2U);
  const uint64_t ignored = world.scheduler->cluster().ignored_event_count;
  world.apply({{{}, TaskEnded{job, 1, 0, TaskOutcome::kFailed, 1}},
               {{}, HoldAccepted{job, 1}},
               {{}, GangStarted{job, 1}},
               {{}, StartFailed{job, 1, ""}},
               {{}, TaskEnded{job, 3, 0, TaskOutcome::kDone, 0}}});
  EXPECT_EQ(world.state(job), JobState::kRunning);
  EXPECT_EQ(world.scheduler->cluster().ignored_event_count, ignored + 5);
}

TEST(Lifecycle, AdoptsTasksOnTheLowestDevicesWithRoom) {
  Cluster world(1);
  world.tell(JobAdopted{strict_gang(1, 2), {}, {}, {{.task = 0, .node = kNode0, .devices = 0b0010 | 0b0100}}});
  world.tell(JobAdopted{strict_gang(2, 1), {}, {}, {{.task = 0, .node = kNode0}, {.task = 1, .node = kNode0}}});
  EXPECT_EQ(world.state(make_id<JobId>(1)), JobState::kRunning);
  const JobView view = world.scheduler->job(make_id<JobId>(1));
  EXPECT_EQ(view.tasks[0].placement.devices, 0b0001U);
  EXPECT_EQ(view.tasks[1].placement.devices, 0b1000U);
  EXPECT_EQ(view.attempt, 1U);
  EXPECT_EQ(world.count(DecisionKind::kHold), 0U);
  world.apply({{{}, TaskEnded{make_id<JobId>(1), 1, 0, TaskOutcome::kDone, 0}},
               {{}, TaskEnded{make_id<JobId>(1), 1, 1, TaskOutcome::kDone, 0}}});
  EXPECT_EQ(world.state(make_id<JobId>(1)), JobState::kDone);
}

TEST(Lifecycle, LeavesAnAdoptedTaskPendingWhoseFactContradictsAnother) {
  Cluster world(1);
  world.tell(JobAdopted{strict_gang(1, 3), {}, {}, {{.task = 0, .node = kNode0}}});
  world.apply({{{}, JobAdopted{strict_gang(1, 2), {}, {}, {{.task = 0, .node = kNode0}}}}});
  ASSERT_EQ(world.scheduler->last_errors().size(), 1U);
  EXPECT_EQ(world.state(make_id<JobId>(1)), JobState::kPending);
  for (const AdoptedTask& fact :
       {AdoptedTask{.task = 5, .node = kNode0}, AdoptedTask{.task = 0, .node = kNode1},
        AdoptedTask{.task = 0, .node = kNode0, .devices = 0b1}, AdoptedTask{.task = -3, .node = kNode0},
        AdoptedTask{.task = 0, .node = kNode0, .numa_zone = 4}}) {
    world.apply({{{}, JobAdopted{strict_gang(1, 1), {}, {}, {fact}}}});
    EXPECT_EQ(world.scheduler->last_errors().size(), 1U);
  }
}

TEST(Lifecycle, LooksForTheMissingTaskOfAnAdoptedGangAndStopsItWhenThatTakesTooLong) {
  Cluster world(1);
  JobSpec spec = strict_gang(2, 2);
  spec.stale_after = seconds(60);
  world.tell(JobAdopted{spec, {}, {}, {{.task = 1, .node = kNode0}}});
  EXPECT_EQ(world.state(make_id<JobId>(0)), JobState::kRunning) << "there was room for the other";
  world.finish(make_id<JobId>(0));
  spec.roles[0].count = 3;
  world.tell(JobAdopted{spec, {}, {}, {{.task = 0, .node = kNode0}}});
  EXPECT_EQ(world.state(make_id<JobId>(1)), JobState::kPending);
  world.now = Instant{} + seconds(60);
  world.apply({{world.now, Tick{}}});
  ASSERT_EQ(world.stops().size(), 1U);
  EXPECT_EQ(world.stops()[0].cause, StopCause::kGangBroken);
  world.apply({{world.now, TaskEnded{make_id<JobId>(1), 1, 0, TaskOutcome::kStopped, 0}}});
  EXPECT_EQ(world.state(make_id<JobId>(1)), JobState::kPending);
}

}  // namespace
}  // namespace weft
