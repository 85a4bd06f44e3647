#include "scheduler/wake_ups.h"

#include "scheduler/test_world.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(WakeUps, ManyNodesAtOnceWakeEverybody) {
  TestWorld world;
  add_default_queue(world);
  constexpr unsigned kNodes = 70;  // more than are looked at one by one
  add_nodes(world, kNodes, 4);
  std::vector<Event> cordon, uncordon;
  for (unsigned n = 0; n < kNodes; ++n) {
    cordon.push_back({{}, NodeCordoned{make_id<NodeId>(n)}});
    uncordon.push_back({{}, NodeUncordoned{make_id<NodeId>(n)}});
  }
  world.apply(cordon);
  const JobId job = world.submit(job_spec("j", {.gpus = 4}));
  ASSERT_EQ(world.state(job), JobState::kPending);
  world.apply(uncordon);
  EXPECT_EQ(world.state(job), JobState::kHolding);
}

TEST(WakeUps, AJobThatIsBoundToAFullRackKeepsNobodyOfItsShapeWaiting) {
  TestWorld world;
  world.tell(TopologyDefined{{.levels = {"rack"}}});
  add_default_queue(world);
  for (const char* rack : {"r1", "r2"}) {
    NodeSpec node = node_spec(rack, 1);
    node.labels = {{"rack", rack}};
    world.tell(NodeAdded{node});
  }
  JobSpec spec = job_spec("bag", {.count = 2, .gpus = 1});
  spec.gang = GangRule::kNone;
  spec.topology.within = "rack";
  const JobId first = world.submit(spec);
  ASSERT_EQ(world.running(first).size(), 1U) << "its second task must be where the first is";
  const JobId second = world.submit(spec);
  EXPECT_EQ(world.running(second).size(), 1U);
  world.finish_task(first, 0, TaskOutcome::kDone);
  EXPECT_EQ(world.running(first).size(), 1U) << "and it goes on when there is room";
}

TEST(WakeUps, WhoWasWokenButNotReachedIsTriedInTheNextPass) {
  PolicyConfig config;
  config.pass_steps_max = 1;
  TestWorld world(config);
  const auto finish_passes = [&] {
    world.settle();
    while (world.scheduler->next_timer() <= world.now) {
      world.apply({{world.now, Tick{}}});
      world.settle();
    }
  };
  add_default_queue(world);
  add_nodes(world, 1, 8);
  const JobId blocker = world.submit(job_spec("blocker", {.gpus = 8}));
  std::vector<JobId> jobs;
  for (const int32_t gpus : {1, 2, 3}) jobs.push_back(world.submit(job_spec("j", {.gpus = gpus})));
  finish_passes();
  world.finish(blocker);
  finish_passes();
  for (const JobId job : jobs) EXPECT_EQ(world.state(job), JobState::kRunning);
}

}  // namespace
}  // namespace weft
