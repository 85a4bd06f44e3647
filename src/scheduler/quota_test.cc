#include "scheduler/quota.h"

#include "scheduler/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::HasSubstr;

TEST(Queues, ServesThePriorityOfQueuesFirstAndThenTheSmallerShare) {
  TestWorld world;
  for (const char* name : {"a", "b", "c"}) world.tell(QueueDefined{{.name = name, .priority = name[0] == 'c' ? 1 : 0}});
  add_nodes(world, 1, 4);
  const JobId busy = world.submit(job_spec("busy", {.gpus = 3, .queue = "a"}));
  std::vector<Event> events;
  for (const char* name : {"a", "b", "c"})
    events.push_back({{}, JobSubmitted{job_spec(name, {.gpus = 1, .queue = name})}});
  world.apply(events);
  world.settle();
  EXPECT_EQ(world.state(make_id<JobId>(3)), JobState::kRunning) << "priority";
  EXPECT_EQ(world.state(make_id<JobId>(2)), JobState::kPending);
  world.finish(make_id<JobId>(3));
  EXPECT_EQ(world.state(make_id<JobId>(2)), JobState::kRunning) << "b has nothing yet, a has three quarters";
  EXPECT_EQ(world.state(make_id<JobId>(1)), JobState::kPending);
  EXPECT_EQ(world.state(busy), JobState::kRunning);
}

TEST(Queues, ComparesQueuesLevelByLevelDownTheTree) {
  TestWorld world;
  world.tell(QueueDefined{{.name = "east"}});
  world.tell(QueueDefined{{.name = "west"}});
  world.tell(QueueDefined{{.name = "e1", .parent = "east"}});
  world.tell(QueueDefined{{.name = "e2", .parent = "east"}});
  world.tell(QueueDefined{{.name = "w1", .parent = "west"}});
  add_nodes(world, 1, 4);
  world.submit(job_spec("x", {.gpus = 2, .queue = "e1"}));
  world.submit(job_spec("y", {.gpus = 1, .queue = "w1"}));
  // e2 has nothing at all, but east has more than west, and that is where their paths part.
  world.apply({{{}, JobSubmitted{job_spec("e", {.gpus = 1, .queue = "e2"})}},
               {{}, JobSubmitted{job_spec("w", {.gpus = 1, .queue = "w1"})}}});
  world.settle();
  EXPECT_EQ(world.state(make_id<JobId>(2)), JobState::kPending);
  EXPECT_EQ(world.state(make_id<JobId>(3)), JobState::kRunning);
}

TEST(Queues, NamesTheQueueWhoseLimitBindsAndStartsTheJobWhenUsageFalls) {
  TestWorld world;
  world.tell(QueueDefined{
      {.name = "org", .limit = {.gpu_units = 3 * kGpuUnits, .cpu_milli = kUnlimited, .memory_bytes = kUnlimited}}});
  world.tell(QueueDefined{{.name = "lab", .parent = "org"}});
  add_nodes(world, 1, 8);
  const JobId one = world.submit(job_spec("one", {.gpus = 2, .queue = "lab"}));
  const JobId two = world.submit(job_spec("two", {.gpus = 2, .queue = "lab"}));
  EXPECT_EQ(world.state(two), JobState::kPending);
  EXPECT_THAT(world.why(two), HasSubstr("limit"));
  EXPECT_THAT(world.why(two), HasSubstr("1 of 2"));
  EXPECT_THAT(world.why(two), HasSubstr("org"));
  EXPECT_EQ(world.scheduler->job(two).verdict.wakes_on,
            wake_bit(WakeKind::kQueueFreed) | wake_bit(WakeKind::kQueueChanged));
  world.finish(one);
  EXPECT_EQ(world.state(two), JobState::kRunning);
  const JobId never = world.submit(job_spec("never", {.gpus = 4, .queue = "lab"}));
  EXPECT_TRUE(world.scheduler->job(never).verdict.is_never);
  world.tell(QueueDefined{{.name = "org"}});
  EXPECT_EQ(world.state(never), JobState::kRunning) << "a limit that is lifted wakes those whom it kept";
}

TEST(Queues, KeepsFirmJobsInsideTheGuaranteeAndLetsOthersPass) {
  TestWorld world;
  world.tell(QueueDefined{
      {.name = "q", .guarantee = {.gpu_units = 2 * kGpuUnits, .cpu_milli = kUnlimited, .memory_bytes = kUnlimited}}});
  add_nodes(world, 1, 8);
  const JobId soft = world.submit(job_spec("soft", {.gpus = 2, .queue = "q"}));
  const JobId firm = world.submit(job_spec("firm", {.gpus = 2, .priority = kPriorityBuild, .queue = "q"}));
  const JobId more = world.submit(job_spec("more", {.gpus = 1, .priority = kPriorityBuild, .queue = "q"}));
  const JobId last = world.submit(job_spec("last", {.gpus = 2, .queue = "q"}));
  EXPECT_EQ(world.state(soft), JobState::kRunning);
  EXPECT_EQ(world.state(firm), JobState::kRunning) << "what preemptible jobs use does not count";
  EXPECT_EQ(world.state(more), JobState::kPending);
  EXPECT_EQ(world.word(more), "guarantee");
  EXPECT_EQ(world.state(last), JobState::kRunning);
}

TEST(Queues, KeepsTheNumberOfRunningJobsOfAQueue) {
  TestWorld world;
  world.tell(QueueDefined{{.name = "q", .running_jobs_max = 1}});
  add_nodes(world, 1, 8);
  const JobId one = world.submit(job_spec("one", {.gpus = 1, .queue = "q"}));
  const JobId two = world.submit(job_spec("two", {.gpus = 1, .queue = "q"}));
  EXPECT_EQ(world.state(two), JobState::kPending);
  EXPECT_EQ(world.word(two), "limit");
  world.finish(one);
  EXPECT_EQ(world.state(two), JobState::kRunning);
}

TEST(Queues, TheShareOfAQueueIsThatOfTheResourceItHasMostOf) {
  TestWorld world;
  for (const char* name : {"cpus", "gpus"}) world.tell(QueueDefined{{.name = name}});
  add_nodes(world, 1, 4, 64);
  world.submit(job_spec("half the CPUs", {.queue = "cpus", .cpu_milli = 32'000}));
  world.submit(job_spec("a quarter of the GPUs", {.gpus = 1, .queue = "gpus"}));
  const JobId blocker = world.submit(job_spec("blocker", {.gpus = 2, .queue = "gpus"}));
  const JobId last = world.submit(job_spec("last", {.gpus = 1, .queue = "cpus"}));
  ASSERT_EQ(world.state(last), JobState::kRunning);
  std::vector<Event> events;
  for (const char* name : {"cpus", "gpus"})
    events.push_back({{}, JobSubmitted{job_spec(name, {.gpus = 2, .queue = name})}});
  world.apply(events);
  world.finish(blocker);
  EXPECT_EQ(world.state(make_id<JobId>(5)), JobState::kRunning) << "gpus has a quarter of what it uses most";
  EXPECT_EQ(world.state(make_id<JobId>(4)), JobState::kPending) << "cpus has half of the CPUs";
}

TEST(Queues, AShareOfMemoryIsHeldAgainstTheLimitByTheDeviceItWouldGet) {
  TestWorld world;
  world.tell(QueueDefined{
      {.name = "q", .limit = {.gpu_units = kGpuUnits * 3 / 10, .cpu_milli = kUnlimited, .memory_bytes = kUnlimited}}});
  world.tell(QueueDefined{{.name = "other"}});
  for (const int64_t gib : {80, 40}) {
    NodeSpec node = node_spec("n" + std::to_string(gib), 1);
    node.share = ShareMode::kMps;
    node.devices[0].memory_bytes = gib * kGiB;
    world.tell(NodeAdded{node});
  }
  JobSpec owner = job_spec("owner", {.gpus = 1, .queue = "other"});
  owner.roles[0].node = "n80";
  const JobId blocker = world.submit(owner);
  JobSpec spec = job_spec("share", {.queue = "q"});
  spec.roles[0].devices = {.kind = DeviceNeedKind::kMemory, .memory_bytes = 20 * kGiB};
  const JobId share = world.scheduler->next_job_id();
  world.apply({{{}, JobSubmitted{spec}}, {{}, JobSubmitted{job_spec("next in turn", {.queue = "other"})}}});
  world.settle();
  EXPECT_EQ(world.state(share), JobState::kPending) << "half of the small device is more than the queue may have";
  EXPECT_EQ(world.scheduler->cluster().gpus_free, 1) << "and nothing stays taken";
  world.finish(blocker);
  EXPECT_EQ(world.state(share), JobState::kRunning) << "a quarter of the large one is not";
  EXPECT_TRUE(world.scheduler->audit().empty());
}

}  // namespace
}  // namespace weft
