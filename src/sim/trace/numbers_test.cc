#include "sim/trace/numbers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace weft::sim {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t decimal(std::string_view text, int64_t unit = kSecond) {
  int64_t value = -77;
  EXPECT_EQ(read_decimal(text, unit, value), NumberFault::kNone) << text;
  return value;
}

NumberFault fault_of(std::string_view text) {
  int64_t value = 0;
  return read_decimal(text, kSecond, value);
}

TEST(Decimals, AreExactToTheNanosecond) {
  EXPECT_EQ(decimal("0"), 0);
  EXPECT_EQ(decimal("66.0"), 66 * kSecond);
  EXPECT_EQ(decimal("-1.5"), -1'500'000'000);
  EXPECT_EQ(decimal("0.000000001"), 1);
  EXPECT_EQ(decimal("12.3456789012345"), 12'345'678'901);
  EXPECT_EQ(decimal("2000000000"), kTraceTimeMax);
  EXPECT_EQ(decimal("007"), 7 * kSecond);
  EXPECT_EQ(decimal("0.5", 1'000'000), 500'000);
  EXPECT_EQ(decimal("1456000", 1'000'000), 1'456'000'000'000);
  EXPECT_EQ(decimal("1.5e3"), 1500 * kSecond);
  EXPECT_EQ(decimal("2E-3"), 2'000'000);
}

TEST(Decimals, RefuseWhatIsNoNumberOrTooLarge) {
  for (const std::string_view text : {"",    "-",   ".",    ".5",   "5.", "1.x", "+1",  " 1",    "1 ",  "NaN",
                                      "nan", "inf", "-inf", "0x10", "1e", "e5",  "1,5", "1.5.2", "--1", "1e5e5"})
    EXPECT_EQ(fault_of(text), NumberFault::kNoNumber) << text;
  for (const std::string_view text : {"2000000000.000000001", "2000000001", "99999999999999999999999999999999",
                                      "-3000000000", "1e300", "-1e300", "18446744073709551616", "9223372036854775807"})
    EXPECT_EQ(fault_of(text), NumberFault::kTooLarge) << text;
}

TEST(DateTimes, AreReadInTheWaysOfTheTraces) {
  constexpr int64_t kInstant = 1'507'532'515 * kSecond;
  EXPECT_EQ(read_date_time("2017-10-09 07:01:55"), kInstant);
  EXPECT_EQ(read_date_time("2017-10-09T07:01:55"), kInstant);
  EXPECT_EQ(read_date_time("2017-10-09T07:01:55Z"), kInstant);
  EXPECT_EQ(read_date_time("2017-10-09 07:01:55.25"), kInstant + kSecond / 4);
  EXPECT_EQ(read_date_time("2017-10-09T09:01:55+02:00"), kInstant);
  EXPECT_EQ(read_date_time("2017-10-09 15:01:55+0800"), kInstant);
  EXPECT_EQ(read_date_time("2017-10-09 02:31:55-04:30"), kInstant);
  EXPECT_EQ(read_date_time("2017/10/9 7:01"), kInstant - 55 * kSecond);
  EXPECT_EQ(read_date_time("1970-01-01 00:00:00"), 0);
}

TEST(DateTimes, EveryDayIsWhereTheCalendarPutsIt) {
  int64_t day = 0;
  for (std::chrono::sys_days date{std::chrono::year(1970) / 1 / 1}; date < std::chrono::year(2033) / 1 / 1;
       date += std::chrono::days(1), ++day) {
    const std::chrono::year_month_day ymd(date);
    std::string text(40, '\0');
    text.resize(static_cast<size_t>(std::snprintf(text.data(), text.size(), "%04d-%02u-%02u 23:59:59",
                                                  static_cast<int>(ymd.year()), static_cast<unsigned>(ymd.month()),
                                                  static_cast<unsigned>(ymd.day()))));
    ASSERT_EQ(read_date_time(text), ((day + 1) * 86'400 - 1) * kSecond) << text;
  }
}

TEST(DateTimes, RefuseWhatIsNoDigitWhereOneIsExpectedWhateverItWouldCountFor) {
  constexpr std::string_view kTime = "2001-01-01 01:01:01";
  for (size_t i = 0; i < kTime.size(); ++i) {
    if (kTime[i] < '0' || kTime[i] > '9') continue;
    for (int other = 0; other < 256; ++other) {
      std::string text(kTime);
      text[i] = static_cast<char>(other);
      if (other >= '0' && other <= '9') continue;
      EXPECT_FALSE(read_date_time(text)) << i << ' ' << other;
    }
  }
}

TEST(DateTimes, RefuseWhatIsNone) {
  for (const std::string_view text : {"",
                                      "2017",
                                      "2017-10-09",
                                      "2017-13-09 07:01:55",
                                      "2017-00-09 07:01:55",
                                      "2017-02-29 00:00:00",
                                      "2017-10-32 07:01:55",
                                      "2017-10-00 07:01:55",
                                      "2017-10-09 24:00:00",
                                      "2017-10-09 07:60:00",
                                      "2017-10-09 07:01:61",
                                      "2017-10-09 07:01:5",
                                      "2017-10-09 07:01:5x",
                                      "2017-10-09x07:01:55",
                                      "2017-10/09 07:01:55",
                                      "2017-10-09 07:01:55 ",
                                      "2017-10-09 07:01:55+",
                                      "2017-10-09 07:01:55.",
                                      "2017-10-09 07:01:55+8",
                                      "1969-12-31 23:59:59",
                                      "2033-01-01 00:00:00",
                                      "9999-01-01 00:00:00",
                                      "-017-10-09 07:01:55",
                                      "None",
                                      "Unknown",
                                      "2017-10-09 07-01-55"})
    EXPECT_EQ(read_date_time(text), std::nullopt) << text;
}

}  // namespace
}  // namespace weft::sim
