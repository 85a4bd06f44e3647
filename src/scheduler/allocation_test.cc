// Hot paths allocate nothing once everything has been used once: placing, starting and losing a job, and a pass in
// which nobody fits.
#include "base/allocation_count_testing.h"
#include "scheduler/test_world.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

/// Allocations during one apply().
size_t allocations_of(Scheduler& scheduler, const std::vector<Event>& events) {
  const uint64_t before = testing::allocation_count;
  scheduler.apply(events);
  return testing::allocation_count - before;
}

TEST(Scheduler, AllocatesNothingOnThePlacePathAfterWarmUp) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 40, 8);
  // Else the workload is worked out anew each time the tasks seen have doubled.
  world.scheduler->expect_tasks({{.cpu_milli = 1000, .gpu_count = 1, .gpu_milli = 1000, .models = {}}});
  size_t place = 0;
  size_t answers = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Event> submissions;
    const size_t first = index(world.scheduler->next_job_id());
    for (int32_t i = 0; i < 20; ++i) {
      JobSpec spec = job_spec("j", {.count = 1 + i % 4, .gpus = 1 + i % 3});
      if (i % 5 == 0) spec.gang = GangRule::kNone;
      submissions.push_back({{}, JobSubmitted{spec}});
    }
    world.scheduler->absorb(submissions);
    std::vector<Event> ends;
    const std::vector<Event> tick(1);
    const bool is_warm = round >= 30;
    place += is_warm ? allocations_of(*world.scheduler, tick) : (world.scheduler->apply(tick), 0);
    for (size_t job = first; job < first + 20; ++job) {
      const JobView view = world.scheduler->job(make_id<JobId>(job));
      for (uint32_t attempt = 1; attempt <= view.attempt; ++attempt) {
        const std::vector<Event> accept{{{}, HoldAccepted{view.id, attempt}}};
        const std::vector<Event> start{{{}, GangStarted{view.id, attempt}}};
        const size_t made = allocations_of(*world.scheduler, accept) + allocations_of(*world.scheduler, start);
        answers += is_warm ? made : 0;
      }
      ASSERT_EQ(world.scheduler->job_state(view.id), JobState::kRunning);
      for (int32_t task = 0; task < static_cast<int32_t>(view.tasks.size()); ++task) {
        const uint32_t attempt = view.attempt == 1 ? 1 : static_cast<uint32_t>(task) + 1;
        ends.push_back({{}, TaskEnded{view.id, attempt, task, TaskOutcome::kDone, 0}});
      }
    }
    world.scheduler->apply(ends);
  }
  EXPECT_EQ(place, 0U);
  EXPECT_EQ(answers, 0U);
}

TEST(Scheduler, AllocatesNothingInAPassInWhichNobodyFits) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 10, 4);
  std::vector<Event> submissions(1, {{}, JobSubmitted{job_spec("full", {.count = 10, .gpus = 4})}});
  for (int32_t i = 0; i < 50; ++i)
    submissions.push_back({{}, JobSubmitted{job_spec("j", {.count = 1 + i % 7, .gpus = 1 + i % 4})}});
  world.scheduler->apply(submissions);
  const std::vector<Event> tick(1);
  size_t allocations = 0;
  for (int round = 0; round < 20; ++round) {
    world.scheduler->try_everybody();
    const size_t made = allocations_of(*world.scheduler, tick);
    if (round >= 5) allocations += made;
  }
  EXPECT_EQ(allocations, 0U);
}

}  // namespace
}  // namespace weft
