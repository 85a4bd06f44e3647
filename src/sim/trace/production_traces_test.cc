// Traces of production clusters in forms of their own: philly-log, pai, lingjun.

#include "base/test_folder.h"
#include "sim/gzip_testing.h"
#include "sim/trace/trace_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace weft::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(PhillyLog, AddsUpTheAttemptsOfAJob) {
  const ReadTrace trace = read_text(R"([
    {"status": "Pass", "vc": "v1", "jobid": "app_2", "user": "u", "submitted_time": "2017-10-07 01:11:39",
     "attempts": [
       {"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:13:00",
        "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]},
       {"start_time": "2017-10-07 02:00:00", "end_time": "2017-10-07 02:00:30",
        "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]}]},
    {"status": "Killed", "vc": null, "jobid": "app_1", "user": "w", "submitted_time": "2017-10-07 01:11:30",
     "attempts": [{"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:12:05",
                   "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}
  ])");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.notes.epoch, 1'507'338'690);
  EXPECT_EQ(trace.jobs[0].id, "app_1");
  EXPECT_EQ(trace.jobs[0].end, TraceEnd::kCancelled);
  EXPECT_EQ(trace.jobs[1], (TraceJob{.id = "app_2",
                                     .user = "u",
                                     .queue = "v1",
                                     .submit = {9'000'000'000},
                                     .run_time = seconds(90),
                                     .gpus_per_task = 3,
                                     .is_gpu_count = 1,
                                     .end = TraceEnd::kDone,
                                     .recorded_start = {30'000'000'000},
                                     .recorded_end = {(48 * 60 + 30 + 30) * 1'000'000'000LL}}));
}

TEST(PhillyLog, LeavesOutJobsThatNeverRanOrStillRun) {
  const ReadTrace trace = read_text(R"([
    {"status": "Failed", "jobid": "a", "submitted_time": "2017-10-07 01:11:39", "attempts": []},
    {"status": "Pass", "jobid": "b", "submitted_time": "2017-10-07 01:11:39", "attempts":
      [{"start_time": "2017-10-07 01:12:00", "end_time": "None", "detail": [{"gpus": ["gpu0"]}]}]},
    {"status": "Pass", "jobid": "c", "submitted_time": "2017-10-07 01:11:39", "attempts":
      [{"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:12:00", "detail": [{"gpus": ["gpu0"]}]}]},
    {"status": "Pass", "jobid": "d", "submitted_time": "2017-10-07 01:11:39", "attempts":
      [{"start_time": null, "end_time": null, "detail": []},
       {"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:12:09", "detail": [{"gpus": ["gpu0"]}]}]}])");
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].id, "d");
  EXPECT_EQ(trace.jobs[0].run_time, seconds(9));
  EXPECT_EQ(trace.notes.left_out, 3U);
}

TEST(PhillyLog, SaysWhereAJobIsWrong) {
  const auto error_of = [](std::string_view job) { return read_text("[\n" + std::string(job) + "]").error; };
  EXPECT_THAT(error_of(R"({"jobid": "a", "submitted_time": 5})"),
              HasSubstr("t:2:34: submitted_time: expected a time such as 2017-10-09 07:01:55, found ''"));
  EXPECT_THAT(error_of(R"({"jobid": 7, "submitted_time": "2017-10-07 01:11:39"})"),
              HasSubstr("t:2:11: jobid: expected a text"));
  EXPECT_THAT(error_of(R"({"jobid": "a", "attempts": []})"),
              HasSubstr("submitted_time: expected the time of the submission"));
  EXPECT_THAT(error_of(R"({"jobid": "a", "submitted_time": "2017-10-07 01:11:39", "attempts": [{"start_time": "x"}]})"),
              HasSubstr("t:2:69: attempts: start_time: expected a time"));
  EXPECT_THAT(error_of(R"({"jobid": "a", "submitted_time": "2017-10-07 01:11:39", "attempts": [7]})"),
              HasSubstr("t:2:69: attempts: expected a list of objects"));
  EXPECT_THAT(error_of(R"({"jobid": "a", "submitted_time": "2017-10-07 01:11:39", "attempts":
      [{"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:11:00", "detail": [{"gpus": ["gpu0"]}]}]})"),
              HasSubstr("t:3:7: attempts: an attempt ends before it starts"));
  EXPECT_THAT(error_of(R"({"jobid": nothing})"), HasSubstr("t:2:11: this is not JSON"));
  EXPECT_THAT(error_of("{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}"), HasSubstr("this is not JSON"));
}

/// A folder with tables.
class Tables : public ::testing::Test {
 protected:
  void write(const std::string& file, std::string_view text) {
    std::ofstream(folder_.path() + "/" + file, std::ios::binary) << text;
  }
  ReadTrace read(const TraceOptions& options = {}) { return drain(open_trace(folder_.path(), options)); }

  const TestFolder folder_;
};

using PaiTrace = Tables;
using LingjunTrace = Tables;

TEST_F(PaiTrace, IsTheTaskWithTheMostGpusOfEachJob) {
  write("pai_job_table.csv",
        "j2,i2,u2,Terminated,200.0,400.0\n"
        "j1,i1,u1,Failed,100.0,130.5\n");
  write("pai_task_table.csv.gz", gzip("j1,tensorflow,1.0,Failed,110.0,130.5,600.0,29.296875,50.0,MISC\n"
                                      "j2,ps,4.0,Terminated,205.0,400.0,800.0,10.0,,\n"
                                      "j2,worker,2.0,Terminated,210.0,400.0,1000.0,64.0,400.0,V100\n"));
  write("pai_group_tag_table.csv", "i2,u2,V100M32,g7,bert\n");
  const ReadTrace trace = read();
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.notes.format, TraceFormat::kPai);
  EXPECT_EQ(trace.jobs[0], (TraceJob{.id = "j1",
                                     .user = "u1",
                                     .submit = {100'000'000'000},
                                     .run_time = {20'500'000'000},
                                     .gpu_milli = 500,
                                     .cpu_milli = 6000,
                                     .memory_bytes = 30'000 * kMiB,
                                     .end = TraceEnd::kFailed,
                                     .recorded_start = {110'000'000'000},
                                     .recorded_end = {130'500'000'000}}));
  EXPECT_EQ(trace.jobs[1], (TraceJob{.id = "j2",
                                     .name = "g7",
                                     .user = "u2",
                                     .model = "bert",
                                     .submit = {200'000'000'000},
                                     .run_time = seconds(195),
                                     .tasks = 2,
                                     .gpus_per_task = 4,
                                     .cpu_milli = 10'000,
                                     .memory_bytes = 64 * kGiB,
                                     .gpu_models = {"V100M32"},
                                     .end = TraceEnd::kDone,
                                     .recorded_start = {205'000'000'000},
                                     .recorded_end = {400'000'000'000}}));
}

TEST_F(PaiTrace, LeavesOutJobsThatHaveNotEndedAndNamesBadRowsOfEachTable) {
  write("pai_job_table.csv",
        "job_name,inst_id,user,status,start_time,end_time\n"
        "a,i,u,Running,100.0,\n"
        "b,i,u,Waiting,,\n"
        "c,i,u,Terminated,100.0,200.0\n"  // has no task
        "d,i,u,Terminated,100.0,200.0\n");
  write("pai_task_table.csv", "d,w,1.0,Terminated,100.0,200.0,600.0,1.0,150.0,P100\nx,w,1.0,,100.0,,lots,,,\n");
  EXPECT_THAT(read().error, EndsWith("pai_task_table.csv:2:17: plan_cpu: expected a number, found 'lots'"));
  const ReadTrace trace = read({.bad_rows = BadRows::kSkip});
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].gpus_per_task, 2);
  EXPECT_EQ(trace.notes.left_out, 3U);
  EXPECT_EQ(trace.notes.skipped, 1U);
}

constexpr std::string_view kJobs =
    ",id,job_name,kind,model,priority,status,user_id,workspace_id,gmt_job_submitted,gmt_job_running,gmt_job_finished,"
    "gmt_job_stopped,job_max_running_time_minutes\n";

TEST_F(LingjunTrace, JoinsJobsWithTheirWorkers) {
  write("job.csv",
        std::string(kJobs) +
            "0,1,dlc1,PyTorchJob,gpt,5.0,Succeeded,u1,w1,2023/7/17 2:53,2023/7/17 2:55,2023/7/17 3:55,,120.0\n"
            "1,2,dlc2,PyTorchJob,,1,Stopped,u2,w1,2023/7/17 2:50,2023/7/17 2:51,,2023/7/17 2:52,\n"
            "2,3,dlc3,PyTorchJob,,1,Failed,u2,w1,2023/7/17 2:50,,,2023/7/17 2:52,\n");
  write("worker.csv",
        "job_name,worker_name,replica_type,host_ip,RES\n"
        "dlc1,dlc1-master-0,master,1.2.3.4,\"{\"\"cpu\"\": \"\"90\"\", \"\"memory\"\": \"\"900Gi\"\", "
        "\"\"nvidia.com/gpu\"\": \"\"8\"\"}\"\n"
        "dlc1,dlc1-worker-0,worker,1.2.3.5,\"{'cpu': '90', 'memory': '900Gi', 'nvidia.com/gpu': '8'}\"\n"
        "dlc1,dlc1-worker-0,worker,1.2.3.6,\"{'cpu': '90', 'memory': '900Gi', 'nvidia.com/gpu': '8'}\"\n"  // again
        "dlc2,dlc2-master-0,master,1.2.3.4,\"{'cpu': 4500m, 'memory': '1Gi'}\"\n"
        "dlc3,dlc3-master-0,master,1.2.3.4,\n");
  EXPECT_THAT(read().error, HasSubstr("worker.csv:5:35: RES: expected resources such as"));
  const ReadTrace trace = read({.bad_rows = BadRows::kSkip});
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.notes.left_out, 2U);
  EXPECT_EQ(trace.jobs[0], (TraceJob{.id = "dlc1",
                                     .user = "u1",
                                     .queue = "w1",
                                     .model = "gpt",
                                     .submit = {0},
                                     .run_time = hours(1),
                                     .estimate = hours(2),
                                     .limit = hours(2),
                                     .tasks = 2,
                                     .gpus_per_task = 8,
                                     .cpu_milli = 90'000,
                                     .memory_bytes = 900 * kGiB,
                                     .priority = 5,
                                     .end = TraceEnd::kDone,
                                     .recorded_start = {120'000'000'000},
                                     .recorded_end = {120'000'000'000 + hours(1).ns}}));
}

TEST_F(LingjunTrace, WorkersThatDifferAreANumberOfGpus) {
  write("job.csv", std::string(kJobs) + "0,1,a,k,,1,Failed,u,w,2023/7/17 2:50,2023/7/17 2:51,2023/7/17 2:52,,\n");
  write("worker.csv",
        "job_name,worker_name,RES\na,w0,\"{'nvidia.com/gpu': 8}\"\na,w1,\"{'nvidia.com/gpu': 2}\"\na,ps,\"{'cpu': "
        "4}\"\n");
  const ReadTrace trace = read();
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].gpus_per_task, 10);
  EXPECT_EQ(trace.jobs[0].is_gpu_count, 1);
}

TEST_F(LingjunTrace, SaysWhichTableIsMissing) {
  write("job.csv", kJobs);
  EXPECT_THAT(read().error, EndsWith("worker.csv: there is no such file"));
}

}  // namespace
}  // namespace weft::sim
