#include "policy/share/decay.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace weft {
namespace {

constexpr Duration kWeek = hours(168);

double as_double(Decay decay) { return static_cast<double>(decay.factor) / static_cast<double>(Decay::kOne); }

TEST(HalfLifeDecay, HalvesInEachHalfLife) {
  EXPECT_EQ(half_life_decay({0}, kWeek).factor, Decay::kOne);
  EXPECT_EQ(half_life_decay(kWeek, kWeek).factor, Decay::kOne / 2);
  EXPECT_EQ(half_life_decay(kWeek * 10, kWeek).factor, Decay::kOne / 1024);
  EXPECT_EQ(half_life_decay(kWeek * 62, kWeek).factor, 1);
  EXPECT_EQ(half_life_decay(kWeek * 63, kWeek).factor, 0);
  EXPECT_EQ(half_life_decay(kEndless, {1}).factor, 0);
}

TEST(HalfLifeDecay, IsTheSameToTheLastDigitEverywhere) {
  EXPECT_EQ(half_life_decay(hours(84), kWeek).factor, 3'260'954'456'333'195'553);  // 2^62 / sqrt(2)
  // 2^62 x 2^(-1/604800) is ...581'124.76; each of the steps rounds down
  EXPECT_EQ(half_life_decay(seconds(1), kWeek).factor, 4'611'680'733'084'581'084);
}

RC_GTEST_PROP(HalfLifeDecay, IsTwoToTheMinusAge, ()) {
  const Duration half_life{*rc::gen::inRange<int64_t>(1, kWeek.ns * 100)};
  const Duration elapsed{*rc::gen::inRange<int64_t>(0, kWeek.ns * 1000)};
  const double age = static_cast<double>(elapsed.ns) / static_cast<double>(half_life.ns);
  RC_ASSERT(std::abs(as_double(half_life_decay(elapsed, half_life)) - std::exp2(-age)) < 1e-13);
}

TEST(HalfLifeDecay, NothingDecaysWithoutAHalfLife) {
  EXPECT_EQ(half_life_decay(kWeek * 1000, kEndless).factor, Decay::kOne);
}

TEST(SlurmDecay, IsSlightlyMoreThanHalfAfterAHalfLife) {
  const int64_t week_s = 7 * 86400;
  EXPECT_EQ(slurm_decay(0, week_s).factor, Decay::kOne);
  EXPECT_NEAR(as_double(slurm_decay(1, week_s)), 1 - 0.693 / 604800, 1e-15);
  EXPECT_NEAR(as_double(slurm_decay(300, week_s)), 0.99965630887839, 1e-14);
  EXPECT_NEAR(as_double(slurm_decay(week_s, week_s)), 0.50007339715081, 1e-13);
}

TEST(SlurmDecay, ManyPeriodsAreAsOneLongOne) {
  const int64_t week_s = 7 * 86400;
  double product = 1;
  for (int period = 0; period < 2016; ++period) product *= as_double(slurm_decay(300, week_s));
  EXPECT_NEAR(product, as_double(slurm_decay(2016 * 300, week_s)), 1e-12);
}

TEST(Decay, RoundsToTheNearest) {
  EXPECT_EQ(Decay{Decay::kOne}.of(7), 7);
  EXPECT_EQ(Decay{Decay::kOne / 2}.of(7), 4);
  EXPECT_EQ(Decay{Decay::kOne / 4}.of(7), 2);
  EXPECT_EQ(Decay{Decay::kOne / 4}.of(5), 1);
  EXPECT_EQ(Decay{Decay::kOne - 1}.of(Decay::kOne), Decay::kOne - 1);
}

}  // namespace
}  // namespace weft
