#include "policy/order/gittins_index.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {

std::vector<Duration> past_of(std::initializer_list<int64_t> in_seconds) {
  std::vector<Duration> past;
  for (const int64_t each : in_seconds) past.push_back(seconds(each));
  return past;
}

/// By the definition, in one over nanoseconds.
double index_by_definition(const std::vector<Duration>& past, int64_t had, int64_t stretch) {
  double ending = 0, work = 0;
  for (const Duration served : past) {
    if (served.ns <= had) continue;
    ending += served.ns - had <= stretch ? 1 : 0;
    work += static_cast<double>(std::min(served.ns - had, stretch));
  }
  return work > 0 ? ending / work : 0;
}

std::vector<Duration> some_past(uint64_t seed, size_t count) {
  Rng rng(seed);
  std::vector<Duration> past;
  for (size_t i = 0; i < count; ++i) past.push_back(seconds(rng.between(1, 30) * rng.between(1, 30)));
  return past;
}

void expect_index(int64_t found, double expected) {
  EXPECT_NEAR(static_cast<double>(found) / 1e24, expected, 1e-9 * expected + 1e-23);
}

TEST(SortedNumbers, AreCountedAsByASearch) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Rng rng(5);
  for (const int bits : {3, 9, 12, 40, 63}) {
    std::vector<int64_t> numbers{0, 0, 7};
    for (int i = 0; i < 3000; ++i) numbers.push_back(static_cast<int64_t>(rng.next() >> rng.between(64 - bits, 63)));
    std::ranges::sort(numbers);
    const SortedNumbers sorted(numbers);
    std::vector<int64_t> asked{0, 1, 511, 512, 513, 1023, 1024, 1025, kMost - 1, kMost};
    for (const int64_t number : numbers)
      asked.insert(asked.end(), {std::max<int64_t>(number, 1) - 1, number, number + (number < kMost ? 1 : 0)});
    for (const int64_t number : asked) {
      const auto above = std::ranges::upper_bound(numbers, number);
      ASSERT_EQ(sorted.up_to(number), static_cast<size_t>(above - numbers.begin())) << number << ' ' << bits;
    }
  }
  EXPECT_EQ(SortedNumbers().up_to(5), 0U);
  EXPECT_EQ(SortedNumbers(std::vector{kMost}).up_to(kMost - 1), 0U);
  EXPECT_EQ(SortedNumbers(std::vector{kMost}).up_to(kMost), 1U);
}

TEST(FixedGittins, IsTheChanceToEndWithinTheStretchOverWhatItTakes) {
  const auto past = past_of({8, 9, 10, 1000, 2000});
  const FixedGittins gittins(past, seconds(10));
  expect_index(gittins.index(0), 3 / (8e9 + 9e9 + 10e9 + 2 * 10e9));
  EXPECT_EQ(gittins.index(seconds(20).ns), 0) << "nobody ended between 20 and 30";
  expect_index(gittins.index(seconds(995).ns), 1 / (5e9 + 10e9));
  EXPECT_EQ(gittins.index(seconds(2000).ns), 0) << "nobody had more";
  EXPECT_EQ(FixedGittins({}, seconds(1)).index(0), 0);
}

TEST(FixedGittins, IsAsByTheDefinitionWhateverThePast) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto past = some_past(seed, 50);
    for (const int64_t stretch : {1, 20, 300}) {
      const FixedGittins gittins(past, seconds(stretch));
      for (int64_t had = 0; had < 900; had += 13) {
        expect_index(gittins.index(seconds(had).ns), index_by_definition(past, seconds(had).ns, seconds(stretch).ns));
      }
    }
  }
}

/// The best of all stretches that end where somebody of the past ended.
TEST(BestGittins, IsTheBestOfAllStretchesAtEveryStep) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto past = some_past(seed, 80);
    const BestGittins gittins(past);
    std::vector<int64_t> steps{0};
    for (const Duration served : past) steps.push_back(served.ns);
    for (const int64_t step : steps) {
      double best = 0;
      for (const int64_t end : steps) {
        if (end > step) best = std::max(best, index_by_definition(past, step, end - step));
      }
      expect_index(gittins.index(step), best);
      const int64_t end = gittins.stretch_end(step);
      EXPECT_EQ(end < 0, best == 0);
      if (end >= 0) expect_index(gittins.index(step), index_by_definition(past, step, end - step));
    }
  }
}

TEST(BestGittins, StaysAsItIsFromStepToStep) {
  Rng rng(9);
  std::vector<Duration> past;  // nanoseconds to days
  for (int i = 0; i < 500; ++i) past.push_back(Duration{1 + static_cast<int64_t>(rng.next() >> rng.between(14, 62))});
  std::ranges::sort(past);
  past.erase(std::unique(past.begin(), past.end()), past.end());
  const BestGittins gittins(past);
  for (size_t i = 0; i + 1 < past.size(); ++i) {
    const int64_t step = past[i].ns, next = past[i + 1].ns;
    for (const int64_t had : {step + 1, (step + next) / 2, next - 1}) {
      if (had <= step || had >= next) continue;
      EXPECT_EQ(gittins.index(had), gittins.index(step)) << had;
      EXPECT_EQ(gittins.stretch_end(had), gittins.stretch_end(step)) << had;
    }
    EXPECT_NE(gittins.stretch_end(step), step);
  }
  EXPECT_EQ(gittins.index(std::numeric_limits<int64_t>::max()), 0);
  EXPECT_EQ(gittins.index(0), gittins.index(past.front().ns - 1));
}

TEST(BestGittins, DoesNotFallBeforeItsStretchIsOver) {
  const auto past = some_past(3, 200);
  const BestGittins gittins(past);
  for (const Duration served : past) {
    const int64_t end = gittins.stretch_end(served.ns);
    for (int64_t had = served.ns; had < end; had += seconds(1).ns) {
      EXPECT_GE(gittins.index(had), gittins.index(served.ns));
    }
  }
}

TEST(BestGittins, ALongPastIsGatheredIntoStepsThatKeepItsMean) {
  std::vector<Duration> past;
  for (int64_t i = 1; i <= 100'000; ++i) past.push_back(milliseconds(i * i));
  const BestGittins gittins(past);
  // Jobs of squares have a falling chance to end: the best stretch from 0 on is the first step.
  const int64_t first = gittins.stretch_end(0);
  EXPECT_GT(first, milliseconds(10'000).ns);
  EXPECT_LT(first, milliseconds(195 * 195).ns);
  size_t steps = 0;
  for (int64_t at = 0; gittins.stretch_end(at) > at; at = gittins.stretch_end(at)) ++steps;
  EXPECT_LE(steps, BestGittins::kStepsMax);
  EXPECT_GT(steps, BestGittins::kStepsMax / 8) << "the chance falls for the first half of the jobs, then it rises";
}

TEST(BestGittins, AnEmptyPastRanksAllAlike) {
  const BestGittins gittins({});
  EXPECT_EQ(gittins.index(0), gittins.index(seconds(1000).ns));
  EXPECT_LT(gittins.stretch_end(0), 0);
}

}  // namespace
}  // namespace weft
