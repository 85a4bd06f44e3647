#include "base/bits.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

namespace weft {
namespace {

TEST(Bits, LowBitsCoversBothEnds) {
  EXPECT_EQ(low_bits(0), 0U);
  EXPECT_EQ(low_bits(1), 1U);
  EXPECT_EQ(low_bits(63), ~uint64_t{0} >> 1);
  EXPECT_EQ(low_bits(64), ~uint64_t{0});
}

TEST(Bits, ForEachBitGoesFromTheLowestUp) {
  std::vector<unsigned> seen;
  for_each_bit((uint64_t{1} << 63) | 0b1001, [&](unsigned b) { seen.push_back(b); });
  EXPECT_EQ(seen, (std::vector<unsigned>{0, 3, 63}));
}

std::set<size_t> members(const BitSet& set) {
  std::set<size_t> all;
  set.for_each([&](size_t i) { all.insert(i); });
  return all;
}

RC_GTEST_PROP(BitSet, AgreesWithAPlainSetAfterAnyWrites, ()) {
  const auto size = *rc::gen::inRange<size_t>(1, 200);
  BitSet set(size);
  std::set<size_t> twin;
  const auto writes = *rc::gen::container<std::vector<std::pair<size_t, int>>>(
      rc::gen::pair(rc::gen::inRange<size_t>(0, size), rc::gen::inRange(0, 4)));
  for (const auto& [i, what] : writes) {
    if (what == 0 || what == 3) {
      twin.erase(i);
    } else {
      twin.insert(i);
    }
    if (what == 0) set.reset(i);
    if (what == 1) set.set(i);
    if (what == 2) set.assign(i, 1);
    if (what == 3) set.assign(i, 0);
  }
  RC_ASSERT(members(set) == twin);
  RC_ASSERT(set.count() == twin.size());
  for (size_t i = 0; i < size; ++i) RC_ASSERT(set.test(i) == twin.contains(i));
}

RC_GTEST_PROP(BitSet, UnionAndIntersectionAreThoseOfPlainSets, ()) {
  const auto size = *rc::gen::inRange<size_t>(1, 200);
  const auto some = rc::gen::container<std::set<size_t>>(rc::gen::inRange<size_t>(0, size));
  const std::set<size_t> a = *some;
  const std::set<size_t> b = *some;
  BitSet left(size);
  BitSet right(size);
  for (const size_t i : a) left.set(i);
  for (const size_t i : b) right.set(i);
  BitSet both = left;
  both &= right;
  BitSet either = left;
  either |= right;
  for (size_t i = 0; i < size; ++i) {
    RC_ASSERT(both.test(i) == (a.contains(i) && b.contains(i)));
    RC_ASSERT(either.test(i) == (a.contains(i) || b.contains(i)));
  }
}

TEST(BitSet, KeepsBitsBeyondItsSizeZero) {
  BitSet set(70);
  set.fill();
  EXPECT_EQ(set.count(), 70U);
  EXPECT_EQ(set.word(1), low_bits(6));
  set.resize(65);
  EXPECT_EQ(set.count(), 65U);
  set.resize(130);
  EXPECT_EQ(set.count(), 65U);
  set.clear();
  EXPECT_EQ(set, BitSet(130));
}

TEST(BitSetDeathTest, RefusesSetsOfTwoSizes) {
  BitSet a(10);
  const BitSet b(11);
  EXPECT_DEATH(a &= b, "sets of one size");
}

}  // namespace
}  // namespace weft
