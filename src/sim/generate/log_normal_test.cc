#include "sim/generate/log_normal.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::sim {
namespace {

TEST(LogNormal, TheQuantileOfANormalLawIsTheInverseOfItsShare) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963985, 1e-8);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  for (double z = -7; z <= 7; z += 0.01) {
    const double found = normal_quantile(normal_share_below(z));
    ASSERT_NEAR(found, z, z < 6 ? 1e-8 * std::max(1.0, std::fabs(z)) : 1e-3) << z;
  }
}

/// The mean of a law from its quantiles.
double sampled_mean(const LogNormal& law) {
  constexpr int kParts = 1'000'000;
  double sum = 0;
  for (int i = 0; i < kParts; ++i) sum += law.quantile((i + 0.5) / kParts);
  return sum / kParts;
}

TEST(LogNormal, HasTheMeanThatIsToldOfIt) {
  for (const LogNormal::Shape shape :
       {LogNormal::Shape{.mu = 6, .sigma = 1.5, .max = 1e6}, LogNormal::Shape{.mu = 10, .sigma = 1.6, .max = 2e5}}) {
    const LogNormal law(shape);
    EXPECT_NEAR(sampled_mean(law) / law.mean(), 1, 1e-3);
  }
}

TEST(LogNormal, EndsAtItsMaximum) {
  const LogNormal law({.mu = 10, .sigma = 2, .max = 100'000});
  EXPECT_EQ(law.share_below(100'000), 1);
  EXPECT_EQ(law.share_below(1e9), 1);
  EXPECT_LE(law.quantile(1 - 0x1.0p-53), 100'000);
  EXPECT_GT(law.quantile(1 - 1e-6), 99'000);
  for (const double share : {0.001, 0.3, 0.5, 0.9, 0.999})
    EXPECT_NEAR(law.share_below(law.quantile(share)), share, 1e-8);
}

TEST(LogNormal, IsFoundByItsMean) {
  for (const double mean : {50.0, 5000.0, 400'000.0})
    EXPECT_NEAR(LogNormal::of_mean(mean, 1.7, 1e6).mean() / mean, 1, 1e-9) << mean;
}

TEST(LogNormal, WhatIsUnderWayIsWeightedByItsLength) {
  const LogNormal law({.mu = 7, .sigma = 1.2, .max = 1e5});
  // E[T; T < x] / E[T], from the quantiles.
  constexpr int kParts = 200'000;
  double below = 0;
  for (int i = 0; i < kParts; ++i) {
    const double time = law.quantile((i + 0.5) / kParts);
    below += time < 5000 ? time / kParts : 0;
  }
  EXPECT_NEAR(law.under_way().share_below(5000), below / law.mean(), 1e-3);
}

}  // namespace
}  // namespace weft::sim
