// The small headers of base: ids, units, interner, generator and hash.

#include "base/check.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/interner.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

TEST(Ids, AreIndicesWithAnUnsetValue) {
  EXPECT_EQ(index(make_id<NodeId>(7)), 7U);
  EXPECT_TRUE(is_set(make_id<JobId>(0)));
  EXPECT_FALSE(is_set(kNone<JobId>));
  static_assert(!std::is_convertible_v<NodeId, JobId>);
}

TEST(Units, SpansAndPointsOfTimeAddUp) {
  EXPECT_EQ(hours(1), minutes(60));
  EXPECT_EQ(minutes(1), milliseconds(60'000));
  EXPECT_EQ(Instant{5} + Duration{3} - Instant{2}, Duration{6});
  EXPECT_LT(seconds(-1), Duration{0});
  EXPECT_DOUBLE_EQ(milliseconds(1500).seconds(), 1.5);
  EXPECT_EQ(kGpuUnits % 1000, 0);
  EXPECT_EQ(kGpuUnits % 7, 0);
}

TEST(Units, UnboundedValuesLeaveRoomForSums) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_LE(kUnlimited, kMax / 4);
  EXPECT_GT((kNever + kEndless).ns, kNever.ns);  // an endless job that begins "never" still ends later than that
}

TEST(Interner, GivesEachTextOneIdInOrderOfAppearance) {
  Interner<LabelId> labels;
  EXPECT_EQ(index(labels.intern("a=1")), 0U);
  EXPECT_EQ(index(labels.intern("b=2")), 1U);
  EXPECT_EQ(index(labels.intern("a=1")), 0U);
  EXPECT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels.find("b=2"), make_id<LabelId>(1));
  EXPECT_EQ(labels.find("c=3"), kNone<LabelId>);
  EXPECT_EQ(labels.text(make_id<LabelId>(1)), "b=2");
}

TEST(Interner, KeepsItsTextsWhenItGrowsAndMoves) {
  Interner<NodeId> nodes;
  for (int i = 0; i < 1000; ++i) nodes.intern("n" + std::to_string(i));
  const Interner<NodeId> moved = std::move(nodes);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "n" + std::to_string(i);
    EXPECT_EQ(moved.text(moved.find(name)), name);
  }
}

TEST(InternerDeathTest, RefusesAnIdOfAnother) {
  const Interner<NodeId> nodes;
  EXPECT_DEATH(nodes.text(make_id<NodeId>(0)), "comes from this interner");
}

// Seeds stand in scenario files, traces and recorded results: these sequences must never change.
TEST(Rng, GivesThisSequenceForEver) {
  Rng rng(42);
  const std::vector<uint64_t> got{rng.next(), rng.next(), rng.next()};
  EXPECT_EQ(got, (std::vector<uint64_t>{0xf4abd143feb24055ULL, 0x7c816738c12903b2ULL, 0x113e5dec6f8fd8a8ULL}));
  Rng small(1);
  std::vector<uint64_t> dice;
  for (int i = 0; i < 12; ++i) dice.push_back(small.below(6));
  EXPECT_EQ(dice, (std::vector<uint64_t>{0, 4, 5, 5, 2, 5, 1, 1, 1, 2, 1, 2}));
}

TEST(Rng, ShufflesLikeThisForEver) {
  std::vector<int> cards(8);
  std::iota(cards.begin(), cards.end(), 0);
  Rng(7).shuffle(cards);
  EXPECT_EQ(cards, (std::vector<int>{5, 4, 3, 2, 0, 1, 7, 6}));
}

RC_GTEST_PROP(Rng, KeepsToItsBounds, (uint64_t seed)) {
  Rng rng(seed);
  const auto low = *rc::gen::arbitrary<int64_t>();
  const auto high = *rc::gen::inRange<int64_t>(low, std::numeric_limits<int64_t>::max());
  const auto bound = *rc::gen::positive<uint64_t>();
  for (int i = 0; i < 100; ++i) {
    const int64_t between = rng.between(low, high);
    RC_ASSERT(between >= low && between <= high);
    RC_ASSERT(rng.below(bound) < bound);
    const double unit = rng.unit();
    RC_ASSERT(unit >= 0 && unit < 1);
  }
}

TEST(Rng, TakesTheWholeRangeOfAnInteger) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  Rng whole(5);
  Rng same(5);
  EXPECT_EQ(whole.between(kLow, kHigh), static_cast<int64_t>(same.next() + (uint64_t{1} << 63)));
  EXPECT_EQ(whole.between(kHigh, kHigh), kHigh);
  EXPECT_GE(whole.between(kLow, kHigh - 1), kLow);
}

TEST(Rng, HitsEveryFaceOfADieAboutEquallyOften) {
  Rng rng(3);
  std::vector<int> hits(6, 0);
  for (int i = 0; i < 60'000; ++i) ++hits[static_cast<size_t>(rng.below(6))];
  for (const int n : hits) EXPECT_NEAR(n, 10'000, 400);
}

TEST(RunningHash, GivesTheseValuesForEver) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(RunningHash().value(), 0x57656674ULL);
  RunningHash hash;
  hash.add(uint64_t{1});
  hash.add(std::string_view("gpu"));
  EXPECT_EQ(hash.value(), 0x7367658044283558ULL);
}

TEST(RunningHash, DependsOnOrderAndOnWhereATextEnds) {
  const auto of = [](auto... parts) {
    RunningHash hash;
    (hash.add(parts), ...);
    return hash.value();
  };
  using Text = std::string_view;
  EXPECT_NE(of(uint64_t{1}, uint64_t{2}), of(uint64_t{2}, uint64_t{1}));
  EXPECT_NE(of(Text("ab"), Text("c")), of(Text("a"), Text("bc")));
  EXPECT_NE(of(Text("")), of());
}

TEST(Result, CarriesAValueOrAnErrorWithItsCode) {
  const auto half = [](int n) -> Result<int> {
    if (n % 2 != 0) return fail(ErrorCode::kInvalidInput, "it is odd");
    return n / 2;
  };
  EXPECT_EQ(half(4), 2);
  EXPECT_EQ(half(3).error(), (Error{ErrorCode::kInvalidInput, "it is odd"}));
}

TEST(CheckDeathTest, NamesTheConditionThePlaceAndTheReason) {
  const int two = 2;
  EXPECT_DEATH(WEFT_CHECK(two == 3, "numbers are what they are"),
               "base_test.cc:[0-9]+: check failed: two == 3: numbers are what they are");
}

}  // namespace
}  // namespace weft
