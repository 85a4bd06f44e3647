#include "state/timeline.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <set>

namespace weft {
namespace {

TEST(Timeline, IsEmptyAtFirst) {
  Timeline timeline;
  timeline.resize(4);
  EXPECT_EQ(timeline.size(), 0U);
  EXPECT_EQ(timeline.first(), kNone<JobId>);
  EXPECT_EQ(timeline.lower_bound(Instant{0}), kNone<JobId>);
  EXPECT_FALSE(timeline.contains(JobId{2}));
  EXPECT_FALSE(timeline.contains(JobId{99})) << "an id without a row";
}

TEST(Timeline, EqualEndsAreInOrderOfJobs) {
  Timeline timeline;
  timeline.resize(5);
  for (const uint32_t job : {3U, 1U, 4U, 0U}) timeline.insert(JobId{job}, Instant{10});
  timeline.insert(JobId{2}, Instant{5});
  std::vector<uint32_t> order;
  for (JobId job = timeline.first(); is_set(job); job = timeline.next(job)) order.push_back(static_cast<uint32_t>(job));
  EXPECT_EQ(order, (std::vector<uint32_t>{2, 0, 1, 3, 4}));
  EXPECT_EQ(timeline.lower_bound(Instant{6}), JobId{0});
  EXPECT_EQ(timeline.lower_bound(Instant{11}), kNone<JobId>);
}

TEST(Timeline, AgreesWithASortedSetUnderRandomCalls) {
  constexpr uint32_t kJobs = 300;
  Rng rng(1);
  Timeline timeline;
  timeline.resize(kJobs);
  std::set<std::pair<Instant, uint32_t>> twin;
  for (int step = 0; step < 20'000; ++step) {
    const auto job = static_cast<uint32_t>(rng.below(kJobs));
    if (timeline.contains(JobId{job})) {
      ASSERT_EQ(twin.erase({timeline.end_of(JobId{job}), job}), 1U);
      timeline.erase(JobId{job});
    } else {
      const Instant end{rng.between(0, 50)};
      timeline.insert(JobId{job}, end);
      twin.emplace(end, job);
    }
    ASSERT_EQ(timeline.size(), twin.size());
    const Instant t{rng.between(-1, 51)};
    const auto found = twin.lower_bound({t, 0});
    ASSERT_EQ(timeline.lower_bound(t), found == twin.end() ? kNone<JobId> : JobId{found->second});
    if (step % 50 != 0) continue;
    JobId at = timeline.first();
    for (const auto& [end, expected] : twin) {
      ASSERT_EQ(at, JobId{expected});
      ASSERT_EQ(timeline.end_of(at), end);
      at = timeline.next(at);
    }
    ASSERT_EQ(at, kNone<JobId>);
  }
}

TEST(Timeline, ItsFormDependsOnItsJobsAndNotOnHowTheyCameIn) {
  constexpr uint32_t kJobs = 64;
  Rng rng(2);
  std::vector<uint32_t> order;
  for (uint32_t job = 0; job < kJobs; ++job) order.push_back(job);
  Timeline first;
  first.resize(kJobs);
  for (const uint32_t job : order) first.insert(JobId{job}, Instant{job % 7});
  for (int round = 0; round < 20; ++round) {
    rng.shuffle(order);
    Timeline other;
    other.resize(kJobs);
    for (const uint32_t job : order) other.insert(JobId{job}, Instant{job % 5});
    const auto kept = static_cast<size_t>(rng.below(kJobs));
    for (size_t i = kept; i < kJobs; ++i) other.erase(JobId{order[i]});
    Timeline direct;  // what is left, put in as if the others had never been
    direct.resize(kJobs);
    for (uint32_t job = 0; job < kJobs; ++job) {
      if (other.contains(JobId{job})) direct.insert(JobId{job}, Instant{job % 5});
    }
    EXPECT_TRUE(direct == other);
    for (size_t i = 0; i < kept; ++i) other.erase(JobId{order[i]});
    rng.shuffle(order);
    for (const uint32_t job : order) other.insert(JobId{job}, Instant{job % 7});
    EXPECT_TRUE(first == other);
  }
}

TEST(TimelineDeath, AJobIsInsertedOnceAndErasedOnce) {
  Timeline timeline;
  timeline.resize(2);
  timeline.insert(JobId{1}, Instant{1});
  EXPECT_DEATH(timeline.insert(JobId{1}, Instant{2}), "stands on the timeline once");
  EXPECT_DEATH(timeline.erase(JobId{0}), "only a job on the timeline can leave it");
  EXPECT_DEATH(timeline.insert(JobId{2}, Instant{2}), "made room");
}

}  // namespace
}  // namespace weft
