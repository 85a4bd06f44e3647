#include "base/allocation_count_testing.h"
#include "sim/generate/generator.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

TEST(JobGenerator, NeedsNoMoreMemoryForMoreJobs) {
  const auto generator = JobGenerator::make({.profile = "helios", .jobs = 1'000'000, .jobs_per_hour = 20'000});
  ASSERT_TRUE(generator);
  TraceJob job;
  for (int i = 0; i < 300'000; ++i) ASSERT_TRUE((*generator)->next(job));
  const uint64_t before = testing::allocation_count;
  for (int i = 0; i < 600'000; ++i) (void)(*generator)->next(job);
  // A longer burst than ever, or more of them at a time, may come now and then; nothing is allocated per job.
  EXPECT_LT(testing::allocation_count - before, 200U);
}

}  // namespace
}  // namespace weft::sim
