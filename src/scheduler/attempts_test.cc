#include "scheduler/attempts.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace weft {
namespace {

TEST(AttemptTable, FindsExactlyTheLiveAttempts) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    AttemptTable table;
    constexpr size_t kJobs = 30;
    table.resize(kJobs);
    std::map<std::pair<size_t, uint32_t>, AttemptId> twin;
    std::vector<uint32_t> next(kJobs, 1);
    for (int step = 0; step < 3000; ++step) {
      const size_t job = static_cast<size_t>(rng.below(kJobs));
      if (rng.below(100) < 52 || twin.empty()) {
        const uint32_t number = next[job]++;
        twin[{job, number}] = table.add(make_id<JobId>(job), number, -1, 1);
      } else {
        auto it = twin.lower_bound({job, 0});
        if (it == twin.end()) it = twin.begin();
        table.remove(it->second);
        twin.erase(it);
      }
      ASSERT_EQ(table.size(), twin.size());
    }
    for (size_t job = 0; job < kJobs; ++job) {
      AttemptId linked = table.first(make_id<JobId>(job));
      for (uint32_t number = 1; number < next[job]; ++number) {
        const auto found = twin.find({job, number});
        const AttemptId expected = found == twin.end() ? kNone<AttemptId> : found->second;
        ASSERT_EQ(table.find(make_id<JobId>(job), number), expected);
        if (!is_set(expected)) continue;
        ASSERT_EQ(linked, expected) << "a job's attempts are linked in order of their numbers";
        linked = table[linked].next;
      }
      ASSERT_EQ(linked, kNone<AttemptId>);
    }
  }
}

}  // namespace
}  // namespace weft
