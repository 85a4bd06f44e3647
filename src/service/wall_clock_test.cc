#include "service/wall_clock.h"

#include <gtest/gtest.h>

namespace weft::service {
namespace {

constexpr Instant after_seconds(int64_t count) { return Instant{} + seconds(count); }

TEST(WallClock, SmallCorrectionsChangeNoMomentThatWasTold) {
  WallClock clock(after_seconds(0), 1'000'000);
  EXPECT_EQ(clock.at(after_seconds(5), after_seconds(10), 1'010'000), 1'005'000);
  EXPECT_EQ(clock.at(after_seconds(5), after_seconds(20), 1'020'900), 1'005'000);
  EXPECT_EQ(clock.at(after_seconds(5), after_seconds(20), 1'019'100), 1'005'000);
}

TEST(WallClock, MomentsMoveWithAClockThatJumps) {
  WallClock clock(after_seconds(0), 1'000'000);
  EXPECT_EQ(clock.at(after_seconds(5), after_seconds(10), 4'610'000), 4'605'000) << "an hour on";
  EXPECT_EQ(clock.at(after_seconds(5), after_seconds(20), 20'000), 5'000) << "and back to the start";
}

}  // namespace
}  // namespace weft::service
