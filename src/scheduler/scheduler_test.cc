#include "scheduler/scheduler.h"

#include "scheduler/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const DecisionKind kHold = DecisionKind::kHold;

TEST(Scheduler, StartsAJobInTwoPhases) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 2, 4);
  world.apply({{{}, JobSubmitted{job_spec("a", {.count = 2, .gpus = 4})}}});
  const JobId job = make_id<JobId>(0);
  EXPECT_EQ(world.state(job), JobState::kHolding);
  ASSERT_EQ(world.count(kHold), 1U);
  EXPECT_EQ(world.decisions.placements.size(), 2U);
  world.apply({world.engine.accept({job, 1})});
  EXPECT_EQ(world.state(job), JobState::kStarting);
  EXPECT_EQ(world.count(DecisionKind::kStart), 1U);
  world.apply({world.engine.start({job, 1})});
  EXPECT_EQ(world.state(job), JobState::kRunning);
  world.finish(job);
  EXPECT_EQ(world.state(job), JobState::kDone);
  EXPECT_EQ(world.count(DecisionKind::kEnd), 1U);
  EXPECT_THAT(world.scheduler->audit(), IsEmpty());
}

TEST(Scheduler, GivesEveryJobAnIdAlsoOneThatItRejects) {
  TestWorld world;
  add_default_queue(world);
  const JobId bad = world.submit(job_spec("bad", {.queue = "nowhere"}));
  EXPECT_EQ(world.state(bad), JobState::kRejected);
  EXPECT_EQ(world.scheduler->next_job_id(), make_id<JobId>(1));
  EXPECT_THAT(world.why(bad), HasSubstr("nowhere"));
  ASSERT_EQ(world.count(DecisionKind::kReject), 1U);
  const JobId good = world.submit(job_spec("good", {}));
  EXPECT_EQ(good, make_id<JobId>(1));
  EXPECT_THAT(world.scheduler->audit(), IsEmpty());
}

TEST(Scheduler, LetsLaterJobsPassOneThatDoesNotFit) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  const JobId first = world.submit(job_spec("first", {.gpus = 2}));
  const JobId large = world.submit(job_spec("large", {.gpus = 4}));
  const JobId small = world.submit(job_spec("small", {.gpus = 2}));
  EXPECT_EQ(world.state(first), JobState::kRunning);
  EXPECT_EQ(world.state(large), JobState::kPending);
  EXPECT_EQ(world.state(small), JobState::kRunning);
  EXPECT_EQ(world.word(large), "GPUs");
}

TEST(Scheduler, KeepsEverybodyBehindAJobThatWaitsForRoomWhenTheOrderIsStrict) {
  PolicyConfig config;
  config.order = "fifo";
  config.strict = StrictOrder::kYes;
  TestWorld world(config);
  world.tell(QueueDefined{{.name = "default"}});
  world.tell(QueueDefined{{.name = "other"}});
  add_nodes(world, 1, 4);
  const JobId first = world.submit(job_spec("first", {.gpus = 2}));
  const JobId large = world.submit(job_spec("large", {.gpus = 4}));
  const JobId small = world.submit(job_spec("small", {.gpus = 2, .queue = "other"}));
  EXPECT_EQ(world.state(large), JobState::kPending);
  EXPECT_EQ(world.state(small), JobState::kPending);
  EXPECT_EQ(world.scheduler->job(small).verdict.reason, Reason::kOrder);
  EXPECT_EQ(world.scheduler->job(small).verdict.blocker, large);
  world.tell(JobHeld{large});
  EXPECT_EQ(world.state(small), JobState::kRunning) << "who is held back by its user keeps nobody";
  world.tell(JobReleased{large});
  world.finish(first);
  world.finish(small);
  EXPECT_EQ(world.state(large), JobState::kRunning);
}

TEST(Scheduler, LetsPassInAStrictOrderWhoCanNeverRun) {
  PolicyConfig config;
  config.strict = StrictOrder::kYes;
  TestWorld world(config);
  add_default_queue(world);
  add_nodes(world, 1, 4);
  const JobId monster = world.submit(job_spec("monster", {.gpus = 8}));
  const JobId small = world.submit(job_spec("small", {.gpus = 2}));
  EXPECT_EQ(world.state(small), JobState::kRunning);
  EXPECT_TRUE(world.scheduler->job(monster).verdict.is_never);
  EXPECT_THAT(world.why(monster), HasSubstr("never"));
}

TEST(Scheduler, TriesAJobThatCouldNeverRunAgainWhenANodeArrives) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  const JobId wide = world.submit(job_spec("wide", {.count = 2, .gpus = 4}));
  EXPECT_TRUE(world.scheduler->job(wide).verdict.is_never);
  world.tell(NodeAdded{node_spec("more", 4)});
  EXPECT_EQ(world.state(wide), JobState::kRunning);
}

TEST(Scheduler, DoesNotCallAJobImpossibleBecauseANodeIsDown) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  world.tell(NodeDown{make_id<NodeId>(0)});
  const JobId job = world.submit(job_spec("j", {.gpus = 4}));
  EXPECT_EQ(world.state(job), JobState::kPending);
  EXPECT_FALSE(world.scheduler->job(job).verdict.is_never);
  world.tell(NodeUp{make_id<NodeId>(0)});
  EXPECT_EQ(world.state(job), JobState::kRunning);
}

TEST(Scheduler, StartsTasksWithoutAGangOneByOne) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 3);
  JobSpec spec = job_spec("bag", {.count = 5, .gpus = 1});
  spec.gang = GangRule::kNone;
  const JobId bag = world.submit(spec);
  EXPECT_EQ(world.running(bag).size(), 3U);
  EXPECT_EQ(world.state(bag), JobState::kPending) << "a job runs while every minimum runs";
  EXPECT_EQ(world.word(bag), "GPUs");
  world.finish_task(bag, 0, TaskOutcome::kDone);
  world.finish_task(bag, 1, TaskOutcome::kDone);
  EXPECT_EQ(world.state(bag), JobState::kRunning);
  world.finish(bag);
  EXPECT_EQ(world.state(bag), JobState::kDone);
  EXPECT_THAT(world.scheduler->audit(), IsEmpty());
}

TEST(Scheduler, TriesEveryRoleOfAJobWithoutGangOnItsOwn) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 2);
  JobSpec spec = job_spec("two roles", {.count = 2, .gpus = 4});
  spec.roles[0].name = "big";
  spec.roles.push_back(job_spec("x", {.count = 2, .gpus = 1}).roles[0]);
  spec.roles[1].name = "small";
  spec.gang = GangRule::kNone;
  const JobId job = world.submit(spec);
  EXPECT_EQ(world.running(job).size(), 2U) << "the small ones start though the big ones never fit";
  const JobView view = world.scheduler->job(job);
  EXPECT_EQ(view.tasks[2].name, "small/0");
  EXPECT_EQ(view.tasks[2].state, TaskState::kRunning);
  EXPECT_EQ(view.tasks[0].state, TaskState::kPending);
}

TEST(Scheduler, StartsTheMinimumOfEveryRoleAndLeavesTheSurplusPending) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 8);
  const JobId job = world.submit(job_spec("flex", {.count = 5, .min = 2, .gpus = 1}));
  EXPECT_EQ(world.state(job), JobState::kRunning);
  EXPECT_EQ(world.running(job).size(), 2U);
}

TEST(Scheduler, StartsAsManyMembersOfAGroupAsItNeeds) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 3);
  JobSpec spec{.name = "grouped"};
  for (const char* name : {"x", "k", "z"}) {
    spec.roles.push_back(job_spec("r", {.gpus = name[0] == 'x' ? 4 : 1}).roles[0]);
    spec.roles.back().name = name;
  }
  spec.groups.push_back({.name = "either", .roles = {"x", "k"}, .groups = {}, .min = 1});
  const JobId job = world.submit(spec);
  EXPECT_EQ(world.state(job), JobState::kRunning);
  EXPECT_EQ(world.running(job).size(), 2U);
}

TEST(Scheduler, WaitsForBeginTimeAndTellsItsTimer) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 1);
  JobSpec spec = job_spec("later", {.gpus = 1});
  spec.start_no_earlier = Instant{100};
  const JobId later = world.submit(spec);
  EXPECT_EQ(world.scheduler->job(later).verdict.reason, Reason::kBeginTime);
  EXPECT_EQ(world.scheduler->next_timer(), Instant{100});
  world.now = {99};
  world.tell(Tick{});
  EXPECT_EQ(world.state(later), JobState::kPending);
  world.now = {100};
  world.tell(Tick{});
  EXPECT_EQ(world.state(later), JobState::kRunning);
  EXPECT_EQ(world.scheduler->next_timer(), kNever);
}

TEST(Scheduler, StartsAfterThoseItComesAfterHaveEndedWell) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  const JobId a = world.submit(job_spec("a", {.gpus = 1}));
  const JobId b = world.submit(job_spec("b", {.gpus = 1}));
  JobSpec spec = job_spec("c", {.gpus = 1});
  spec.after = {0, 1};
  const JobId c = world.submit(spec);
  EXPECT_EQ(world.scheduler->job(c).verdict.reason, Reason::kDependency);
  EXPECT_EQ(world.scheduler->job(c).verdict.blocker, a);
  world.finish(a);
  EXPECT_EQ(world.state(c), JobState::kPending);
  world.finish(b);
  EXPECT_EQ(world.state(c), JobState::kRunning);
}

TEST(Scheduler, CancelsWhoComesAfterAJobThatFailedAndAllBehindIt) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  const JobId a = world.submit(job_spec("a", {.gpus = 1}));
  JobSpec next = job_spec("b", {.gpus = 1});
  next.after = {0};
  const JobId b = world.submit(next);
  next.after = {1};
  const JobId c = world.submit(next);
  world.finish(a, TaskOutcome::kFailed);
  EXPECT_EQ(world.state(a), JobState::kFailed);
  EXPECT_EQ(world.scheduler->job(a).exit_status, 1);
  EXPECT_EQ(world.state(b), JobState::kCancelled);
  EXPECT_EQ(world.state(c), JobState::kCancelled);
  const JobId late = world.submit(next);
  EXPECT_EQ(world.state(late), JobState::kCancelled) << "also who comes after they have ended";
  next.after = {77};
  EXPECT_EQ(world.state(world.submit(next)), JobState::kRejected);
}

TEST(Scheduler, IgnoresAndCountsWhatItNeverGaveAnIdTo) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 1);
  const JobId job = world.submit(job_spec("a", {.gpus = 1}));
  const uint64_t hash = world.scheduler->decision_hash();
  const uint64_t before = world.scheduler->cluster().ignored_event_count;
  const NodeId node = make_id<NodeId>(9);
  const JobId nobody = make_id<JobId>(9);
  const std::vector<EventBody> bodies{
      NodeDown{node},        NodeUp{node},         NodeCordoned{node},        NodeUncordoned{node},
      DeviceFailed{node, 0}, JobCancelled{nobody}, HoldAccepted{nobody, 1},   GangStarted{nobody, 1},
      HoldAccepted{job, 1},  GangStarted{job, 1},  HoldRefused{job, 1, ""},   StartFailed{job, 7, ""},
      JobHeld{nobody},       JobReleased{nobody},  NodeUp{make_id<NodeId>(0)}};
  for (const EventBody& body : bodies) world.apply({{{}, body}});
  for (const int32_t task : {-1, 1, 1'000'000}) world.apply({{{}, TaskEnded{job, 1, task, TaskOutcome::kFailed, 1}}});
  world.apply({{{}, TaskEnded{job, 2, 0, TaskOutcome::kFailed, 1}}});
  world.apply({{{}, DeviceFailed{make_id<NodeId>(0), 200}}});
  EXPECT_EQ(world.scheduler->decision_hash(), hash);
  EXPECT_EQ(world.scheduler->cluster().ignored_event_count, before + bodies.size() + 5);
  EXPECT_EQ(world.state(job), JobState::kRunning);
}

TEST(Scheduler, TakesFactsInWithoutDecidingUntilAsked) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 1);
  const Event event{{}, JobSubmitted{job_spec("a", {.gpus = 1})}};
  EXPECT_THAT(world.scheduler->absorb(std::span(&event, 1)).list, IsEmpty());
  EXPECT_EQ(world.state(make_id<JobId>(0)), JobState::kPending);
  world.tell(Tick{});
  EXPECT_EQ(world.state(make_id<JobId>(0)), JobState::kRunning);
}

TEST(Scheduler, TimeNeverRunsBackwards) {
  TestWorld world;
  world.apply({{{50}, Tick{}}, {{20}, Tick{}}});
  EXPECT_EQ(world.scheduler->now(), Instant{50});
  world.apply({{kNever, Tick{}}});
  EXPECT_EQ(world.scheduler->now(), Instant{50}) << "an instant beyond all time is no time";
}

TEST(Scheduler, GoesOnInTheNextPassWhenOneHasUsedUpItsSteps) {
  PolicyConfig config;
  config.pass_steps_max = 5;
  TestWorld world(config);
  add_default_queue(world);
  add_nodes(world, 4, 8);
  std::vector<Event> events;
  for (int i = 0; i < 20; ++i) events.push_back({{}, JobSubmitted{job_spec("j", {.gpus = 1 + i % 2})}});
  world.apply(events);
  EXPECT_LT(world.count(kHold), 5U);
  int passes = 1;
  for (; world.scheduler->next_timer() <= world.now && passes < 50; ++passes) world.apply({Event{}});
  EXPECT_EQ(world.count(kHold), 20U);
  EXPECT_LT(passes, 20);
  EXPECT_EQ(world.scheduler->next_timer(), kNever);
}

TEST(Scheduler, LetsPassInAStrictOrderWhoseQueueFilledUpWhileItWaited) {
  PolicyConfig config;
  config.strict = StrictOrder::kYes;
  TestWorld world(config);
  world.tell(QueueDefined{
      {.name = "q", .limit = {.gpu_units = 4 * kGpuUnits, .cpu_milli = kUnlimited, .memory_bytes = kUnlimited}}});
  world.tell(QueueDefined{{.name = "other"}});
  add_nodes(world, 1, 8);
  world.submit(job_spec("blocker", {.gpus = 6, .queue = "other"}));
  const JobId waits = world.submit(job_spec("waits", {.gpus = 4, .queue = "q"}));
  const JobId small = world.submit(job_spec("small", {.gpus = 1, .queue = "other"}));
  ASSERT_EQ(world.state(small), JobState::kPending);
  world.tell(
      JobAdopted{job_spec("adopted", {.gpus = 1, .queue = "q"}), {}, {}, {{.task = 0, .node = make_id<NodeId>(0)}}});
  EXPECT_EQ(world.state(waits), JobState::kPending);
  EXPECT_EQ(world.state(small), JobState::kRunning);
}

}  // namespace
}  // namespace weft
