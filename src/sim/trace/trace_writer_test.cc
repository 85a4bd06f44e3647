#include "sim/trace/trace_writer.h"

#include "base/rng.h"
#include "sim/trace/trace_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A text with what CSV and YAML take for signs of their own.
std::string any_text(Rng& rng) {
  constexpr std::string_view kPieces[] = {"a",
                                          "B7",
                                          ",",
                                          "\"",
                                          "'",
                                          "\\",
                                          "\n",
                                          "\r\n",
                                          "\t",
                                          " ",
                                          "#",
                                          ": ",
                                          "- ",
                                          "{",
                                          "}",
                                          "[",
                                          "ä",
                                          "日本",
                                          "null",
                                          "~",
                                          "0x1f",
                                          "%",
                                          "&",
                                          "*",
                                          "!",
                                          "|",
                                          "\xC2\x85",
                                          "\xE2\x80\xA8",
                                          "\xF0\x9F\x98\x80"};
  std::string text;
  for (uint64_t i = rng.below(5); i > 0; --i) text += kPieces[rng.below(std::size(kPieces))];
  return text;
}

int64_t any_time(Rng& rng) {
  constexpr int64_t kUnits[] = {1, 1000, 1'000'000, 1'000'000'000};
  return rng.between(0, 1'000'000'000) * kUnits[rng.below(std::size(kUnits))];
}

/// Each field with its default or a value.
TraceJob any_job(Rng& rng, int number, Instant& submit) {
  const auto is_given = [&] { return rng.below(2) == 0; };
  TraceJob job{.id = std::to_string(number) + any_text(rng), .run_time = {1 + any_time(rng)}};
  submit = submit + Duration{any_time(rng) / 1'000'000};
  job.submit = submit;
  for (std::string* text : {&job.name, &job.user, &job.queue, &job.model}) {
    if (is_given()) *text = any_text(rng);
  }
  for (Duration* time : {&job.estimate, &job.limit, &job.iteration_time}) {
    if (is_given()) time->ns = any_time(rng);
  }
  for (Instant* instant : {&job.deadline, &job.recorded_start, &job.recorded_end}) {
    if (is_given()) instant->ns = any_time(rng) - any_time(rng);
  }
  if (is_given()) job.gpu_milli = static_cast<int32_t>(rng.between(1, 999));
  if (job.gpu_milli == 0) job.gpus_per_task = static_cast<int32_t>(rng.between(0, 1'000'000));
  if (is_given()) job.tasks = static_cast<int32_t>(rng.between(1, 1'000'000));
  if (job.tasks == 1) job.is_gpu_count = static_cast<uint8_t>(rng.below(2));
  if (is_given()) job.cpu_milli = rng.between(0, int64_t{1} << 60);
  if (is_given()) job.memory_bytes = rng.between(0, int64_t{1} << 60);
  if (is_given()) job.gpu_models = {"A100", "H100, 80 GB"};
  if (is_given()) job.priority = static_cast<int32_t>(rng.between(-2'000'000'000, 2'000'000'000));
  if (is_given()) job.iterations = rng.between(0, int64_t{1} << 60);
  job.end = static_cast<TraceEnd>(rng.below(4));
  return job;
}

TEST(TraceWriter, WhatItWritesIsReadBackEqual) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    std::vector<TraceJob> jobs;
    Instant submit{-5};
    for (int i = 0; i < 60; ++i) jobs.push_back(any_job(rng, i, submit));
    const int64_t epoch = seed % 2 == 0 ? 0 : 1'507'532'515;
    for (const std::string& text : {trace_csv(jobs, epoch), trace_yaml(jobs, epoch)}) {
      const ReadTrace trace = read_text(text);
      ASSERT_EQ(trace.error, "") << text;
      ASSERT_EQ(trace.jobs.size(), jobs.size());
      for (size_t i = 0; i < jobs.size(); ++i)
        ASSERT_EQ(trace.jobs[i], jobs[i]) << seed << ": job " << i << " of\n" << text;
      EXPECT_EQ(trace.notes.epoch, epoch);
      EXPECT_EQ(trace.notes.rows, jobs.size());
    }
  }
}

TEST(TraceWriter, WritesOnlyWhatIsTold) {
  const std::vector<TraceJob> jobs{{.id = "a", .submit = {1'500'000'000}, .run_time = seconds(5), .gpus_per_task = 8},
                                   {.id = "b", .submit = {2'000'000'000}, .run_time = {1}, .end = TraceEnd::kDone}};
  EXPECT_EQ(
      trace_csv(jobs),
      "id,submit,run_time,gpus,tasks,gpus_anywhere,gpu_milli,gpu_models,cpu_milli,memory_bytes,name,user,queue,model,"
      "priority,estimate,limit,deadline,iterations,iteration_time,end,recorded_start,recorded_end\n"
      "a,1.5,5,8,,,,,,,,,,,,,,,,,,,\n"
      "b,2,0.000000001,,,,,,,,,,,,,,,,,,done,,\n");
  EXPECT_EQ(trace_yaml(jobs, 77),
            "weft_trace: 1\n"
            "epoch: 77\n"
            "jobs:\n"
            "  - {id: \"a\", submit: 1.5, run_time: 5, gpus: 8}\n"
            "  - {id: \"b\", submit: 2, run_time: 0.000000001, end: done}\n");
}

TEST(TraceWriter, ACsvCanBeWrittenPieceByPiece) {
  const std::vector<TraceJob> jobs{{.id = "a", .run_time = {1}}, {.id = "b", .run_time = {2}}};
  TraceCsvWriter writer(9);
  std::string all;
  for (const TraceJob& job : jobs) {
    std::string piece;
    writer.write(job, piece);
    all += piece;
  }
  EXPECT_EQ(all, trace_csv(jobs, 9));
}

TEST(TraceWriter, ALongYamlIsSeveralDocuments) {
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 12'000; ++i) jobs.push_back({.id = std::to_string(i), .submit = {i}, .run_time = {1}});
  const ReadTrace trace = read_text(trace_yaml(jobs, 5));
  EXPECT_EQ(trace.error, "");
  EXPECT_EQ(trace.jobs, jobs);
}

std::string csv_error(std::string_view row) {
  return read_text("id,submit,run_time,gpus,tasks,gpus_anywhere,gpu_milli,end,epoch\n" + std::string(row) + "\n").error;
}

TEST(WeftCsv, RefusesBadFields) {
  EXPECT_EQ(csv_error("a,,5,1,,,,,"), "t:2:3: submit: expected a number of seconds, found nothing");
  EXPECT_EQ(csv_error("a,0,,1,,,,,"), "t:2:5: run_time: expected a number of seconds, found nothing");
  EXPECT_EQ(csv_error("a,0,5,-1,,,,,"), "t:2:7: gpus: expected a number from 0 to 1,000,000, found '-1'");
  EXPECT_EQ(csv_error("a,0,5,1,0,,,,"), "t:2:9: tasks: expected a number from 1 to 1,000,000, found '0'");
  EXPECT_EQ(csv_error("a,0,5,1,,2,,,"), "t:2:10: gpus_anywhere: expected 0 or 1, found '2'");
  EXPECT_EQ(csv_error("a,0,5,,,,1000,,"), "t:2:10: gpu_milli: expected a number from 0 to 999, found '1000'");
  EXPECT_EQ(csv_error("a,0,5,,,,,gone,"), "t:2:11: end: expected done, failed or cancelled, found 'gone'");
  EXPECT_EQ(csv_error("a,0,5,1,,,500,,"), "t:2:1: id: gpu_milli is a share of one GPU; expected no gpus beside it");
  EXPECT_EQ(csv_error("a,0,5,1,2,1,,,"), "t:2:1: id: gpus_anywhere is for one task; expected no more tasks");
  EXPECT_EQ(csv_error("a,0,5,1,,,,,7\nb,0,5,1,,,,,8"), "t:3:13: epoch: expected the 7 of the rows above");
  EXPECT_EQ(read_text("id,submit,run_time,gpu\n").error, "t:1:20: unknown column 'gpu'; did you mean 'gpus'?");
}

TEST(WeftYaml, SaysWhereItIsWrong) {
  const auto error_of = [](std::string_view text) { return read_text("weft_trace: 1\n" + std::string(text)).error; };
  EXPECT_EQ(error_of("jobs:\n  - {id: a, submit: soon, run_time: 5}\n"),
            "t:3:21: submit: expected a number of seconds, found 'soon'");
  EXPECT_EQ(error_of("jobs:\n  - {id: a, submit: 0}\n"), "t:3:5: the key 'run_time' is missing");
  EXPECT_EQ(error_of("jobs:\n  - {id: a, submit: 0, runtime: 5}\n"),
            "t:3:24: unknown key 'runtime'; did you mean 'run_time'?");
  EXPECT_EQ(error_of("jobs:\n  - {id: a, submit: 0, run_time: [5]}\n"),
            "t:3:34: run_time: expected a number of seconds, found '[5]'");
  EXPECT_EQ(error_of("jobs:\n  - {id: a, submit: 0, run_time: 0}\n"),
            "t:3:34: the job runs for 0 s; expected more than 0");
  EXPECT_EQ(error_of("jobs:\n  - {id: a, submit: 1, run_time: 1}\n  - {id: a, submit: 1, run_time: 1}\n"),
            "t:4:10: the id 'a' stands twice; expected one job of an id");
  EXPECT_EQ(error_of("jobs:\n  - {id: a, submit: 1, run_time: 1}\n  - {id: b, submit: 0, run_time: 1}\n"),
            "t:4:21: the job was submitted 1 s before the one above; expected jobs in order of submission");
  EXPECT_EQ(error_of("jobs: 7\n"), "t:2:7: jobs: expected a list");
  EXPECT_EQ(error_of("jobs: []\n"), "t: no jobs; expected at least one");
  EXPECT_EQ(error_of(""), "t: no jobs; expected at least one");
  EXPECT_EQ(error_of("job: []\n"),
            "t:2:1: unknown key 'job'; expected a map of weft_trace: 1, jobs: and perhaps epoch:");
  EXPECT_EQ(read_text("weft_trace: 2\n").error, "t:1:13: weft_trace: expected 1, the version of the format");
  EXPECT_EQ(read_text("epoch: 5\n").error,
            "t:1:1: the key weft_trace is missing; expected a map of weft_trace: 1, jobs: and perhaps epoch:");
  EXPECT_THAT(error_of("jobs: [\n"), StartsWith("t:3:1: this is not YAML"));
  EXPECT_THAT(error_of("jobs:\n  - {id: a, submit: 0, run_time: 5, end: gone}\n"),
              HasSubstr("end: expected done, failed or cancelled, found 'gone'"));
}

TEST(WeftYaml, SkipsBadJobs) {
  const ReadTrace trace =
      read_text("weft_trace: 1\njobs:\n  - {id: a}\n  - 7\n  - {id: b, submit: 0, run_time: 5, gpus: ~}\n",
                {.bad_rows = BadRows::kSkip});
  EXPECT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.notes.skipped, 2U);
}

}  // namespace
}  // namespace weft::sim
