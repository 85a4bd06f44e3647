#include "sim/generate/arrival_clock.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

constexpr double kHour = 3600;
constexpr double kDay = 24 * kHour;

/// By night a third of the day's, on Sundays half of the other days'.
constexpr Week week() {
  Week made;
  for (size_t hour = 0; hour < 24; ++hour) made.hours[hour] = hour < 8 ? 1 : 3;
  made.days = {2, 2, 2, 2, 2, 2, 1};
  return made;
}

TEST(ArrivalClock, GivesHoursAndDaysTheirWeights) {
  const ArrivalClock clock(week(), Weekday::kSaturday, 28 * kDay);
  EXPECT_NEAR(clock.weight(9 * kHour) / clock.weight(3 * kHour), 3, 1e-12);
  EXPECT_NEAR(clock.weight(9 * kHour) / clock.weight(kDay + 9 * kHour), 2, 1e-12) << "Saturday and Sunday";
  EXPECT_EQ(clock.weight(9 * kHour), clock.weight(14 * kDay + 9 * kHour));
}

TEST(ArrivalClock, HasTheMeanRateOverItsSpanWhateverPartOfAWeekThatIs) {
  for (const double span : {kHour / 2, 30 * kHour, 5 * kDay, 7 * kDay, 100 * kDay + kHour / 3}) {
    for (const Weekday day : {Weekday::kMonday, Weekday::kSunday}) {
      const ArrivalClock clock(week(), day, span);
      EXPECT_NEAR(clock.advance(0, span) / span, 1, 1e-9) << span;
    }
  }
}

TEST(ArrivalClock, AdvancesByPiecesAsAtOnce) {
  const ArrivalClock clock(week(), Weekday::kFriday, 20 * kDay);
  double at = 0;
  for (int i = 0; i < 1000; ++i) at = clock.advance(at, 1234);
  EXPECT_NEAR(at, clock.advance(0, 1'234'000), 1e-4);
  EXPECT_EQ(clock.advance(777, 0), 777);
}

TEST(ArrivalClock, TakesThreeTimesAsLongWhereAThirdComes) {
  const ArrivalClock clock(week(), Weekday::kMonday, 7 * kDay);
  const double by_night = clock.advance(kHour, 600) - kHour;
  const double by_day = clock.advance(10 * kHour, 600) - 10 * kHour;
  EXPECT_NEAR(by_night / by_day, 3, 1e-9);
}

}  // namespace
}  // namespace weft::sim
