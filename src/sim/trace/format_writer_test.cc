#include "sim/trace/format_writer.h"

#include "sim/generate/generator.h"
#include "sim/trace/trace_testing.h"
#include "sim/trace/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kEpoch = 1'514'764'800;

std::string written(TraceFormat format, const std::vector<TraceJob>& jobs) {
  const std::unique_ptr<FormatWriter> writer = make_format_writer(format, kEpoch);
  std::string text;
  for (const TraceJob& job : jobs) EXPECT_TRUE(writer->write(job, text));
  return text;
}

/// Generated jobs, which use all that a format can hold.
std::vector<TraceJob> some_jobs() {
  const auto generator = JobGenerator::make({.profile = "philly", .jobs = 3000, .seed = 3});
  std::vector<TraceJob> jobs(3000);
  for (TraceJob& job : jobs) EXPECT_TRUE((*generator)->next(job));
  return jobs;
}

ReadTrace read_back(TraceFormat format, const std::vector<TraceJob>& jobs) {
  ReadTrace trace = read_text(written(format, jobs));
  EXPECT_EQ(trace.error, "");
  EXPECT_EQ(trace.notes.format, format) << "recognised by its header";
  EXPECT_EQ(trace.jobs.size(), jobs.size());
  trace.jobs.resize(jobs.size());
  return trace;
}

TEST(FormatWriter, WeftHoldsEverything) {
  const std::vector<TraceJob> jobs = some_jobs();
  const ReadTrace trace = read_back(TraceFormat::kWeftCsv, jobs);
  EXPECT_EQ(trace.jobs, jobs);
  EXPECT_EQ(trace.notes.epoch, kEpoch);
}

TEST(FormatWriter, TiresiasHoldsGpusTimesAndModels) {
  const std::vector<TraceJob> jobs = some_jobs();
  const ReadTrace trace = read_back(TraceFormat::kTiresias, jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const TraceJob expected{.id = std::to_string(i + 1),
                            .model = jobs[i].model,
                            .submit = jobs[i].submit,
                            .run_time = jobs[i].run_time,
                            .gpus_per_task = jobs[i].gpus_per_task,
                            .is_gpu_count = 1};
    ASSERT_EQ(trace.jobs[i], expected) << i;
  }
}

TEST(FormatWriter, PhillyHoldsGpusTimesAndQueues) {
  const std::vector<TraceJob> jobs = some_jobs();
  const ReadTrace trace = read_back(TraceFormat::kPhilly, jobs);
  EXPECT_EQ(trace.notes.epoch, kEpoch + jobs.front().submit.ns / 1'000'000'000) << "the first submission";
  for (size_t i = 0; i < jobs.size(); ++i) {
    const TraceJob expected{.id = std::to_string(i),
                            .queue = jobs[i].queue,
                            .submit = Instant{0} + (jobs[i].submit - jobs.front().submit),
                            .run_time = jobs[i].run_time,
                            .gpus_per_task = jobs[i].gpus_per_task,
                            .is_gpu_count = 1};
    ASSERT_EQ(trace.jobs[i], expected) << i;
  }
}

TEST(FormatWriter, SwfHoldsEstimatesEndsAndNumbersForNames) {
  const std::vector<TraceJob> jobs = some_jobs();
  const ReadTrace trace = read_back(TraceFormat::kSwf, jobs);
  EXPECT_EQ(trace.notes.epoch, kEpoch);
  std::map<std::string, std::string> users, names, queues;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    const TraceJob expected{.id = std::to_string(i + 1),
                            .name = names.try_emplace(jobs[i].name, job.name).first->second,
                            .user = users.try_emplace(jobs[i].user, job.user).first->second,
                            .queue = queues.try_emplace(jobs[i].queue, job.queue).first->second,
                            .submit = jobs[i].submit,
                            .run_time = jobs[i].run_time,
                            .estimate = jobs[i].estimate,
                            .gpus_per_task = jobs[i].gpus_per_task,
                            .is_gpu_count = 1,
                            .end = jobs[i].end};
    ASSERT_EQ(job, expected) << i;
  }
  std::set<std::string> numbers;
  for (const auto& [name, number] : names) numbers.insert(number);
  EXPECT_EQ(numbers.size(), names.size()) << "one number for each name";
  EXPECT_GT(users.size(), 50U);
}

TEST(FormatWriter, WritesWhatOtherProgramsOfTheseFormatsRead) {
  const std::vector<TraceJob> jobs{
      {.id = "a",
       .name = "n",
       .user = "u",
       .queue = "q,1",
       .model = "vgg16",
       .submit = {1'500'000'000},
       .run_time = seconds(5),
       .estimate = seconds(60),
       .gpus_per_task = 8,
       .end = TraceEnd::kDone},
      {.id = "b", .submit = {86'400'000'000'000}, .run_time = {250'000'000}, .tasks = 2, .gpus_per_task = 4}};
  EXPECT_EQ(written(TraceFormat::kTiresias, jobs),
            "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
            "1,8,1.5,0,vgg16,5,0\n"
            "2,8,86400,0,,0.25,86398.5\n");
  EXPECT_EQ(written(TraceFormat::kPhilly, jobs),
            "timestamp,duration,num_gpus,gpu_time,cluster\n"
            "2018-01-01 00:00:01,5,8,40.0,\"q,1\"\n"
            "2018-01-02 00:00:00,0.25,8,2.0,\n");
  EXPECT_EQ(written(TraceFormat::kSwf, jobs),
            "; Version: 2.2\n; UnixStartTime: 1514764800\n; Note: a processor is a GPU\n"
            "1 1.5 -1 5 8 -1 -1 8 60 -1 1 1 -1 1 1 -1 -1 -1\n"
            "2 86400 -1 0.25 8 -1 -1 8 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(written(TraceFormat::kWeftCsv, jobs), trace_csv(jobs, kEpoch));
}

TEST(FormatWriter, SaysWhichJobAFormatCannotHold) {
  std::string text;
  for (const TraceFormat format : written_formats()) {
    const Result<void> share = make_format_writer(format, 0)->write({.id = "j7", .gpu_milli = 500}, text);
    const Result<void> none = make_format_writer(format, 0)->write({.id = "j8"}, text);
    EXPECT_EQ(share.has_value(), format == TraceFormat::kWeftCsv);
    EXPECT_EQ(none.has_value(), format == TraceFormat::kWeftCsv);
    if (share || none) continue;
    EXPECT_THAT(share.error().message, StartsWith("job 'j7' asks for a share of a GPU, which the format "));
    EXPECT_THAT(none.error().message, HasSubstr("no GPU, which the format"));
  }
}

}  // namespace
}  // namespace weft::sim
