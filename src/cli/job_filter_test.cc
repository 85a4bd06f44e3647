#include "cli/job_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The numbers of the jobs that are left of 0 (done, ann), 1 (failed, bob), 2 (running, ann) and 3 (pending, bob).
std::vector<int64_t> left_by(const QueueOptions& options) {
  std::vector<service::JobInfo> jobs(4);
  constexpr std::string_view kStates[] = {"done", "failed", "running", "pending"};
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].id = static_cast<int64_t>(i);
    jobs[i].state = kStates[i];
    jobs[i].user = i % 2 == 0 ? "ann" : "bob";
  }
  const auto filter = read_filter(options);
  EXPECT_TRUE(filter) << filter.error().message;
  if (filter) filter->apply(jobs);
  std::vector<int64_t> left;
  for (const service::JobInfo& job : jobs) left.push_back(job.id);
  return left;
}

TEST(JobFilter, KeepsWhatIsOfAStateAndAUserThatWereNamed) {
  EXPECT_THAT(left_by({}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(left_by({.state = "pending,done"}), ElementsAre(0, 3));
  EXPECT_THAT(left_by({.user = "ann"}), ElementsAre(0, 2));
  EXPECT_THAT(left_by({.state = "running", .user = "bob"}), ElementsAre());
}

TEST(JobFilter, KeepsTheLastOnes) {
  EXPECT_THAT(left_by({.last = "3"}), ElementsAre(1, 2, 3));
  EXPECT_THAT(left_by({.last = "9"}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(left_by({.user = "ann", .last = "1"}), ElementsAre(2)) << "of those that were asked for";
}

TEST(JobFilter, KnowsWhetherJobsThatHaveEndedAreWanted) {
  EXPECT_FALSE(read_filter({})->wants_ended());
  EXPECT_FALSE(read_filter({.state = "pending,releasing"})->wants_ended());
  for (const char* state : {"done", "failed", "cancelled", "rejected", "running,failed"})
    EXPECT_TRUE(read_filter({.state = state})->wants_ended()) << state;
}

TEST(JobFilter, NamesTheOptionThatIsWrong) {
  EXPECT_THAT(read_filter({.state = "runing"}).error().message,
              HasSubstr("--state: there is no state 'runing'; expected one of pending, held, starting"));
  EXPECT_THAT(read_filter({.state = ""}).error().message, HasSubstr("--state: "));
  EXPECT_THAT(read_filter({.last = "0"}).error().message, HasSubstr("--last: "));
}

}  // namespace
}  // namespace weft::cli
