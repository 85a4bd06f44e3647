#include "scheduler/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PolicyConfig elect(std::string order) {
  PolicyConfig config;
  config.order = std::move(order);
  config.mode = CycleMode::kElect;
  return config;
}

/// `gpus` single GPUs, wherever they are, and nothing else.
JobSpec gpus_for(int32_t gpus, Duration estimate) {
  JobSpec job = job_spec("j", {.count = gpus, .gpus = 1, .cpu_milli = 0});
  job.roles[0].memory_bytes = 0;
  job.estimate = estimate;
  return job;
}

struct ElectWorld : TestWorld {
  explicit ElectWorld(const PolicyConfig& config, unsigned nodes = 1, unsigned gpus = 4) : TestWorld(config) {
    add_default_queue(*this);
    add_nodes(*this, nodes, gpus);
  }
  void pass(Duration time) {
    now = now + time;
    tell(Tick{});
  }
  std::set<JobId> running_jobs() const {
    std::set<JobId> running;
    for (size_t j = 0; j < scheduler->job_count(); ++j) {
      if (state(make_id<JobId>(j)) == JobState::kRunning) running.insert(make_id<JobId>(j));
    }
    return running;
  }
  int stops(JobId job) const {
    return static_cast<int>(std::ranges::count_if(
        history, [&](const Decision& d) { return d.kind == DecisionKind::kStop && d.job == job; }));
  }
};

TEST(Elect, AShorterJobTakesThePlaceOfALongerOneThatComesBackLater) {
  ElectWorld world(elect("srtf"));
  const JobId longer = world.submit(gpus_for(4, seconds(100)));
  world.pass(seconds(10));
  const JobId shorter = world.submit(gpus_for(2, seconds(20)));
  EXPECT_EQ(world.state(shorter), JobState::kRunning);
  EXPECT_EQ(world.state(longer), JobState::kPending);
  EXPECT_THAT(world.why(longer), HasSubstr("GPUs"));
  world.pass(seconds(20));
  world.finish(shorter);
  EXPECT_EQ(world.state(longer), JobState::kRunning);
  EXPECT_EQ(world.stops(longer), 1);
  EXPECT_THAT(world.scheduler->audit(), IsEmpty());
}

TEST(Elect, WhatAJobHasDoneCountsForItsRemainingTime) {
  ElectWorld world(elect("srtf"));
  const JobId first = world.submit(gpus_for(4, seconds(100)));
  world.pass(seconds(70));
  const JobId second = world.submit(gpus_for(4, seconds(40)));
  EXPECT_EQ(world.state(first), JobState::kRunning) << "it has 30 s left";
  world.tell(ProgressReported{.job = first, .remaining = seconds(50)});
  EXPECT_EQ(world.state(second), JobState::kRunning) << "the report counts, not the estimate";
  EXPECT_EQ(world.state(first), JobState::kPending);
  world.tell(ProgressReported{.job = first, .remaining = seconds(10)});
  EXPECT_EQ(world.state(first), JobState::kRunning) << "also of a job that waits";
}

TEST(Elect, SmallerJobsPassOneThatDoesNotFit) {
  ElectWorld world(elect("srtf"));
  const JobId busy = world.submit(gpus_for(3, seconds(10)));
  const JobId wide = world.submit(gpus_for(2, seconds(20)));
  const JobId narrow = world.submit(gpus_for(1, seconds(30)));
  EXPECT_THAT(world.running_jobs(), ElementsAre(busy, narrow));
  EXPECT_EQ(world.state(wide), JobState::kPending);
}

TEST(Elect, JobsSinkALevelWhenTheyHaveHadTheirShareAndRunnersGoFirstOnALevel) {
  PolicyConfig config = elect("2d-las");
  config.service.limits = {seconds(40), seconds(400)};
  ElectWorld world(config);
  const JobId first = world.submit(gpus_for(4, kEndless));
  EXPECT_EQ(world.scheduler->next_timer(), Instant{} + seconds(10)) << "40 GPU-seconds of four GPUs";
  world.pass(seconds(5));
  const JobId second = world.submit(gpus_for(4, kEndless));
  EXPECT_EQ(world.state(first), JobState::kRunning) << "both are on the first level, and it runs";
  world.pass(seconds(5));
  EXPECT_EQ(world.state(second), JobState::kRunning);
  EXPECT_EQ(world.state(first), JobState::kPending);
  world.pass(seconds(10));
  EXPECT_EQ(world.state(first), JobState::kRunning) << "it waited on the second level before the other sank to it";
}

TEST(Elect, NobodyIsStoppedForShortestJobFirst) {
  ElectWorld world(elect("sjf"));
  const JobId running = world.submit(gpus_for(4, seconds(100)));
  const JobId longer = world.submit(gpus_for(4, seconds(50)));
  const JobId shorter = world.submit(gpus_for(4, seconds(10)));
  EXPECT_THAT(world.running_jobs(), ElementsAre(running));
  world.finish(running);
  EXPECT_THAT(world.running_jobs(), ElementsAre(shorter));
  world.finish(shorter);
  EXPECT_THAT(world.running_jobs(), ElementsAre(longer));
}

TEST(Elect, AJobThatIsNotPreemptibleStaysOnceItRuns) {
  ElectWorld world(elect("srtf"));
  JobSpec firm = gpus_for(4, seconds(100));
  firm.preemptible = false;
  // Such jobs fit inside their queue's guarantee.
  world.tell(QueueDefined{QueueSpec{.name = "default", .guarantee = kUnlimitedResources}});
  const JobId first = world.submit(firm);
  world.submit(gpus_for(4, seconds(1)));
  EXPECT_THAT(world.running_jobs(), ElementsAre(first));
}

TEST(Elect, EarlierDeadlinesAndLargerPrioritiesGoFirst) {
  ElectWorld deadlines(elect("deadline"));
  JobSpec late = gpus_for(4, seconds(10));
  late.deadline = Instant{} + seconds(100);
  JobSpec early = late;
  early.deadline = Instant{} + seconds(50);
  deadlines.submit(late);
  const JobId soon = deadlines.submit(early);
  EXPECT_THAT(deadlines.running_jobs(), ElementsAre(soon));
  ElectWorld priorities(elect("priority"));
  JobSpec low = gpus_for(4, seconds(10));
  JobSpec high = low;
  high.priority = 90;
  priorities.submit(low);
  const JobId important = priorities.submit(high);
  EXPECT_THAT(priorities.running_jobs(), ElementsAre(important));
}

TEST(Elect, TheGittinsIndexPrefersWhoIsLikelyToEndSoon) {
  PolicyConfig config = elect("gittins");
  // Most jobs end within 10 GPU-seconds; who has outlived those runs long.
  config.service.history = {seconds(8), seconds(9), seconds(10), seconds(1000), seconds(2000)};
  config.service.quantum = seconds(10);
  ElectWorld world(config, 1, 1);
  const JobId old = world.submit(gpus_for(1, kEndless));
  world.pass(seconds(20));
  const JobId fresh = world.submit(gpus_for(1, kEndless));
  EXPECT_THAT(world.running_jobs(), ElementsAre(fresh));
  EXPECT_EQ(world.state(old), JobState::kPending);
}

TEST(Elect, AJobIsLookedAtAgainWhenTheStretchForWhichItWasChosenIsOver) {
  PolicyConfig config = elect("gittins");
  config.service.history = {seconds(8), seconds(10), seconds(12), seconds(1000), seconds(2000)};
  ElectWorld world(config, 1, 2);
  const JobId first = world.submit(gpus_for(2, kEndless));
  EXPECT_EQ(world.scheduler->next_timer(), kNever) << "nobody waits for its place";
  world.pass(seconds(1));
  const JobId second = world.submit(gpus_for(2, kEndless));
  EXPECT_THAT(world.running_jobs(), ElementsAre(first)) << "it is ever more likely to end";
  EXPECT_EQ(world.scheduler->next_timer(), Instant{} + seconds(6)) << "12 GPU-seconds of two GPUs";
  world.pass(seconds(5));
  EXPECT_THAT(world.running_jobs(), ElementsAre(second)) << "nothing else happened at that moment";
}

TEST(Elect, LevelsCountBeforeTheGittinsIndexInsideThem) {
  PolicyConfig config = elect("2d-gittins");
  config.service.history = {seconds(8), seconds(10), seconds(12), seconds(1000), seconds(2000)};
  config.service.quantum = seconds(10);
  config.service.limits = {seconds(100)};
  ElectWorld world(config, 1, 1);
  const JobId likely = world.submit(gpus_for(1, kEndless));
  world.pass(seconds(50));
  const JobId fresh = world.submit(gpus_for(1, kEndless));
  EXPECT_THAT(world.running_jobs(), ElementsAre(fresh)) << "of one level the one of the larger index";
  world.pass(seconds(100));
  EXPECT_THAT(world.running_jobs(), ElementsAre(likely)) << "the other has sunk";
}

TEST(Elect, AnOrderByServiceNeedsAnElectedRunningSet) {
  PolicyConfig config;
  config.order = "srtf";
  const auto scheduler = Scheduler::create(config);
  ASSERT_FALSE(scheduler);
  EXPECT_THAT(scheduler.error().message, HasSubstr("the order 'srtf' needs a running set that is elected"));
}

TEST(Elect, TasksThatStartOneByOneAreRefused) {
  ElectWorld world(elect("srtf"));
  JobSpec loose = gpus_for(2, seconds(1));
  loose.gang = GangRule::kNone;
  EXPECT_EQ(world.state(world.submit(loose)), JobState::kRejected);
}

TEST(Elect, AJobThatCouldNeverRunIsPassedOverUntilTheClusterGrows) {
  ElectWorld world(elect("srtf"));
  const JobId huge = world.submit(gpus_for(6, seconds(1)));
  const JobId small = world.submit(gpus_for(1, seconds(10)));
  EXPECT_THAT(world.running_jobs(), ElementsAre(small));
  EXPECT_TRUE(world.scheduler->job(huge).verdict.is_never);
  world.tell(NodeAdded{node_spec("more", 4)});
  EXPECT_EQ(world.state(huge), JobState::kRunning);
}

TEST(Elect, AGangThatALostNodeBreaksWaitsAgainWhole) {
  ElectWorld world(elect("srtf"), 2, 4);
  const JobId wide = world.submit(gpus_for(8, seconds(100)));
  ASSERT_EQ(world.state(wide), JobState::kRunning);
  world.tell(NodeDown{make_id<NodeId>(0)});
  EXPECT_EQ(world.state(wide), JobState::kPending);
  world.tell(NodeUp{make_id<NodeId>(0)});
  EXPECT_EQ(world.state(wide), JobState::kRunning);
  EXPECT_THAT(world.scheduler->audit(), IsEmpty());
}

TEST(Elect, AJobThatStartsAgainAfterAFaultIsThereOnce) {
  // Where GPUs are counted, and where places decide: then the tasks take CPUs too.
  for (const int64_t cpu_milli : {0, 1000}) {
    ElectWorld world(elect("srtf"), 2, 4);
    const auto gang_of = [&](int32_t gpus, Duration estimate) {
      JobSpec job = gpus_for(gpus, estimate);
      job.roles[0].cpu_milli = cpu_milli;
      return job;
    };
    const JobId job = world.submit(gang_of(4, seconds(1000)));
    for (uint32_t node : {0U, 1U, 0U}) {
      world.tell(NodeDown{make_id<NodeId>(node)});
      ASSERT_EQ(world.state(job), JobState::kRunning) << "it went to the other node";
      world.tell(NodeUp{make_id<NodeId>(node)});
    }
    const JobId shorter = world.submit(gang_of(8, seconds(10)));
    EXPECT_THAT(world.running_jobs(), ElementsAre(shorter));
    world.finish(shorter);
    EXPECT_THAT(world.running_jobs(), ElementsAre(job));
    EXPECT_EQ(world.stops(job), 1);
    EXPECT_THAT(world.scheduler->audit(), IsEmpty());
  }
}

/// So that places decide: every task takes a CPU too.
JobSpec placed(GangWish wish, Duration estimate) {
  JobSpec job = job_spec("j", wish);
  job.roles[0].memory_bytes = 0;
  job.estimate = estimate;
  return job;
}

/// The answers to all that the job's tasks were told, or what comes of them by themselves.
std::vector<Event> ends_of(TestWorld& world, JobId job, TaskOutcome outcome) {
  std::vector<Event> events;
  for (const auto& [key, local] : world.running(job)) events.push_back(world.engine.end_task(key, local, outcome));
  return events;
}

TEST(Elect, AJobThatIsChosenTwiceBeforeItsPlaceIsFreeIsThereOnce) {
  for (const int64_t cpu_milli : {0, 1000}) {
    ElectWorld world(elect("srtf"), 2, 4);
    const auto gang_of = [&](int32_t tasks, Duration estimate) {
      return placed({.count = tasks, .gpus = 1, .cpu_milli = cpu_milli}, estimate);
    };
    const JobId longest = world.submit(gang_of(4, seconds(2000)));
    const JobId longer = world.submit(gang_of(4, seconds(1000)));
    const JobId job = world.scheduler->next_job_id();
    world.apply({{world.now, JobSubmitted{gang_of(4, seconds(100))}}});
    ASSERT_EQ(world.stops(longest), 1);
    // Before it has the place that was promised to it, another end makes room for everybody.
    std::vector<Event> ends = ends_of(world, longest, TaskOutcome::kStopped);
    for (const Event& end : ends_of(world, longer, TaskOutcome::kDone)) ends.push_back(end);
    world.apply(ends);
    world.settle();
    ASSERT_THAT(world.running_jobs(), ElementsAre(longest, job));
    const JobId shortest = world.submit(gang_of(8, seconds(10)));
    EXPECT_THAT(world.running_jobs(), ElementsAre(shortest));
    EXPECT_EQ(world.stops(job), 1);
    world.finish(shortest);
    EXPECT_THAT(world.running_jobs(), ElementsAre(longest, job));
    EXPECT_THAT(world.scheduler->audit(), IsEmpty());
  }
}

TEST(Elect, AJobThatIsOnItsWayToAnotherPlaceIsThereOnce) {
  ElectWorld world(elect("srtf"), 2, 4);
  const JobId moved = world.submit(placed({.gpus = 2}, seconds(1000)));
  const JobId beside = world.submit(placed({.gpus = 2}, seconds(1)));
  const JobId other = world.submit(placed({.gpus = 2}, seconds(500)));
  world.finish(beside);
  const JobId job = world.scheduler->next_job_id();
  world.apply({{world.now, JobSubmitted{placed({.gpus = 4}, seconds(100))}}});
  ASSERT_EQ(world.stops(moved), 1) << "it leaves its node to the new one, and is to go to the other's";
  ASSERT_EQ(world.stops(other), 0);
  std::vector<Event> events = ends_of(world, moved, TaskOutcome::kStopped);
  events.push_back({world.now, ProgressReported{.job = moved, .remaining = seconds(900)}});
  world.apply(events);  // it waits, and all are chosen anew
  world.settle();
  ASSERT_THAT(world.running_jobs(), ElementsAre(moved, other, job));
  const JobId shortest = world.submit(placed({.count = 2, .gpus = 4}, seconds(10)));
  EXPECT_THAT(world.running_jobs(), ElementsAre(shortest));
  EXPECT_EQ(world.stops(moved), 2);
  world.finish(shortest);
  EXPECT_THAT(world.running_jobs(), ElementsAre(moved, other, job));
  EXPECT_THAT(world.scheduler->audit(), IsEmpty());
}

TEST(Elect, AReportThatIsNoNewsIsNoReasonToChooseAnew) {
  ElectWorld world(elect("srtf"));
  const JobId running = world.submit(gpus_for(4, seconds(100)));
  const JobId waiting = world.submit(gpus_for(4, seconds(100)));
  world.pass(seconds(20));
  for (int i = 0; i < 3; ++i) {
    world.tell(ProgressReported{.job = running, .remaining = seconds(80)});
    world.tell(ProgressReported{.job = waiting, .remaining = seconds(100)});
  }
  EXPECT_EQ(world.stops(running), 0);
  world.tell(ProgressReported{.job = running, .remaining = seconds(100)});
  EXPECT_THAT(world.running_jobs(), ElementsAre(waiting)) << "as much is left of both: whoever waits goes first";
  for (const JobId job : {running, waiting}) {
    world.tell(ProgressReported{.job = job, .remaining = seconds(100)});
    EXPECT_THAT(world.running_jobs(), ElementsAre(waiting)) << "or they would take turns";
  }
  world.tell(ProgressReported{.job = running, .remaining = seconds(99)});
  EXPECT_THAT(world.running_jobs(), ElementsAre(running));
  EXPECT_THAT(world.scheduler->audit(), IsEmpty());
}

TEST(Elect, NobodyIsMovedWhileEverybodyFits) {
  ElectWorld world(elect("srtf"), 2, 4);
  std::vector<JobId> jobs;
  for (int32_t gpus : {4, 2, 1}) {
    JobSpec job = job_spec("j", {.gpus = gpus});  // it takes a CPU too: places decide
    job.roles[0].memory_bytes = 0;
    job.estimate = seconds(100 * gpus);
    jobs.push_back(world.submit(job));
  }
  EXPECT_EQ(world.running_jobs().size(), 3U);
  for (const JobId job : jobs) EXPECT_EQ(world.stops(job), 0);
}

/// The walk that counts and the walk that places choose the same jobs. A node without GPUs that nobody may use makes
/// the second world place.
class ElectTwins : public ::testing::TestWithParam<const char*> {};

TEST_P(ElectTwins, CountingAndPlacingChooseTheSameJobs) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    PolicyConfig config = elect(GetParam());
    for (int64_t i = 1; i <= 40; ++i) config.service.history.push_back(seconds(i * i * i));
    ElectWorld counting(config, 3, 4);
    ElectWorld placing(config, 3, 4);
    NodeSpec closed = node_spec("closed", 0);
    closed.taints.push_back({.key = "closed"});
    placing.tell(NodeAdded{closed});
    for (int step = 0; step < 120; ++step) {
      const Duration time = seconds(static_cast<int64_t>(rng.below(2000)));
      const std::set<JobId> running = counting.running_jobs();
      const uint64_t action = rng.below(3);
      const auto which = static_cast<std::ptrdiff_t>(running.empty() ? 0 : rng.below(running.size()));
      const auto gpus = static_cast<int32_t>(int64_t{1} << rng.below(4));
      const Duration estimate{static_cast<int64_t>(rng.below(1'000'000'000)) * 10'000 + step};
      for (ElectWorld* world : {&counting, &placing}) {
        world->pass(time);
        if (action < 2) {
          world->submit(gpus_for(gpus, estimate));
        } else if (!running.empty() && world->state(*std::next(running.begin(), which)) == JobState::kRunning) {
          world->finish(*std::next(running.begin(), which));
        }
      }
      ASSERT_EQ(counting.running_jobs(), placing.running_jobs()) << "seed " << seed << ", step " << step;
    }
    EXPECT_THAT(counting.scheduler->audit(), IsEmpty());
    EXPECT_THAT(placing.scheduler->audit(), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, ElectTwins,
                         ::testing::Values("srtf", "srsf", "sjf-gpus", "sjf", "las", "2d-las", "gittins", "2d-gittins",
                                           "priority"),
                         [](const ::testing::TestParamInfo<const char*>& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace weft
