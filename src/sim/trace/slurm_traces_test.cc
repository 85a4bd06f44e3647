// Traces of clusters under Slurm, and of those before it: sacct, helios, swf.

#include "sim/trace/slurm_words.h"
#include "sim/trace/trace_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

TEST(SlurmWords, TimesAreReadAsSlurmWritesThem) {
  EXPECT_EQ(read_slurm_time("1-02:03:04"), seconds(86'400 + 2 * 3600 + 3 * 60 + 4));
  EXPECT_EQ(read_slurm_time("02:03:04"), seconds(2 * 3600 + 3 * 60 + 4));
  EXPECT_EQ(read_slurm_time("03:04"), seconds(3 * 60 + 4));
  EXPECT_EQ(read_slurm_time("90"), minutes(90));
  EXPECT_EQ(read_slurm_time("2-12"), hours(60));
  EXPECT_EQ(read_slurm_time("00:04.250"), seconds(4));
  EXPECT_EQ(read_slurm_time("UNLIMITED"), kEndless);
  EXPECT_EQ(read_slurm_time("Partition_Limit"), kEndless);
  for (const std::string_view text : {"", "-", "1-", "a", "1:2:3:4", ":", "1:", "-1:00", "1--2", "99999999-00:00:00"})
    EXPECT_EQ(read_slurm_time(text), std::nullopt) << text;
}

TEST(SlurmWords, MemoryHasUnitsOf1024) {
  EXPECT_EQ(read_slurm_memory("64G"), 64 * kGiB);
  EXPECT_EQ(read_slurm_memory("4000"), 4000 * kMiB);
  EXPECT_EQ(read_slurm_memory("62.50G"), 62 * kGiB + 512 * kMiB);
  EXPECT_EQ(read_slurm_memory("1K"), kKiB);
  EXPECT_EQ(read_slurm_memory("2T"), 2 * kTiB);
  for (const std::string_view text : {"", "G", "x", "-1G", "64Q", "1e30", "999999999999999P"})
    EXPECT_EQ(read_slurm_memory(text), std::nullopt) << text;
}

TEST(SlurmWords, ResourcesCountGpusOnceWhereTheirKindsStandBeside) {
  SlurmResources resources;
  ASSERT_TRUE(read_slurm_resources(
      "billing=8,cpu=16,energy=5,gres/gpu:h100=2,gres/gpu:a100=2,gres/gpu=4,mem=64G,node=2", resources));
  EXPECT_EQ(resources.gpus, 4);
  EXPECT_EQ(resources.cpus, 16);
  EXPECT_EQ(resources.nodes, 2);
  EXPECT_EQ(resources.memory_bytes, 64 * kGiB);
  EXPECT_THAT(resources.gpu_models, ::testing::ElementsAre("a100", "h100"));
  SlurmResources typed;
  ASSERT_TRUE(read_slurm_resources("gres/gpu:a100=3,gres/gpu:h100=1", typed));
  EXPECT_EQ(typed.gpus, 4);
  SlurmResources gres;
  ASSERT_TRUE(read_slurm_gres("gpu:a100:4(S:0-1),shard:8,gres:gpu:2,gpu", gres));
  EXPECT_EQ(gres.gpus, 7);
  for (const std::string_view text : {"cpu", "cpu=x", "gres/gpu=-1", "mem=x", "node="}) {
    SlurmResources ignored;
    EXPECT_FALSE(read_slurm_resources(text, ignored)) << text;
  }
}

TEST(SacctTrace, TakesJobsAndPassesOverTheirSteps) {
  const ReadTrace trace = read_text(
      "JobID|JobName|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|ReqTRES|AllocTRES\n"
      "12|train, "
      "big|ann|ml|gpu|COMPLETED|2023-01-02T03:04:10|2023-01-02T03:05:00|2023-01-03T03:05:00|1-00:00:00|2-00:00:00|"
      "billing=8,cpu=16,gres/gpu=8,mem=128G,node=2|billing=8,cpu=16,gres/gpu=8,gres/gpu:a100=8,mem=128G,node=2\n"
      "12.batch|batch||ml||COMPLETED|2023-01-02T03:05:00|2023-01-02T03:05:00|2023-01-03T03:05:00|1-00:00:00|||cpu=8\n"
      "12.0|python||ml||COMPLETED|2023-01-02T03:05:00|2023-01-02T03:05:00|2023-01-03T03:05:00|1-00:00:00|||cpu=8\n"
      "11_3|a|bob|ml|gpu|CANCELLED by "
      "1000|2023-01-02T03:04:05|2023-01-02T03:04:06|2023-01-02T03:04:16|00:00:10|UNLIMITED|"
      "cpu=1,gres/gpu:a100=1,mem=4G,node=1|\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.notes.left_out, 0U);
  EXPECT_EQ(trace.notes.epoch, 1'672'628'645);
  EXPECT_EQ(trace.jobs[0].id, "11_3");
  EXPECT_EQ(trace.jobs[0].end, TraceEnd::kCancelled);
  EXPECT_EQ(trace.jobs[0].limit, kEndless);
  EXPECT_THAT(trace.jobs[0].gpu_models, ::testing::ElementsAre("a100"));
  EXPECT_EQ(trace.jobs[1], (TraceJob{.id = "12",
                                     .name = "train, big",
                                     .user = "ann",
                                     .queue = "gpu",
                                     .submit = {5'000'000'000},
                                     .run_time = hours(24),
                                     .estimate = hours(48),
                                     .limit = hours(48),
                                     .tasks = 2,
                                     .gpus_per_task = 4,
                                     .cpu_milli = 8000,
                                     .memory_bytes = 64 * kGiB,
                                     .end = TraceEnd::kDone,
                                     .recorded_start = {55'000'000'000},
                                     .recorded_end = {55'000'000'000 + hours(24).ns}}));
}

TEST(SacctTrace, LeavesOutWhatHasNotRunToAnEnd) {
  const ReadTrace trace = read_text(
      "JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES\n"
      "1|2023-01-02T03:04:05|Unknown|Unknown|0|PENDING|\n"
      "2|2023-01-02T03:04:05|2023-01-02T03:04:05|Unknown|50|RUNNING|cpu=1,node=1\n"
      "3|2023-01-02T03:04:05|None|2023-01-02T03:04:09|0|CANCELLED by 5|\n"
      "4|2023-01-02T03:04:05|2023-01-02T03:04:05|2023-01-02T03:04:09|4|FAILED|\n"
      "5|2023-01-02T03:04:05|2023-01-02T03:04:05|2023-01-02T03:04:09|4|TIMEOUT|cpu=2,node=1\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].id, "5");
  EXPECT_EQ(trace.jobs[0].cpu_milli, 2000);
  EXPECT_EQ(trace.notes.left_out, 4U);
}

TEST(SacctTrace, MakesDoWithFewColumnsInAnyOrder) {
  const ReadTrace trace = read_text(
      "End|ReqMem|Submit|NNodes|Start|ReqGRES|NCPUS|JobID|TimelimitRaw|\n"
      "2023-01-02T03:05:05|4Gc|2023-01-02T03:04:05|2|2023-01-02T03:04:05|gpu:a100:4|16|7|60|\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].run_time, seconds(60));
  EXPECT_EQ(trace.jobs[0].tasks, 2);
  EXPECT_EQ(trace.jobs[0].gpus_per_task, 4);
  EXPECT_EQ(trace.jobs[0].memory_bytes, 32 * kGiB);
  EXPECT_EQ(trace.jobs[0].limit, hours(1));
}

TEST(SacctTrace, SaysWhichColumnIsMissing) {
  EXPECT_EQ(read_text("JobID|Elapsed|ReqTRES\n").error, "t:1:1: no column Submit; sacct prints it with --format");
  EXPECT_THAT(read_text("JobID|Submit|Start|ReqTRES\n").error,
              HasSubstr("no column Elapsed or ElapsedRaw (or Start and End)"));
  EXPECT_THAT(read_text("JobID|Submit|Elapsed\n").error, HasSubstr("no column ReqTRES or AllocTRES"));
}

TEST(SacctTrace, RefusesBadFields) {
  const auto error_of = [](std::string_view row) {
    return read_text("JobID|Submit|Elapsed|Timelimit|State|ReqTRES|ReqMem\n" + std::string(row) + "\n").error;
  };
  EXPECT_THAT(error_of("1|yesterday|00:10|||cpu=1|"), HasSubstr("t:2:3: Submit: expected a date"));
  EXPECT_THAT(error_of("1|2023-01-02T03:04:05|soon||FAILED|cpu=1|"), HasSubstr("t:2:23: Elapsed: expected days-hours"));
  EXPECT_THAT(error_of("1|2023-01-02T03:04:05|00:10|x|FAILED|cpu=1|"),
              HasSubstr("t:2:29: Timelimit: expected days-hours"));
  EXPECT_THAT(error_of("1|2023-01-02T03:04:05|00:10||BROKEN|cpu=1|"),
              HasSubstr("State: expected a state of Slurm, found 'BROKEN'"));
  EXPECT_THAT(error_of("1|2023-01-02T03:04:05|00:10||FAILED|gpus|"), HasSubstr("ReqTRES: expected a list such as"));
  EXPECT_THAT(error_of("1|2023-01-02T03:04:05|00:10||FAILED|cpu=1|lots"),
              HasSubstr("ReqMem: expected memory such as 64G"));
}

TEST(HeliosTrace, SharesTotalsOverNodes) {
  const ReadTrace trace = read_text(
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
      "9,uB,vcB,16,64,2,COMPLETED,2020-06-09 18:41:11,2020-06-09 18:42:01,2020-06-10 04:55:09,36788,50\n"
      "8,uA,vcA,3,8,2,CANCELLED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:41:11,10,0\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].is_gpu_count, 1);
  EXPECT_EQ(trace.jobs[0].gpus_per_task, 3);
  EXPECT_EQ(trace.jobs[0].tasks, 1);
  EXPECT_EQ(trace.jobs[1], (TraceJob{.id = "9",
                                     .user = "uB",
                                     .queue = "vcB",
                                     .submit = {10'000'000'000},
                                     .run_time = seconds(36'788),
                                     .tasks = 2,
                                     .gpus_per_task = 8,
                                     .cpu_milli = 32'000,
                                     .end = TraceEnd::kDone,
                                     .recorded_start = {60'000'000'000},
                                     .recorded_end = {60'000'000'000 + seconds(36'788).ns}}));
}

TEST(HeliosTrace, LeavesOutJobsThatNeverRan) {
  const ReadTrace trace = read_text(
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
      "1,u,v,1,1,1,CANCELLED,2020-06-09 18:41:01,None,2020-06-09 18:41:05,0,4\n"
      "2,u,v,1,1,1,FAILED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:41:01,0,0\n"
      "3,u,v,0,0,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:41:11,10,0\n"
      "4,u,v,0,4,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:41:11,10,0\n");
  EXPECT_EQ(trace.error, "");
  EXPECT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.notes.left_out, 3U);
}

TEST(SwfTrace, TakesProcessorsAsGpusAndItsEpochFromTheHeader) {
  const ReadTrace trace = read_text(
      "; Version: 2.2\n"
      ";  UnixStartTime: 1000000000\n"
      "\n"
      "  1   0   5  100  4 -1 -1  8 3600 -1  1  3  1  7  2 -1 -1 -1\n"
      "\t2 10  -1   50 16 -1 -1 -1   -1 -1  5 -1 -1 -1 -1 -1 -1 -1\r\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.notes.epoch, 1'000'000'000);
  EXPECT_EQ(trace.jobs[0], (TraceJob{.id = "1",
                                     .name = "7",
                                     .user = "3",
                                     .queue = "2",
                                     .submit = {0},
                                     .run_time = seconds(100),
                                     .estimate = hours(1),
                                     .gpus_per_task = 8,
                                     .is_gpu_count = 1,
                                     .end = TraceEnd::kDone,
                                     .recorded_start = {5'000'000'000},
                                     .recorded_end = {105'000'000'000}}));
  EXPECT_EQ(trace.jobs[1], (TraceJob{.id = "2",
                                     .submit = {10'000'000'000},
                                     .run_time = seconds(50),
                                     .gpus_per_task = 16,
                                     .is_gpu_count = 1,
                                     .end = TraceEnd::kCancelled}));
}

TEST(SwfTrace, LeavesOutWhatIsNotKnownOrPartOfAnotherLine) {
  const ReadTrace trace = read_text(
      "1 0 0 -1 4 -1 -1 4 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"    // no run time
      "2 0 0  0 4 -1 -1 4 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"    // less than a second
      "3 0 0 10 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"  // no processors
      "4 0 0 10 4 -1 -1 4 -1 -1 2 -1 -1 -1 -1 -1 -1 -1\n"    // a part of job 4
      "4 0 0 20 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].run_time, seconds(20));
  EXPECT_EQ(trace.notes.left_out, 4U);
}

TEST(SwfTrace, RefusesBadLines) {
  const std::string good = "1 0 0 10 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
  EXPECT_EQ(read_text(good + "2 0 0 10\n").error,
            "t:2:1: 4 numbers; expected 18: a line of the Standard Workload Format");
  EXPECT_EQ(read_text(good + "2 0 0  x 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n").error,
            "t:2:8: field 4: expected a number, found 'x'");
  EXPECT_THAT(read_text(good + "2 0 0 -7 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n").error,
              HasSubstr("t:2:7: the job runs for -7 s"));
  EXPECT_THAT(read_text(good + "2 0 0 7 99999999 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n").error,
              HasSubstr("expected at most 1,000,000 processors"));
  EXPECT_THAT(read_text(good + "2 -5 0 7 1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n").error,
              HasSubstr("t:2:3: the job was submitted 5 s before"));
}

}  // namespace
}  // namespace weft::sim
