#include "cli/progress.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::cli {
namespace {

using std::chrono::milliseconds;

TEST(Progress, ShowsABarAndWhatIsDoneAndTheTimeLeft) {
  EXPECT_EQ(progress_text({.done = 1, .total = 4, .unit = "runs", .elapsed = milliseconds(20'000)}, 80),
            "[==========..............................] 1/4 runs, 1m01s left");
  EXPECT_EQ(progress_text({.done = 250'000, .total = 1'000'000, .unit = "jobs", .elapsed = milliseconds(900)}, 80),
            "[==========..............................] 250,000/1,000,000 jobs")
      << "too early to tell how long it takes";
  EXPECT_EQ(progress_text({.done = 0, .total = 4, .unit = "runs", .elapsed = milliseconds(9000)}, 80),
            "[........................................] 0/4 runs");
}

TEST(Progress, FitsIntoTheTerminal) {
  const Progress progress{.done = 50, .total = 100, .unit = "runs", .elapsed = milliseconds(10'000)};
  EXPECT_EQ(progress_text(progress, 36), "[=====......] 50/100 runs, 11s left");
  for (size_t columns = 0; columns < 90; ++columns) {
    const std::string text = progress_text(progress, columns);
    EXPECT_LT(text.size(), std::max<size_t>(columns, 1)) << columns;
  }
  EXPECT_EQ(progress_text(progress, 12), "50/100 runs") << "what is done is said longest";
  EXPECT_EQ(progress_text(progress, 5), "");
}

TEST(Progress, NoTotalAndMoreThanAllAreNoBugs) {
  EXPECT_EQ(progress_text({.done = 0, .total = 0, .unit = "jobs"}, 20), "[........] 0/0 jobs");
  EXPECT_EQ(progress_text({.done = 9, .total = 4, .unit = "jobs", .elapsed = milliseconds(5000)}, 20),
            "[========] 9/4 jobs");
}

}  // namespace
}  // namespace weft::cli
