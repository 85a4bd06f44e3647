#include "sim/side_by_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace weft::sim {
namespace {

TEST(SideBySide, EachIsDoneOnceAndReportedWhateverTheThreads) {
  for (const size_t threads : {1U, 3U, 100U}) {
    std::vector<std::atomic<int>> calls(50);
    size_t reported = 0;
    const auto work = [&](size_t i) {
      ++calls[i];
      return true;
    };
    const size_t failed = run_side_by_side(calls.size(), threads, work, [&](size_t done, size_t count) {
      EXPECT_EQ(done, ++reported);
      EXPECT_EQ(count, calls.size());
    });
    EXPECT_EQ(failed, calls.size());
    EXPECT_EQ(reported, calls.size());
    for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
  }
  EXPECT_EQ(run_side_by_side(0, 4, [](size_t) { return false; }, [](size_t, size_t) {}), 0U);
}

TEST(SideBySide, TheFirstThatFailsIsNamedAndNoneBehindItIsBegun) {
  for (const size_t threads : {1U, 4U}) {
    std::vector<std::atomic<int>> calls(1000);
    const auto work = [&](size_t i) {
      ++calls[i];
      return i != 10 && i != 12;
    };
    EXPECT_EQ(run_side_by_side(calls.size(), threads, work, [](size_t, size_t) {}), 10U);
    for (size_t i = 0; i <= 10; ++i) EXPECT_EQ(calls[i], 1);
    if (threads == 1) {
      EXPECT_EQ(calls[11], 0);
    }
  }
}

}  // namespace
}  // namespace weft::sim
