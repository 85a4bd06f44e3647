#include "engine/fake/fake_engine.h"

#include "engine/conformance.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace weft {
namespace {

// ---- The contract

/// The reference engine with a clock that jumps from event to event.
class FakeHarness final : public EngineHarness {
 public:
  explicit FakeHarness(FakeEngine::StopTiming stops) : stops_(stops), engine_(stops) {}

  Engine& engine() override { return engine_; }
  void describe_job(JobId job, int32_t /*task_count*/, TaskBehaviour behaviour) override {
    behaviours_[job] = behaviour;
    if (behaviour == TaskBehaviour::kEndsWell) engine_.set_runtime(job, seconds(10), FakeEnding::kTogether);
  }
  std::vector<TaskPlacement> places(JobId job, int32_t task_count) override {
    std::vector<TaskPlacement> out;
    for (int32_t t = 0; t < task_count; ++t) {
      out.push_back(
          {.node = make_id<NodeId>(index(job)), .kind = DeviceNeedKind::kWhole, .devices = DeviceMask{1} << t});
    }
    return out;
  }
  bool wait() override {
    for (const auto& [job, behaviour] : behaviours_) {
      if (behaviour == TaskBehaviour::kFails && engine_.crash(job, -1, 3) > 0) return true;
    }
    if (stops_ == FakeEngine::StopTiming::kAfterNextCycle && engine_.has_stops_due()) engine_.end_cycle();
    if (!engine_.has_events() && engine_.next_event() < kNever) engine_.advance_to(engine_.next_event());
    return engine_.has_events() || (stops_ == FakeEngine::StopTiming::kAfterNextCycle && engine_.has_stops_due());
  }

 private:
  FakeEngine::StopTiming stops_;
  FakeEngine engine_;
  std::map<JobId, TaskBehaviour> behaviours_;
};

class FakeEngineContract : public ::testing::TestWithParam<std::pair<ConformanceCase, FakeEngine::StopTiming>> {};

TEST_P(FakeEngineContract, IsKept) {
  FakeHarness harness(GetParam().second);
  EXPECT_EQ(GetParam().first.check(harness), "");
}

std::vector<std::pair<ConformanceCase, FakeEngine::StopTiming>> all_cases() {
  std::vector<std::pair<ConformanceCase, FakeEngine::StopTiming>> out;
  for (const ConformanceCase& rule : conformance_cases()) {
    out.emplace_back(rule, FakeEngine::StopTiming::kAtOnce);
    out.emplace_back(rule, FakeEngine::StopTiming::kAfterNextCycle);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Conformance, FakeEngineContract, ::testing::ValuesIn(all_cases()), [](const auto& instance) {
  return std::string(instance.param.first.name) +
         (instance.param.second == FakeEngine::StopTiming::kAtOnce ? "_AtOnce" : "_InCycles");
});

// ---- What only the fake engine does

constexpr JobId kJob = make_id<JobId>(0);
constexpr NodeId kNode = make_id<NodeId>(7);

/// A gang of `count` tasks with a device each, on kNode from `device` on.
Decisions hold_of(JobId job, uint32_t attempt, int32_t count, unsigned device = 0) {
  Decisions out;
  for (int32_t t = 0; t < count; ++t) {
    out.placements.push_back({.task = make_id<TaskId>(100 + static_cast<size_t>(t)),
                              .node = kNode,
                              .kind = DeviceNeedKind::kWhole,
                              .devices = DeviceMask{1} << (device + static_cast<unsigned>(t))});
  }
  out.list.push_back({.kind = DecisionKind::kHold,
                      .job = job,
                      .attempt = attempt,
                      .placement_count = static_cast<uint32_t>(count),
                      .first_task = make_id<TaskId>(100)});
  return out;
}

Decisions command(DecisionKind kind, JobId job, uint32_t attempt, int32_t task = -1, Duration grace = {}) {
  Decisions out;
  out.list.push_back({.kind = kind, .job = job, .attempt = attempt, .task = task, .grace = grace});
  return out;
}

template <typename Body>
std::vector<Body> polled(FakeEngine& engine) {
  std::vector<Event> events;
  engine.poll(events);
  std::vector<Body> out;
  for (const Event& event : events) {
    if (const Body* body = std::get_if<Body>(&event.body)) out.push_back(*body);
  }
  return out;
}

void bring_up(FakeEngine& engine, int32_t count) {
  engine.execute(hold_of(kJob, 1, count));
  engine.execute(command(DecisionKind::kStart, kJob, 1));
  EXPECT_EQ(polled<GangStarted>(engine).size(), 1U);
}

TEST(FakeEngine, RefusesHoldsAndFailsStartsAsTheScriptSays) {
  FakeEngine engine;
  engine.refuse_holds(kJob, 1);
  engine.fail_starts(kJob, 1);
  engine.execute(hold_of(kJob, 1, 2));
  EXPECT_EQ(polled<HoldRefused>(engine).size(), 1U);
  engine.execute(hold_of(kJob, 2, 2));
  EXPECT_EQ(polled<HoldAccepted>(engine).size(), 1U);
  engine.execute(command(DecisionKind::kStart, kJob, 2));
  EXPECT_EQ(polled<StartFailed>(engine).size(), 1U);
  EXPECT_EQ(engine.running_count(kJob), 0U);
  engine.execute(hold_of(kJob, 3, 2));
  engine.execute(command(DecisionKind::kStart, kJob, 3));
  EXPECT_EQ(polled<GangStarted>(engine).size(), 1U);
  EXPECT_EQ(engine.running_count(kJob), 2U);
  EXPECT_TRUE(engine.violations().empty()) << "a failed start gives its devices back";
}

TEST(FakeEngine, AStopTakesItsGrace) {
  FakeEngine engine;
  bring_up(engine, 2);
  engine.execute(command(DecisionKind::kStop, kJob, 1, -1, seconds(30)));
  EXPECT_FALSE(engine.has_events());
  EXPECT_EQ(engine.next_grace_end(), Instant{} + seconds(30));
  engine.advance_to(Instant{} + seconds(29));
  EXPECT_FALSE(engine.has_events());
  engine.advance_to(Instant{} + seconds(30));
  EXPECT_EQ(polled<TaskEnded>(engine).size(), 2U);
  EXPECT_EQ(engine.next_grace_end(), kNever);
}

TEST(FakeEngine, AStopWithoutGraceIsOverAtTheEndOfTheNextCycle) {
  FakeEngine engine(FakeEngine::StopTiming::kAfterNextCycle);
  bring_up(engine, 1);
  engine.execute(command(DecisionKind::kStop, kJob, 1));
  engine.end_cycle();
  EXPECT_FALSE(engine.has_events());
  EXPECT_TRUE(engine.has_stops_due());
  engine.end_cycle();
  EXPECT_EQ(polled<TaskEnded>(engine).size(), 1U);
  EXPECT_FALSE(engine.has_stops_due());
}

TEST(FakeEngine, AStuckTaskStopsOnlyOnceItIsUnstuck) {
  FakeEngine engine(FakeEngine::StopTiming::kAfterNextCycle);
  bring_up(engine, 2);
  engine.stick(kJob, 1);
  engine.execute(command(DecisionKind::kStop, kJob, 1, -1, seconds(5)));
  engine.advance_to(Instant{} + hours(1));
  for (int i = 0; i < 3; ++i) engine.end_cycle();
  const auto ended = polled<TaskEnded>(engine);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].task, 0);
  engine.unstick(kJob, 1);
  engine.end_cycle();
  EXPECT_FALSE(engine.has_events());
  engine.end_cycle();
  EXPECT_EQ(polled<TaskEnded>(engine).size(), 1U);
}

TEST(FakeEngine, AGangEndsTogetherAndLooseTasksEachOnTheirOwn) {
  FakeEngine engine;
  engine.set_runtime(kJob, minutes(10), FakeEnding::kTogether);
  bring_up(engine, 2);
  engine.advance_to(Instant{} + minutes(5));
  engine.execute(hold_of(kJob, 2, 1, 2));
  engine.execute(command(DecisionKind::kStart, kJob, 2));
  polled<TaskEnded>(engine);
  engine.advance_to(Instant{} + minutes(10));
  EXPECT_EQ(polled<TaskEnded>(engine).size(), 3U) << "the job is over when the time of its first attempt is up";

  FakeEngine loose;
  loose.set_runtime(kJob, minutes(10), FakeEnding::kEachTask);
  bring_up(loose, 1);
  loose.advance_to(Instant{} + minutes(5));
  loose.execute(hold_of(kJob, 2, 1, 1));
  loose.execute(command(DecisionKind::kStart, kJob, 2));
  polled<TaskEnded>(loose);
  loose.advance_to(Instant{} + minutes(10));
  EXPECT_EQ(polled<TaskEnded>(loose).size(), 1U);
  loose.advance_to(Instant{} + minutes(15));
  EXPECT_EQ(polled<TaskEnded>(loose).size(), 1U);
}

TEST(FakeEngine, AnAdoptedJobHasAPartOfItsRunTimeBehindIt) {
  FakeEngine engine;
  engine.set_runtime(kJob, hours(1), FakeEnding::kTogether);
  const std::vector<std::pair<int32_t, TaskPlacement>> tasks{
      {3, {.node = kNode, .kind = DeviceNeedKind::kWhole, .devices = 1}}};
  engine.adopt(kJob, 1, tasks, Instant{} - minutes(40));
  EXPECT_EQ(engine.next_event(), Instant{} + minutes(20));
  engine.advance_to(engine.next_event());
  const auto ended = polled<TaskEnded>(engine);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].task, 3);
  EXPECT_EQ(ended[0].outcome, TaskOutcome::kDone);
}

TEST(FakeEngine, ALostNodeTakesItsTasksWithItAndRefusesHolds) {
  FakeEngine engine;
  bring_up(engine, 2);
  engine.lose_node(kNode);
  std::vector<Event> events;
  engine.poll(events);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<NodeDown>(events[0].body)) << "the node goes first";
  EXPECT_EQ(std::get<TaskEnded>(events[1].body).outcome, TaskOutcome::kLost);
  engine.execute(hold_of(kJob, 2, 1));
  EXPECT_EQ(polled<HoldRefused>(engine).size(), 1U);
  engine.recover_node(kNode);
  EXPECT_EQ(polled<NodeUp>(engine).size(), 1U);
  engine.execute(hold_of(kJob, 3, 1));
  EXPECT_EQ(polled<HoldAccepted>(engine).size(), 1U);
}

TEST(FakeEngine, AStartOnANodeThatWasLostSinceFails) {
  FakeEngine engine;
  engine.execute(hold_of(kJob, 1, 1));
  engine.lose_node(kNode);
  engine.execute(command(DecisionKind::kStart, kJob, 1));
  EXPECT_EQ(polled<StartFailed>(engine).size(), 1U);
}

TEST(FakeEngine, EndsInTheOrderOfTime) {
  FakeEngine engine;
  const JobId other = make_id<JobId>(1);
  engine.set_runtime(kJob, minutes(2), FakeEnding::kTogether);
  engine.set_runtime(other, minutes(1), FakeEnding::kTogether);
  bring_up(engine, 1);
  engine.execute(hold_of(other, 1, 1, 5));
  engine.execute(command(DecisionKind::kStart, other, 1));
  std::vector<Event> events;
  engine.poll(events);
  events.clear();
  engine.advance_to(Instant{} + minutes(3));
  engine.poll(events);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<TaskEnded>(events[0].body).job, other);
  EXPECT_EQ(events[0].at, Instant{} + minutes(1));
  EXPECT_EQ(events[1].at, Instant{} + minutes(2));
  EXPECT_EQ(engine.now(), Instant{} + minutes(3));
}

TEST(FakeEngine, TellsOfADeviceThatIsGivenOutTwice) {
  FakeEngine engine;
  bring_up(engine, 2);
  EXPECT_TRUE(engine.violations().empty());
  engine.execute(hold_of(make_id<JobId>(1), 1, 1, 1));
  ASSERT_EQ(engine.violations().size(), 1U);
  EXPECT_EQ(engine.violations()[0], "device 1 of node 7 was given to job 1 attempt 1 while another task owns it");
}

TEST(FakeEngine, SharesOfADeviceMayFillItButNotMore) {
  FakeEngine engine;
  const auto share = [](uint32_t job, int32_t milli) {
    Decisions out;
    out.placements.push_back(
        {.task = make_id<TaskId>(0), .node = kNode, .kind = DeviceNeedKind::kMilli, .devices = 1, .milli = milli});
    out.list.push_back({.kind = DecisionKind::kHold,
                        .job = make_id<JobId>(job),
                        .attempt = 1,
                        .placement_count = 1,
                        .first_task = make_id<TaskId>(0)});
    return out;
  };
  engine.execute(share(0, 600));
  engine.execute(share(1, 400));
  EXPECT_TRUE(engine.violations().empty());
  engine.execute(command(DecisionKind::kRelease, make_id<JobId>(1), 1));
  engine.execute(share(2, 500));
  EXPECT_EQ(engine.violations().size(), 1U);
}

TEST(FakeEngine, ACrashOfOneTaskLeavesTheOthersToTheCore) {
  FakeEngine engine;
  bring_up(engine, 3);
  EXPECT_EQ(engine.crash(kJob, 1, 9), 1U);
  const auto ended = polled<TaskEnded>(engine);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].outcome, TaskOutcome::kFailed);
  EXPECT_EQ(ended[0].exit_status, 9);
  EXPECT_EQ(engine.running_count(kJob), 2U);
  EXPECT_EQ(engine.crash(kJob, 1, 9), 0U);
}

TEST(FakeEngine, AReleaseComesTooLateForAGangThatRuns) {
  FakeEngine engine;
  bring_up(engine, 2);
  engine.execute(command(DecisionKind::kRelease, kJob, 1));
  EXPECT_EQ(engine.running_count(kJob), 2U);
  EXPECT_FALSE(engine.has_events());
}

TEST(FakeEngine, ASecondStopDoesNotShortenTheGraceOfTheFirst) {
  FakeEngine engine;
  bring_up(engine, 1);
  engine.execute(command(DecisionKind::kStop, kJob, 1, -1, seconds(30)));
  engine.advance_to(Instant{} + seconds(10));
  engine.execute(command(DecisionKind::kStop, kJob, 1, -1, seconds(5)));
  engine.advance_to(Instant{} + seconds(29));
  EXPECT_FALSE(engine.has_events());
  engine.advance_to(Instant{} + seconds(30));
  EXPECT_EQ(polled<TaskEnded>(engine).size(), 1U);
}

TEST(FakeEngine, TheGraceOfATaskThatIsGoneIsOver) {
  FakeEngine engine;
  engine.set_runtime(kJob, minutes(10), FakeEnding::kTogether);
  bring_up(engine, 1);
  EXPECT_EQ(engine.next_grace_end(), kNever) << "the end of a run is the end of no grace";
  engine.execute(command(DecisionKind::kStop, kJob, 1, -1, seconds(30)));
  EXPECT_EQ(engine.next_grace_end(), Instant{} + seconds(30));
  EXPECT_TRUE(engine.running_tasks(kJob, 1).empty()) << "it has been told to stop";
  EXPECT_EQ(engine.running_count(kJob), 1U);
  EXPECT_EQ(engine.crash(kJob, 0, 1), 1U);
  EXPECT_EQ(engine.next_grace_end(), kNever);
}

TEST(FakeEngine, WhatAGangLeavesCanBeGivenOutAgain) {
  FakeEngine engine;
  bring_up(engine, 2);
  EXPECT_EQ(engine.finish(kJob), 2U);
  engine.execute(hold_of(make_id<JobId>(1), 1, 2));
  EXPECT_TRUE(engine.violations().empty());
}

TEST(FakeEngine, TellsOfAWholeDeviceThatIsSharedAndOfAThousandthTooMuch) {
  const auto shares = [](std::vector<int32_t> millis) {
    Decisions out;
    for (const int32_t milli : millis) {
      out.placements.push_back(
          {.task = make_id<TaskId>(0), .node = kNode, .kind = DeviceNeedKind::kMilli, .devices = 1, .milli = milli});
    }
    out.list.push_back({.kind = DecisionKind::kHold,
                        .job = kJob,
                        .attempt = 1,
                        .placement_count = static_cast<uint32_t>(millis.size()),
                        .first_task = make_id<TaskId>(0)});
    return out;
  };
  FakeEngine engine;
  engine.execute(shares({600, 400}));
  EXPECT_TRUE(engine.violations().empty());
  engine.execute(hold_of(make_id<JobId>(1), 1, 1));
  EXPECT_EQ(engine.violations().size(), 1U);
  FakeEngine other;
  other.execute(shares({600, 401}));
  EXPECT_EQ(other.violations().size(), 1U);
}

TEST(FakeEngine, ATaskThatIsUnstuckIsGoneAtOnceWhereStopsAreAtOnce) {
  FakeEngine engine;
  bring_up(engine, 2);
  engine.stick(kJob, 1);
  engine.execute(command(DecisionKind::kStop, kJob, 1));
  EXPECT_EQ(polled<TaskEnded>(engine).size(), 1U);
  engine.unstick(kJob, 1);
  const auto ended = polled<TaskEnded>(engine);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].task, 1);
  EXPECT_EQ(ended[0].outcome, TaskOutcome::kStopped);
}

TEST(FakeEngine, AttemptsUpToTheAdoptedOneAreOver) {
  FakeEngine engine;
  const std::vector<std::pair<int32_t, TaskPlacement>> tasks{
      {0, {.node = kNode, .kind = DeviceNeedKind::kWhole, .devices = 1}}};
  engine.adopt(kJob, 3, tasks, {});
  engine.execute(hold_of(kJob, 2, 1, 4));
  EXPECT_FALSE(engine.has_events()) << "an old command, given again";
  engine.execute(hold_of(kJob, 4, 1, 4));
  EXPECT_EQ(polled<HoldAccepted>(engine).size(), 1U);
}

}  // namespace
}  // namespace weft
