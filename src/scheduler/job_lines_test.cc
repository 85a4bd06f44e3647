#include "scheduler/job_lines.h"

#include "base/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace weft {
namespace {

using Key = std::pair<Instant, JobId>;

std::vector<JobId> jobs_in(const JobLines& lines, LineId line) {
  std::vector<JobId> jobs;
  for (EntryId e = lines[line].first; is_set(e); e = lines.next_in_line(e)) jobs.push_back(lines.job_of(e));
  return jobs;
}

TEST(JobLines, StandInOrderOfSubmissionHoweverTheyJoin) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    JobLines lines;
    lines.resize_jobs(200);
    const LineId line = lines.line_of_shape(make_id<ShapeId>(0), make_id<QueueId>(0), kWholeGang);
    std::set<Key> twin;
    std::vector<Instant> submitted(200);
    for (Instant& at : submitted) at = {rng.between(0, 50)};
    for (int step = 0; step < 600; ++step) {
      const JobId job = make_id<JobId>(static_cast<size_t>(rng.below(200)));
      const Key key{submitted[index(job)], job};
      if (const EntryId entry = lines.find(job, kWholeGang); is_set(entry)) {
        ASSERT_EQ(twin.erase(key), 1U);
        lines.leave(job, entry);
      } else {
        twin.insert(key);
        lines.join(job, {.rank = submitted[index(job)].ns}, line);
      }
      ASSERT_THAT(lines.audit(), testing::IsEmpty()) << "seed " << seed << " step " << step;
      ASSERT_EQ(lines[line].size, twin.size());
      if (!twin.empty()) {
        ASSERT_EQ(lines.head(line), twin.begin()->second);
      }
    }
    std::vector<JobId> expected;
    for (const Key& key : twin) expected.push_back(key.second);
    ASSERT_EQ(jobs_in(lines, line), expected);
  }
}

TEST(JobLines, AreAwakeFromTheFirstJobUntilRefusedAndIdleWhenEmpty) {
  JobLines lines;
  lines.resize_jobs(3);
  const LineId line = lines.line_of_shape(make_id<ShapeId>(4), make_id<QueueId>(0), kWholeGang);
  EXPECT_EQ(lines[line].state, Line::State::kIdle);
  lines.join(make_id<JobId>(1), {.rank = 10}, line);
  EXPECT_THAT(lines.awake(), testing::ElementsAre(line));
  Verdict verdict;
  verdict.reason = Reason::kGpus;
  verdict.wakes_on = wake_bit(WakeKind::kCapacityFreed);
  lines.sleep(line, verdict);
  EXPECT_THAT(lines.awake(), testing::IsEmpty());
  lines.join(make_id<JobId>(2), {.rank = 11}, line);
  EXPECT_EQ(lines[line].state, Line::State::kAsleep) << "who joins a line that was refused waits with it";
  EXPECT_THAT(lines.sleepers(verdict.wakes_on), testing::ElementsAre(line));
  lines.leave_all(make_id<JobId>(1));
  lines.leave_all(make_id<JobId>(2));
  EXPECT_EQ(lines[line].state, Line::State::kIdle);
  EXPECT_THAT(lines.sleepers(verdict.wakes_on), testing::IsEmpty());
}

TEST(JobLines, GiveUpAnOwnLineWhenItsJobLeavesAndReuseItOnlyAfterRecycling) {
  JobLines lines;
  lines.resize_jobs(2);
  const LineId shared = lines.line_of_shape(make_id<ShapeId>(0), make_id<QueueId>(0), kWholeGang);
  const LineId own = lines.open_own_line(make_id<JobId>(0), lines[shared]);
  lines.join(make_id<JobId>(0), {.rank = 1}, own);
  lines.leave_all(make_id<JobId>(0));
  const LineId other = lines.open_own_line(make_id<JobId>(1), lines[shared]);
  EXPECT_NE(other, own);
  lines.recycle();
  EXPECT_EQ(lines.open_own_line(make_id<JobId>(0), lines[shared]), own);
}

}  // namespace
}  // namespace weft
