#include "sim/generate/trace_totals.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::sim {
namespace {

TEST(TraceTotals, CountsWhatGoesBy) {
  TraceTotals totals;
  EXPECT_EQ(totals.run_time_mean_s(), 0);
  EXPECT_EQ(totals.run_time_median_s(), 0);
  totals.add(
      {.submit = {5'000'000'000}, .run_time = seconds(10), .tasks = 2, .gpus_per_task = 4, .end = TraceEnd::kFailed});
  totals.add({.submit = {9'000'000'000}, .run_time = seconds(30), .gpu_milli = 500});
  totals.add({.submit = {8'000'000'000}, .run_time = seconds(20), .gpus_per_task = 1, .end = TraceEnd::kDone});
  EXPECT_EQ(totals.jobs(), 3U);
  EXPECT_EQ(totals.span(), seconds(4));
  EXPECT_EQ(totals.run_time_mean_s(), 20);
  EXPECT_EQ(totals.run_time_median_s(), 20);
  EXPECT_EQ(totals.run_time_max(), seconds(30));
  EXPECT_NEAR(totals.gpus_mean(), 9.5 / 3, 1e-12);
  EXPECT_NEAR(totals.gpu_seconds(), 80 + 15 + 20, 1e-9);
  EXPECT_EQ(totals.ended(TraceEnd::kFailed), 1U);
  EXPECT_NEAR(totals.gpu_seconds(TraceEnd::kFailed), 80, 1e-9);
  EXPECT_EQ(totals.ended(TraceEnd::kCancelled), 0U);
}

TEST(TraceTotals, AMedianIsNearEnoughAtEverySize) {
  for (double median = 1; median < 1e9; median *= 1.37) {
    TraceTotals totals;
    const auto whole = static_cast<int64_t>(median);
    totals.add({.run_time = seconds(1)});
    totals.add({.run_time = seconds(whole)});
    totals.add({.run_time = seconds(2'000'000'000)});
    const double error = std::fabs(totals.run_time_median_s() - static_cast<double>(whole));
    EXPECT_LE(error, whole <= 2047 ? 0 : static_cast<double>(whole) / 2048) << whole;
  }
}

}  // namespace
}  // namespace weft::sim
