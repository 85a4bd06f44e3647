#include "sim/report/run_csv.h"

#include "sim/report/run_testing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::sim {
namespace {

std::string whole_csv(const RunOutcome& outcome) {
  std::string text;
  EXPECT_TRUE(write_jobs_csv(outcome, [&](std::string_view part) {
    text += part;
    return Result<void>();
  }));
  return text;
}

TEST(RunCsv, OneRowPerJobAndNothingWhereNothingHappened) {
  EXPECT_EQ(whole_csv(small_outcome()),
            "job_id,num_gpu,submit_time,start_time,end_time,executed_time,jct,pending_time,preempts\n"
            "a,2,0,0,100,100,100,0,0\n"
            "b,2,0,0,80,60,80,20,1\n"
            "c,4,10,100,120,20,110,90,0\n"
            "d,1,50,,,0,,,0\n");
}

TEST(RunCsv, AJobThatHadNotEndedHasAStartAlone) {
  RunOutcome outcome = small_outcome();
  outcome.jobs = {outcome.jobs[2]};
  outcome.jobs[0].end = kNever;
  outcome.jobs[0].id = "x,\"y\"";
  EXPECT_NE(whole_csv(outcome).find("\n\"x,\"\"y\"\"\",4,10,100,,20,,,0\n"), std::string::npos);
}

TEST(RunCsv, SecondsAreExact) {
  EXPECT_EQ(seconds_text(seconds(0)), "0");
  EXPECT_EQ(seconds_text(seconds(8'171'961)), "8171961");
  EXPECT_EQ(seconds_text(milliseconds(1500)), "1.5");
  EXPECT_EQ(seconds_text({1'000'000'001}), "1.000000001");
  EXPECT_EQ(seconds_text({512'607'857'650'000}), "512607.85765");
  EXPECT_EQ(seconds_text(milliseconds(-500)), "-0.5");
  EXPECT_EQ(seconds_text(milliseconds(-61'250)), "-61.25");
  EXPECT_EQ(seconds_text(seconds(-3)), "-3");
}

TEST(RunCsv, ManyJobsComeInParts) {
  RunOutcome outcome = small_outcome();
  const JobOutcome job = outcome.jobs[1];
  outcome.jobs.assign(20'000, job);
  size_t parts = 0, largest = 0, bytes = 0;
  ASSERT_TRUE(write_jobs_csv(outcome, [&](std::string_view part) {
    ++parts;
    largest = std::max(largest, part.size());
    bytes += part.size();
    return Result<void>();
  }));
  EXPECT_GT(parts, 5U);
  EXPECT_LT(largest, 70'000U);
  EXPECT_EQ(bytes, whole_csv(outcome).size());
}

TEST(RunCsv, TheFirstFailureOfTheSinkIsTheLastCall) {
  RunOutcome outcome = small_outcome();
  const JobOutcome job = outcome.jobs[1];
  outcome.jobs.assign(20'000, job);
  int calls = 0;
  const Result<void> written = write_jobs_csv(outcome, [&](std::string_view) -> Result<void> {
    ++calls;
    return fail(ErrorCode::kUnavailable, "the disk is full");
  });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "the disk is full");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace weft::sim
