#include "scheduler/questions.h"

#include "scheduler/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Questions, RefusesUnknownPoliciesByName) {
  PolicyConfig config;
  config.order = "alphabetical";
  const auto made = Scheduler::create(config);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("alphabetical"));
  EXPECT_THAT(made.error().message, HasSubstr("priority"));
}

TEST(Questions, TellsWhatWasWrongWithStructure) {
  TestWorld world;
  world.apply({{{}, NodeAdded{node_spec("n", 1)}}, {{}, NodeAdded{node_spec("n", 1)}}});
  ASSERT_EQ(world.scheduler->last_errors().size(), 1U);
  EXPECT_EQ(world.scheduler->node_count(), 1U);
  world.apply({});
  EXPECT_THAT(world.scheduler->last_errors(), IsEmpty());
}

TEST(Questions, AnswersWhatIfWithoutChangingWhatItDecides) {
  TestWorld asked;
  TestWorld silent;
  for (TestWorld* world : {&asked, &silent}) {
    add_default_queue(*world);
    add_nodes(*world, 2, 4);
    world->submit(job_spec("a", {.gpus = 3}));
  }
  std::vector<TaskPlacement> where;
  const auto yes = asked.scheduler->what_if(job_spec("q", {.gpus = 4}), &where);
  ASSERT_TRUE(yes.has_value());
  EXPECT_TRUE(yes->is_yes());
  ASSERT_EQ(where.size(), 1U);
  EXPECT_EQ(where[0].node, make_id<NodeId>(1));
  const auto no = asked.scheduler->what_if(job_spec("q", {.count = 2, .gpus = 4}), &where);
  EXPECT_FALSE(no->is_yes());
  EXPECT_FALSE(no->is_never);
  EXPECT_THAT(where, IsEmpty());
  EXPECT_TRUE(asked.scheduler->what_if(job_spec("q", {.count = 3, .gpus = 4}))->is_never);
  EXPECT_FALSE(asked.scheduler->what_if(job_spec("q", {.queue = "none"})).has_value());
  for (TestWorld* world : {&asked, &silent}) world->submit(job_spec("b", {.count = 2, .gpus = 2}));
  EXPECT_EQ(asked.scheduler->decision_hash(), silent.scheduler->decision_hash());
  EXPECT_THAT(asked.scheduler->audit(), IsEmpty());
}

TEST(Questions, ViewsSayWhatPeopleWantToKnow) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 2, 4);
  const JobId job = world.submit(job_spec("train", {.count = 2, .gpus = 3}));
  const JobId waits = world.submit(job_spec("waits", {.gpus = 2}));
  const JobView view = world.scheduler->job(job);
  EXPECT_EQ(view.name, "train");
  EXPECT_EQ(view.queue, "default");
  EXPECT_EQ(view.user, "default");
  EXPECT_EQ(view.request.gpu_units, 6 * kGpuUnits);
  ASSERT_EQ(view.tasks.size(), 2U);
  EXPECT_EQ(view.tasks[1].name, "w/1");
  EXPECT_EQ(view.tasks[1].state, TaskState::kRunning);
  EXPECT_EQ(popcount(view.tasks[1].placement.devices), 3U);
  EXPECT_THAT(view.why, IsEmpty());
  EXPECT_THAT(world.why(waits), HasSubstr("2 nodes"));
  const QueueView queue = world.scheduler->queue(make_id<QueueId>(0));
  EXPECT_EQ(queue.running, 1);
  EXPECT_EQ(queue.pending, 1);
  EXPECT_EQ(queue.usage.gpu_units, 6 * kGpuUnits);
  const ClusterView cluster = world.scheduler->cluster();
  EXPECT_EQ(cluster.gpus, 8);
  EXPECT_EQ(cluster.gpus_free, 2);
  EXPECT_EQ(cluster.jobs_pending, 1);
  EXPECT_EQ(cluster.jobs_running, 1);
  EXPECT_EQ(cluster.fragmentation.gpu_milli_free, 2000);
  EXPECT_GT(cluster.fragmentation.fragment_milli, 0) << "nobody of those seen fits on a single GPU";
}

TEST(Questions, AVerdictNamesTheQueueAlsoWhereItFilledUpAfterTheJobWasRefused) {
  TestWorld world;
  world.tell(QueueDefined{
      {.name = "q", .limit = {.gpu_units = 4 * kGpuUnits, .cpu_milli = kUnlimited, .memory_bytes = kUnlimited}}});
  world.tell(QueueDefined{{.name = "other"}});
  add_nodes(world, 1, 8);
  world.submit(job_spec("blocker", {.gpus = 6, .queue = "other"}));
  const JobId waits = world.submit(job_spec("waits", {.gpus = 4, .queue = "q"}));
  EXPECT_EQ(world.word(waits), "GPUs");
  world.tell(
      JobAdopted{job_spec("adopted", {.gpus = 1, .queue = "q"}), {}, {}, {{.task = 0, .node = make_id<NodeId>(0)}}});
  EXPECT_EQ(world.word(waits), "limit");
}

TEST(Questions, ANodeThatCannotBeUsedYetEndsANeverAllTheSame) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  const JobId wide = world.submit(job_spec("wide", {.gpus = 8}));
  ASSERT_TRUE(world.scheduler->job(wide).verdict.is_never);
  world.apply({{{}, NodeAdded{node_spec("more", 8)}}, {{}, NodeCordoned{make_id<NodeId>(1)}}});
  EXPECT_FALSE(world.scheduler->job(wide).verdict.is_never);
  EXPECT_EQ(world.scheduler->cluster().nodes, 2);
  EXPECT_EQ(world.scheduler->cluster().nodes_available, 1);
}

TEST(Questions, FragmentsAreMeasuredAgainstEveryTaskThatCame) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  world.submit(job_spec("three small ones", {.count = 3, .gpus = 1}));
  world.submit(job_spec("a pair", {.gpus = 2}));
  EXPECT_NEAR(world.scheduler->cluster().fragmentation.fragment_milli, 250, 1)
      << "one GPU is free, and one task of four cannot use it";
}

TEST(Questions, JobsWithoutGpusMakeNoFragments) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  world.submit(job_spec("compile", {.count = 7, .gpus = 0}));
  EXPECT_FALSE(world.scheduler->has_expected_tasks());
  EXPECT_EQ(world.scheduler->cluster().fragmentation.fragment_milli, 0);
  world.submit(job_spec("train", {.gpus = 1}));
  EXPECT_TRUE(world.scheduler->has_expected_tasks());
  EXPECT_EQ(world.scheduler->cluster().fragmentation.fragment_milli, 0) << "the only kind with GPUs can use all three";
}

TEST(Questions, WhatADriverTellsCountsAsToldAlsoWithoutGpus) {
  TestWorld world;
  add_default_queue(world);
  add_nodes(world, 1, 4);
  EXPECT_FALSE(world.scheduler->has_expected_tasks());
  EXPECT_EQ(world.scheduler->fragmentation().fragment_milli, 0) << "nobody has come yet";
  world.scheduler->expect_tasks({{.gpu_count = 1, .gpu_milli = 1000}, {.cpu_milli = 1000}});
  EXPECT_TRUE(world.scheduler->has_expected_tasks());
  EXPECT_NEAR(world.scheduler->fragmentation().fragment_milli, 2000, 1) << "one task of two can use no GPU";
}

TEST(Questions, TheVerdictOfAJobThatRunsInPartIsAsOfNowAndForWhereItRuns) {
  TestWorld world;
  world.tell(TopologyDefined{{.levels = {"rack"}}});
  add_default_queue(world);
  const auto node = [](std::string name, std::string rack) {
    NodeSpec spec = node_spec(std::move(name), 1);
    spec.labels = {{"rack", std::move(rack)}};
    return spec;
  };
  world.tell(NodeAdded{node("a", "r1")});
  world.tell(NodeAdded{node("b", "r2")});
  JobSpec spec = job_spec("bag", {.count = 2, .gpus = 1});
  spec.gang = GangRule::kNone;
  spec.topology.within = "rack";
  const JobId job = world.submit(spec);
  ASSERT_EQ(world.running(job).size(), 1U);
  EXPECT_EQ(world.scheduler->job(job).verdict.reason, Reason::kLevel);
  world.apply({{{}, NodeAdded{node("c", "r1")}}, {{}, NodeCordoned{make_id<NodeId>(2)}}});
  EXPECT_EQ(world.scheduler->job(job).verdict.reason, Reason::kLevel);
  EXPECT_EQ(world.scheduler->job(job).verdict.nodes_total, 3U);
}

}  // namespace
}  // namespace weft
