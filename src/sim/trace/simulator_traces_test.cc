// The formats of published simulators: tiresias, muri, philly, openb.

#include "sim/trace/trace_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

TEST(TiresiasTrace, IsInSeconds) {
  const ReadTrace trace = read_text(
      "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
      "3,4,0,606,vgg19,164,30\n"
      "5,1,30.25,133,,147,23\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0], (TraceJob{.id = "3",
                                     .model = "vgg19",
                                     .submit = {0},
                                     .run_time = seconds(164),
                                     .gpus_per_task = 4,
                                     .is_gpu_count = 1,
                                     .iterations = 606}));
  EXPECT_EQ(trace.jobs[1].submit.ns, 30'250'000'000);
  EXPECT_EQ(trace.notes.epoch, 0);
}

TEST(MuriTrace, IsInMilliseconds) {
  const ReadTrace trace = read_text(
      "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0,"
      "resource_time_1,resource_time_2,priority\n"
      "0,8,1456001,1000,bert,4,575169003,11,190.5,0.5,163,18,2\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0], (TraceJob{.id = "0",
                                     .model = "bert",
                                     .submit = {1'456'001'000'000},
                                     .run_time = milliseconds(575'169'003),
                                     .gpus_per_task = 8,
                                     .priority = 2,
                                     .is_gpu_count = 1,
                                     .iterations = 1000,
                                     .iteration_time = {190'500'000}}));
}

TEST(PhillyTrace, IsSortedBySubmissionAndNamedByPlace) {
  const ReadTrace trace = read_text(
      "timestamp,duration,num_gpus,gpu_time,cluster\n"
      "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
      "2017-10-09 07:01:50,10.5,8,84.0,6214e9\n"
      "2017-10-09 07:01:55,5.0,2,10.0,6214e9\n\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 3U);
  EXPECT_EQ(trace.notes.epoch, 1'507'532'510);
  EXPECT_EQ(trace.jobs[0], (TraceJob{.id = "1",
                                     .queue = "6214e9",
                                     .submit = {0},
                                     .run_time = {10'500'000'000},
                                     .gpus_per_task = 8,
                                     .is_gpu_count = 1}));
  EXPECT_EQ(trace.jobs[1].id, "0");
  EXPECT_EQ(trace.jobs[1].submit.ns, 5'000'000'000);
  EXPECT_EQ(trace.jobs[2].id, "2");
}

TEST(PhillyTrace, RefusesABadDate) {
  EXPECT_EQ(read_text("timestamp,duration,num_gpus\n2017-10-09 25:01:55,66.0,1\n").error,
            "t:2:1: timestamp: expected a date and a time such as 2020-06-09 18:41:01, found '2017-10-09 25:01:55'");
}

constexpr std::string_view kOpenb =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

ReadTrace openb(std::string_view rows) { return read_text(std::string(kOpenb) + std::string(rows)); }

TEST(OpenbTrace, RunsFromItsSchedulingToItsDeletion) {
  const ReadTrace trace = openb(
      "b,6000,12288,1,460,,LS,Running,427061,12902960,427062\n"
      "a,12000,16384,8,1000,V100M32|G2,LS,Succeeded,100,200,\n"
      "c,1000,1024,0,0,,BE,Failed,427061,427161,427061\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 3U);
  EXPECT_EQ(trace.jobs[0], (TraceJob{.id = "a",
                                     .submit = {100'000'000'000},
                                     .run_time = seconds(100),
                                     .gpus_per_task = 8,
                                     .cpu_milli = 12'000,
                                     .memory_bytes = 16'384 * kMiB,
                                     .gpu_models = {"G2", "V100M32"},
                                     .end = TraceEnd::kDone,
                                     .recorded_end = {200'000'000'000}}));
  EXPECT_EQ(trace.jobs[1].id, "b");
  EXPECT_EQ(trace.jobs[1].gpu_milli, 460);
  EXPECT_EQ(trace.jobs[1].gpus_per_task, 0);
  EXPECT_EQ(trace.jobs[1].run_time, seconds(12'902'960 - 427'062));
  EXPECT_EQ(trace.jobs[1].recorded_start.ns, 427'062'000'000'000);
  EXPECT_EQ(trace.jobs[2].end, TraceEnd::kFailed);
}

TEST(OpenbTrace, LeavesOutPodsThatNeverRanOrAskForNothing) {
  const ReadTrace trace = openb(
      "a,1000,1024,1,1000,,LS,Pending,0,100,\n"
      "b,1000,1024,1,1000,,LS,Running,0,,0\n"
      "c,0,0,0,0,,LS,Running,0,100,0\n"
      "d,1000,1024,1,1000,,LS,Running,0,100,0\n");
  EXPECT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.notes.left_out, 3U);
}

TEST(OpenbTrace, RefusesGpusThatDoNotFitTogetherAndListsWithoutTimes) {
  EXPECT_EQ(openb("a,1,1,0,500,,,,0,1,0\n").error, "t:2:9: gpu_milli: expected 0 where num_gpu is 0, found 500");
  EXPECT_EQ(openb("a,1,1,1,0,,,,0,1,0\n").error,
            "t:2:9: gpu_milli: expected 1 to 1,000 where num_gpu is not 0, found 0");
  EXPECT_EQ(openb("a,1,1,2,500,,,,0,1,0\n").error,
            "t:2:9: gpu_milli: expected 1,000 where num_gpu is over 1, found 500");
  EXPECT_EQ(openb("a,1,1,1,500,,,,10,5,\n").error, "t:2:19: the job runs for -5 s; expected more than 0");
  EXPECT_THAT(read_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1\n").error,
              HasSubstr("t:1:1: the column 'creation_time' is missing"));
}

}  // namespace
}  // namespace weft::sim
