#include "scheduler/adopt.h"

#include "scheduler/test_world.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

const NodeId kNode = make_id<NodeId>(0);

TEST(Adopt, AFactWithMoreDevicesThanTheTaskHasIsNotBelieved) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  const JobSpec spec = job_spec("j", {.gpus = 2});
  world.apply({{{}, JobAdopted{spec, {}, {}, {{.task = 0, .node = kNode, .devices = 0b0111}}}}});
  EXPECT_EQ(world.scheduler->last_errors().size(), 1U);
  EXPECT_EQ(world.state(make_id<JobId>(0)), JobState::kHolding) << "it is started like any other job";
  world.apply({{{}, JobAdopted{spec, {}, {}, {{.task = 0, .node = kNode, .devices = 0b1100}}}}});
  EXPECT_TRUE(world.scheduler->last_errors().empty());
  EXPECT_EQ(world.state(make_id<JobId>(1)), JobState::kRunning);
}

TEST(Adopt, AFactThatNeedsMoreThanTheNodeHasIsNotBelieved) {
  TestWorld world;
  add_default_queue(world);
  NodeSpec node = node_spec("n", 1);
  node.memory_bytes = node.disk_bytes = 8 * kGiB;
  world.tell(NodeAdded{node});
  JobSpec cpus = job_spec("cpus", {.cpu_milli = 65'000});
  JobSpec memory = job_spec("memory", {});
  memory.roles[0].memory_bytes = 9 * kGiB;
  JobSpec disk = job_spec("disk", {});
  disk.roles[0].disk_bytes = 9 * kGiB;
  for (const JobSpec& spec : {cpus, memory, disk}) {
    world.apply({{{}, JobAdopted{spec, {}, {}, {{.task = 0, .node = kNode}}}}});
    EXPECT_EQ(world.scheduler->last_errors().size(), 1U) << spec.name;
  }
}

TEST(Adopt, AJobKeepsThePlaceInLineThatItHadBefore) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 1);
  const JobId busy = world.submit(job_spec("busy", {.gpus = 1}));
  world.now = Instant{20};
  world.tell(JobAdopted{job_spec("young", {.gpus = 1}), Instant{10}, {}, {}});
  world.tell(JobAdopted{job_spec("old", {.gpus = 1}), Instant{5}, {}, {}});
  world.finish(busy);
  EXPECT_EQ(world.state(make_id<JobId>(2)), JobState::kRunning);
  EXPECT_EQ(world.state(make_id<JobId>(1)), JobState::kPending);
}

TEST(Adopt, OfSeveralGroupsTheOneThatHasBegunIsCompleted) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  JobSpec spec{.name = "either"};
  for (const char* name : {"x", "k"}) {
    spec.roles.push_back(job_spec("r", {.count = 2, .gpus = 1}).roles[0]);
    spec.roles.back().name = name;
  }
  spec.min_groups = 1;
  world.tell(JobAdopted{spec, {}, {}, {{.task = 2, .node = kNode}}});
  const JobView view = world.scheduler->job(make_id<JobId>(0));
  EXPECT_EQ(view.state, JobState::kRunning);
  EXPECT_EQ(view.tasks[3].state, TaskState::kRunning);
  EXPECT_EQ(view.tasks[0].state, TaskState::kPending);
  EXPECT_EQ(view.tasks[1].state, TaskState::kPending);
}

}  // namespace
}  // namespace weft
