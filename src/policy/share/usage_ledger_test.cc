#include "policy/share/usage_ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace weft {
namespace {

constexpr Duration kWeek = hours(168);

constexpr Instant at(Duration since_the_start) { return Instant{0} + since_the_start; }

double in_gpu_hours(int64_t usage) { return static_cast<double>(usage) / static_cast<double>(kUsageGpuHour); }

UsageLedger ledger_of(size_t rows, Duration half_life = kWeek) {
  UsageLedger ledger(half_life);
  ledger.resize(rows);
  return ledger;
}

TEST(UsageLedger, HalfIsForgottenInAHalfLife) {
  UsageLedger ledger = ledger_of(2);
  ledger.add(0, 100 * kUsageGpuHour, at({0}));
  EXPECT_EQ(ledger.usage(0, at({0})), 100 * kUsageGpuHour);
  EXPECT_EQ(ledger.usage(0, at(kWeek)), 50 * kUsageGpuHour);
  EXPECT_EQ(ledger.usage(0, at(kWeek * 2)), 25 * kUsageGpuHour);
  EXPECT_EQ(ledger.usage(1, at(kWeek)), 0);
}

TEST(UsageLedger, WhatIsHeldCountsWhileItIsHeld) {
  UsageLedger ledger = ledger_of(1);
  ledger.start(0, {.gpu_units = kGpuUnits}, at({0}));
  // Of the 168 GPU-hours of a week (h / ln 2) / 2 = 121.19 are not forgotten at its end.
  EXPECT_NEAR(in_gpu_hours(ledger.usage(0, at(kWeek))), 121.186383, 1e-6);
  // A GPU held for ever comes to h / ln 2.
  EXPECT_NEAR(in_gpu_hours(ledger.usage(0, at(kWeek * 100))), 242.372767, 1e-6);
  ledger.stop(0, {.gpu_units = kGpuUnits}, at(kWeek));
  EXPECT_NEAR(in_gpu_hours(ledger.usage(0, at(kWeek * 2))), 121.186383 / 2, 1e-6);
}

TEST(UsageLedger, ModelsAndPartsOfDevicesCountByTheirWeight) {
  UsageLedger ledger = ledger_of(3, kEndless);
  ledger.start(0, {.gpu_units = kGpuUnits, .weight_milli = 2500}, at({0}));
  ledger.start(1, {.gpu_units = 3 * kGpuUnits / 7}, at({0}));  // a MIG instance of three sevenths
  ledger.start(2, {.gpu_units = 8 * kGpuUnits, .weight_milli = 0}, at({0}));
  EXPECT_EQ(ledger.usage(0, at(hours(2))), 5 * kUsageGpuHour);
  EXPECT_EQ(ledger.usage(1, at(hours(7))), 3 * kUsageGpuHour);
  EXPECT_EQ(ledger.usage(2, at(hours(7))), 0);
}

TEST(UsageLedger, WithoutAHalfLifeNothingIsForgotten) {
  UsageLedger ledger = ledger_of(1, kEndless);
  ledger.add(0, 5 * kUsageGpuHour, at({0}));
  ledger.start(0, {.gpu_units = 2 * kGpuUnits}, at(hours(1)));
  ledger.stop(0, {.gpu_units = 2 * kGpuUnits}, at(hours(4)));
  EXPECT_EQ(ledger.usage(0, at(hours(100'000))), 11 * kUsageGpuHour);
}

TEST(UsageLedger, TheOrderOfStartsAtOneMomentDoesNotMatter) {
  const GpuUse small{.gpu_units = 700, .weight_milli = 333}, large{.gpu_units = 8 * kGpuUnits, .weight_milli = 1700};
  UsageLedger ledger = ledger_of(2);
  for (size_t row = 0; row < 2; ++row) {
    ledger.start(row, row == 0 ? small : large, at(hours(1)));
    ledger.start(row, row == 0 ? large : small, at(hours(1)));
    ledger.stop(row, row == 0 ? large : small, at(hours(9)));
    ledger.stop(row, row == 0 ? small : large, at(hours(9)));
  }
  EXPECT_EQ(ledger.usage(0, at(hours(20))), ledger.usage(1, at(hours(20))));
  EXPECT_GT(ledger.usage(0, at(hours(20))), 0);
}

TEST(UsageLedger, IsHeldAtItsMost) {
  UsageLedger ledger = ledger_of(1, kEndless);
  ledger.add(0, kUsageMax, at({0}));
  ledger.add(0, kUsageMax, at({0}));
  EXPECT_EQ(ledger.usage(0, at({0})), kUsageMax);
  ledger.start(0, {.gpu_units = 80'000 * kGpuUnits, .weight_milli = 10'000}, at({0}));
  EXPECT_EQ(ledger.usage(0, at(hours(100'000))), kUsageMax);
}

TEST(UsageLedger, WhatStopsMustHaveStarted) {
  UsageLedger ledger = ledger_of(1);
  EXPECT_DEATH(ledger.stop(0, {.gpu_units = 1}, at({0})), "what stops has been started");
}

/// Against the definition, in floating point: jobs that begin and end at any time, one of them at a time.
RC_GTEST_PROP(UsageLedger, IsTheIntegralOverThePast, ()) {
  const auto half_life_s = *rc::gen::inRange<int64_t>(1, 1'000'000);
  UsageLedger ledger = ledger_of(1, seconds(half_life_s));
  const double mean_life = static_cast<double>(half_life_s) / std::numbers::ln2;
  int64_t now_s = 0;
  double expected = 0;
  for (int job = *rc::gen::inRange(0, 8); job > 0; --job) {
    const GpuUse use{.gpu_units = *rc::gen::inRange<int64_t>(1, 100) * 1000,
                     .weight_milli = *rc::gen::inRange<int64_t>(1, 4) * 500};
    const auto run_s = *rc::gen::inRange<int64_t>(0, 1'000'000);
    const auto pause_s = *rc::gen::inRange<int64_t>(0, 1'000'000);
    ledger.start(0, use, at(seconds(now_s)));
    ledger.add(0, 0, at(seconds(now_s + run_s / 3)));  // a look in between changes nothing
    ledger.stop(0, use, at(seconds(now_s + run_s)));
    now_s += run_s + pause_s;
    const double gpus = static_cast<double>(use.gpu_units * use.weight_milli) / (kGpuUnits * 1000.0);
    const auto left_after = [&](int64_t s) {
      return std::exp2(-static_cast<double>(s) / static_cast<double>(half_life_s));
    };
    expected =
        expected * left_after(run_s + pause_s) + gpus * mean_life * (1 - left_after(run_s)) * left_after(pause_s);
  }
  const double found = static_cast<double>(ledger.usage(0, at(seconds(now_s)))) / kUsageGpuSecond;
  RC_ASSERT(std::abs(found - expected) < 1e-4 + expected * 1e-11);
}

TEST(SlurmLedger, DecaysOnceAPeriodAndAddsWhatRanInIt) {
  SlurmLedger ledger(7 * 86400);
  ledger.resize(2);
  ledger.add(0, 545'000, 1);  // 545 billed seconds, less the decay of one second
  const auto billed = [&](size_t row) { return static_cast<double>(ledger.usage(row)) / 1e6; };
  EXPECT_NEAR(billed(0), 545 * (1 - 0.693 / 604800), 1e-6);
  ledger.decay(300);
  EXPECT_NEAR(billed(0), 544.812064, 1e-6);
  ledger.add(0, 144'000, 300);  // 300 x 0.99965631 x 144
  EXPECT_NEAR(billed(0), 544.812064 + 43185.152544, 5e-6);
  EXPECT_EQ(ledger.usage(1), 0);
}

TEST(SlurmLedger, FewUsesAreForgottenToo) {
  SlurmLedger ledger(7 * 86400);
  ledger.resize(1);
  ledger.add(0, 1000, 1);
  for (int period = 0; period < 2016; ++period) ledger.decay(300);
  EXPECT_NEAR(static_cast<double>(ledger.usage(0)) / 1e6, 0.500073, 0.002);
}

}  // namespace
}  // namespace weft
