#include "sim/simulation/run_clock.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

constexpr Instant at(int64_t second) { return Instant{} + seconds(second); }

TEST(RunClock, AnUninterruptedJobEndsAfterItsRunTime) {
  const RunClock clock({.restart_cost = seconds(40), .checkpoint_every = seconds(60)});
  RunClock::Work work = clock.admit({}, seconds(500));
  EXPECT_EQ(clock.start(work, at(10)), at(510)) << "the first start costs nothing";
}

TEST(RunClock, AStopLosesWhatWasDoneSinceTheLastCheckpointAndAStartCostsTime) {
  const RunClock clock({.restart_cost = seconds(40), .checkpoint_every = seconds(60)});
  RunClock::Work work = clock.admit({}, seconds(500));
  clock.start(work, at(0));
  clock.stop(work, at(150));
  EXPECT_EQ(work.left, seconds(380)) << "two checkpoints";
  EXPECT_EQ(clock.start(work, at(200)), at(200 + 40 + 380));
  clock.stop(work, at(230));
  EXPECT_EQ(work.left, seconds(380)) << "it was still starting";
  clock.start(work, at(300));
  clock.stop(work, at(300 + 40 + 59));
  EXPECT_EQ(work.left, seconds(380));
}

TEST(RunClock, WithoutCheckpointsNothingIsLost) {
  const RunClock clock(RunPlan{});
  RunClock::Work work = clock.admit({}, seconds(500));
  clock.start(work, at(0));
  clock.stop(work, at(123));
  EXPECT_EQ(work.left, seconds(377));
}

TEST(RunClock, ByMurisRulesEveryEventCostsTheOverheadOfTheModel) {
  const RunClock clock({.rules = Rules::kMuri});
  RunClock::Work work = clock.admit({.model = "resnet18", .gpus_per_task = 8}, seconds(100));
  EXPECT_EQ(clock.start(work, at(0)), at(100));
  EXPECT_EQ(clock.pass_event(work, at(20)), at(20 + 87)) << "7 s of the 20 were overhead";
  EXPECT_EQ(clock.pass_event(work, at(25)), at(25 + 87)) << "an interval shorter than the overhead brings nothing";
  clock.stop(work, at(25));
  EXPECT_EQ(work.left, seconds(87));
}

TEST(RunClock, MurisOverheadsGoByModelAndNumberOfGpus) {
  EXPECT_EQ(muri_overhead("a2c", 1), seconds(38));
  EXPECT_EQ(muri_overhead("a2c", 2), seconds(39));
  EXPECT_EQ(muri_overhead("a2c", 8), seconds(46));
  EXPECT_EQ(muri_overhead("vgg19", 16), seconds(10));
  EXPECT_EQ(muri_overhead("shufflenet_v2_x1_0", 32), seconds(8));
  EXPECT_EQ(muri_overhead("vgg16", 64), seconds(10));
  EXPECT_EQ(muri_overhead("unheard", 4), Duration{0});
}

TEST(RunClock, TiresiasCountsWholeSecondsAndMuriIterations) {
  const auto tiresias = [](int64_t ms) { return run_time_by(Rules::kTiresias, {.run_time = milliseconds(ms)}); };
  EXPECT_EQ(tiresias(1499), seconds(1));
  EXPECT_EQ(tiresias(1500), seconds(2));
  EXPECT_EQ(tiresias(2500), seconds(2)) << "halves go to the even number";
  EXPECT_EQ(tiresias(2501), seconds(3));
  EXPECT_EQ(submit_by(Rules::kTiresias, {.submit = Instant{} + milliseconds(1999)}), at(1));
  EXPECT_EQ(submit_by(Rules::kNative, {.submit = Instant{} + milliseconds(1999)}), Instant{} + milliseconds(1999));
  const TraceJob job{.run_time = seconds(7), .iterations = 1000, .iteration_time = milliseconds(200)};
  EXPECT_EQ(run_time_by(Rules::kMuri, job), seconds(203));
  EXPECT_EQ(run_time_by(Rules::kNative, job), seconds(7));
}

}  // namespace
}  // namespace weft::sim
