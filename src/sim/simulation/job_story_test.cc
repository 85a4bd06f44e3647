#include "sim/simulation/job_story.h"

#include "sim/byte_source.h"
#include "sim/trace/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TraceJob job(const char* id, int64_t submit, int64_t run_time, int32_t gpus) {
  return {.id = id, .submit = Instant{} + seconds(submit), .run_time = seconds(run_time), .gpus_per_task = gpus};
}

JobStory story_of(const char* id, const std::vector<TraceJob>& jobs, const char* policy) {
  JobStory story(id);
  const std::string text = trace_csv(jobs);
  const auto reader = open_trace(bytes_of(text, "trace.csv"), {});
  EXPECT_TRUE(reader);
  const RunPlan plan{.cluster = *read_cluster("1x4"), .policy = policy};
  const auto outcome = simulate(**reader, plan, {.observers = {&story}});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return story;
}

TEST(JobStory, TellsEveryDecisionAndForWhomItWasStopped) {
  const JobStory story = story_of("long", {job("long", 0, 100, 4), job("short", 10, 5, 2)}, "srtf");
  EXPECT_EQ(story.text(), R"(job long, by seconds from the beginning of the trace:
    0  comes; expected to run 1m40s
    0  admitted
    0  held for it: 4 GPUs of n0
    0  starts (attempt 1)
   10  stopped for jobs that go before it; then places went to short
   10  waits: GPUs: 2 of 4 needed are free
   15  held for it: 4 GPUs of n0
   15  starts (attempt 2)
  105  ends: done
)");
}

TEST(JobStory, AReasonThatStaysIsToldOnceWithHowOftenItWasFoundAgain) {
  const std::vector<TraceJob> jobs{job("first", 0, 50, 3), job("waits", 10, 5, 4), job("a", 20, 5, 1),
                                   job("b", 30, 5, 1), job("c", 40, 5, 1)};
  const std::string text = story_of("waits", jobs, "default").text();
  EXPECT_THAT(text, HasSubstr("10  waits: GPUs: 1 of 4 needed are free"));
  EXPECT_THAT(text, HasSubstr("has waited on, found so"));
  EXPECT_THAT(text, HasSubstr("50  held for it: 4 GPUs of n0\n"));
  EXPECT_THAT(text, Not(HasSubstr("20  waits")));
}

TEST(JobStory, TimesAreAsExactAsTheyNeedToBe) {
  TraceJob uneven = job("uneven", 1, 1, 1);
  uneven.submit = uneven.submit + milliseconds(250);
  EXPECT_THAT(story_of("uneven", {uneven}, "fifo").text(), HasSubstr("1.250  comes; expected to run 1s\n"));
}

TEST(JobStory, AJobThatNeverCameHasNone) { EXPECT_FALSE(story_of("x", {job("y", 0, 1, 1)}, "fifo").is_begun()); }

TEST(JobStory, AJobThatWaitsForEverIsLeftWaiting) {
  JobStory story("huge");
  const std::string text = trace_csv(std::vector<TraceJob>{job("huge", 0, 1, 9), job("next", 5, 1, 1)});
  const auto reader = open_trace(bytes_of(text, "trace.csv"), {});
  const RunPlan plan{.cluster = *read_cluster("1x4"), .policy = "fjf", .skips_impossible = 1};
  ASSERT_TRUE(simulate(**reader, plan, {.observers = {&story}}));
  EXPECT_THAT(story.text(), HasSubstr("waits: can never run here"));
  EXPECT_THAT(story.text(), Not(HasSubstr("ends")));
}

}  // namespace
}  // namespace weft::sim
