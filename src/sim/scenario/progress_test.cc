#include "sim/scenario/progress.h"

#include <gtest/gtest.h>

namespace weft::scenario {
namespace {

constexpr Instant at(int64_t second) { return Instant{} + seconds(second); }

JobSpec job_with(const CheckpointSpec& checkpoint) {
  JobSpec job;
  job.checkpoint = checkpoint;
  return job;
}

TEST(Progress, WithoutCheckpointsEverythingIsLostWithAStop) {
  Progress progress;
  progress.start(at(0));
  progress.stop(at(99), {});
  EXPECT_FALSE(progress.is_running());
  EXPECT_EQ(progress.left_of(seconds(100), {}), seconds(100));
  EXPECT_EQ(progress.left_of(kEndless, {}), kEndless);
}

TEST(Progress, WorkAddsUpFromCheckpointToCheckpointAndRestoringIsNoWork) {
  const JobSpec job = job_with({.every = seconds(10), .restore = seconds(3)});
  Progress progress;
  progress.start(at(0));
  progress.stop(at(9), job);
  EXPECT_EQ(progress.left_of(seconds(100), job), seconds(100)) << "there is nothing to restore yet";
  progress.start(at(20));
  progress.stop(at(45), job);
  EXPECT_EQ(progress.saved(), seconds(20));
  EXPECT_EQ(progress.left_of(seconds(100), job), seconds(83));
  progress.start(at(100));
  progress.stop(at(100 + 3 + 9), job);
  EXPECT_EQ(progress.saved(), seconds(20)) << "12 s, of which 3 were not work";
  progress.start(at(200));
  progress.stop(at(200 + 3 + 10), job);
  EXPECT_EQ(progress.saved(), seconds(30));
  EXPECT_EQ(progress.left_of(seconds(25), job), seconds(3)) << "more is saved than the estimate";
}

TEST(Progress, ACheckpointCountsOnceItIsSaved) {
  const JobSpec job = job_with({.every = seconds(10), .save = seconds(2)});
  Progress early, late;
  early.start(at(0));
  early.stop(at(11), job);
  EXPECT_EQ(early.saved(), Duration{});
  late.start(at(0));
  late.stop(at(12), job);
  EXPECT_EQ(late.saved(), seconds(10));
}

TEST(Progress, CheckpointsGoOnFromTheLastOneBeforeTheStartOfTheScenario) {
  const JobSpec job = job_with({.every = minutes(30), .last = Duration{} - minutes(10)});
  Progress soon, later;
  soon.adopt(at(-7200), job);
  soon.stop(at(60), job);
  EXPECT_EQ(soon.saved(), minutes(110));
  later.adopt(at(-7200), job);
  later.stop(at(20 * 60), job);
  EXPECT_EQ(later.saved(), minutes(140));
  Progress fresh;
  fresh.adopt(at(-60), job_with({.last = Duration{} - minutes(10)}));
  fresh.stop(at(0), job_with({.last = Duration{} - minutes(10)}));
  EXPECT_EQ(fresh.saved(), Duration{}) << "that checkpoint is older than its start";
}

}  // namespace
}  // namespace weft::scenario
