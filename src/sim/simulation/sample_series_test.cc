#include "sim/simulation/sample_series.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

TEST(SampleSeries, SumsEverySampleAlsoThoseThatItDrops) {
  SampleSeries series;
  double used = 0;
  double running = 0;
  constexpr int64_t kSamples = 20'000;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t at = i * i;  // the later the rarer
    const auto jobs = static_cast<uint32_t>(i % 97);
    series.add({.at = Instant{} + seconds(at), .used_gpu_milli = 1000 * (i % 13), .running = jobs, .pending = 1});
    if (i + 1 == kSamples) break;
    const auto lasted = static_cast<double>((i + 1) * (i + 1) - at);
    used += lasted * static_cast<double>(i % 13);
    running += lasted * jobs;
  }
  const RunIntegrals& sums = series.integrals();
  constexpr auto kEnd = static_cast<double>((kSamples - 1) * (kSamples - 1));
  EXPECT_DOUBLE_EQ(sums.seconds, kEnd);
  EXPECT_DOUBLE_EQ(sums.pending_seconds, kEnd);
  EXPECT_NEAR(sums.used_gpu_seconds / used, 1, 1e-12);
  EXPECT_NEAR(sums.running_seconds / running, 1, 1e-12);
  EXPECT_LT(series.take().size(), SampleSeries::kSamplesMax);
}

}  // namespace
}  // namespace weft::sim
