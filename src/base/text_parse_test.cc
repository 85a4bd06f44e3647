#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace weft {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

template <typename T>
std::string message(const Result<T>& result) {
  if (result) return "";
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  return result.error().message;
}

TEST(ParseBytes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("123"), 123);
  EXPECT_EQ(parse_bytes("512Gi"), 512 * kGiB);
  EXPECT_EQ(parse_bytes("1Ti"), kTiB);
  EXPECT_EQ(parse_bytes("7680Mi"), 7680 * kMiB);
  EXPECT_EQ(parse_bytes("1.5G"), 1'500'000'000);
  EXPECT_EQ(parse_bytes("80GB"), 80'000'000'000);
  EXPECT_EQ(parse_bytes("80GiB"), 80 * kGiB);
  EXPECT_EQ(parse_bytes("4k"), 4000);
  EXPECT_EQ(parse_bytes("17B"), 17);
  EXPECT_EQ(parse_bytes(".5Ki"), 512);
  EXPECT_EQ(parse_bytes("2P"), 2'000'000'000'000'000);
}

TEST(ParseBytes, RoundsAFractionDownToAWholeByteExactly) {
  EXPECT_EQ(parse_bytes("0.3Ki"), 307);  // 307.2
  EXPECT_EQ(parse_bytes("0.3K"), 300);
  EXPECT_EQ(parse_bytes("1.0000000000000000000000000001Pi"), kTiB * 1024);
  EXPECT_EQ(parse_bytes("0.99999999999999999999999999999999Ki"), 1023);
}

TEST(ParseBytes, SaysWhatIsWrong) {
  EXPECT_EQ(message(parse_bytes("12x")), "'12x' is not a size; write for example 512Mi, 80Gi or 1.5T");
  EXPECT_EQ(message(parse_bytes("")), "'' is not a size; write for example 512Mi, 80Gi or 1.5T");
  EXPECT_EQ(message(parse_bytes("-1Gi")), "'-1Gi' is negative; write for example 512Mi, 80Gi or 1.5T");
  EXPECT_EQ(message(parse_bytes("1.5")), "'1.5' is not a whole number of bytes; write for example 512Mi, 80Gi or 1.5T");
  EXPECT_EQ(message(parse_bytes("2048Pi")), "'2048Pi' is too large; a size is at most 2047Pi");
  EXPECT_EQ(message(parse_bytes("99999999999999999999999999")),
            "'99999999999999999999999999' is too large; a size is at most 2047Pi");
}

TEST(ParseBytes, RefusesWhatOnlyLooksLikeASize) {
  for (const char* text : {"Gi", "1 Gi", " 1Gi", "1Gi ", "1gi", "1GI", "1e3", "nan", "inf", "+1", "0x10", "1.", ".",
                           "1.2.3Gi", "1GiBB", "1BB", "--1", "1,5G"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(ParseBytes, TakesTheLargestSizeThatSumsCannotOverflow) {
  EXPECT_EQ(parse_bytes("2305843009213693951"), kUnlimited);
  EXPECT_FALSE(parse_bytes("2305843009213693952"));
  EXPECT_FALSE(parse_bytes("2305.9P"));
  EXPECT_EQ(parse_bytes("2047Pi"), 2047 * 1024 * kTiB);
}

TEST(ParseDuration, ReadsEveryForm) {
  EXPECT_EQ(parse_duration("30s"), seconds(30));
  EXPECT_EQ(parse_duration("-2h"), hours(-2));
  EXPECT_EQ(parse_duration("1h30m"), minutes(90));
  EXPECT_EQ(parse_duration("2h05m"), minutes(125));
  EXPECT_EQ(parse_duration("7d"), hours(168));
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("1m500ms"), milliseconds(60'500));
  EXPECT_EQ(parse_duration("3us"), Duration{3000});
  EXPECT_EQ(parse_duration("7ns"), Duration{7});
  EXPECT_EQ(parse_duration("90"), seconds(90));
  EXPECT_EQ(parse_duration("0.5"), milliseconds(500));
  EXPECT_EQ(parse_duration("1.5h"), minutes(90));
  EXPECT_EQ(parse_duration("1:30:00"), minutes(90));
  EXPECT_EQ(parse_duration("100:00:01"), hours(100) + seconds(1));
  EXPECT_EQ(parse_duration("2-00:00:00"), hours(48));
  EXPECT_EQ(parse_duration("-1-23:59:59"), Duration{0} - (hours(48) - seconds(1)));
  EXPECT_EQ(parse_duration("0"), Duration{0});
  EXPECT_EQ(parse_duration("endless"), kEndless);
}

TEST(ParseDuration, SaysWhatIsWrong) {
  EXPECT_EQ(message(parse_duration("soon")),
            "'soon' is not a length of time; write for example 30s, 1h30m, 7d, 1:30:00 or 2-00:00:00");
  EXPECT_EQ(message(parse_duration("100000d")), "'100000d' is too long; write endless, or at most 26687d");
  EXPECT_EQ(message(parse_duration("-100000-00:00:00")),
            "'-100000-00:00:00' is too long; write endless, or at most 26687d");
}

TEST(ParseDuration, RefusesPartsThatAreTooLongTogether) {
  EXPECT_TRUE(parse_duration("26687d"));
  EXPECT_TRUE(parse_duration("640000h"));
  EXPECT_FALSE(parse_duration("26687d640000h"));
  EXPECT_FALSE(parse_duration("26687d640000h38000000m2000000000s"));
  EXPECT_FALSE(parse_duration("26687-23:59:59"));
}

TEST(ParseDuration, RefusesWhatOnlyLooksLikeATime) {
  for (const char* text : {"",           "-",    "s",    "--2h",    "+2h",       "1h 30m",       "30m1h",
                           "1h1h",       "1h30", "1:30", "1:60:00", "1:00:60",   "1:0:00",       "1:00:00:00",
                           "2-24:00:00", "2-",   "2-00", "-:00:00", "1.5:00:00", "1-2-00:00:00", "5y",
                           "1H",         "nan",  "inf",  "1e3",     "1.s",       "9:99:99"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(ParseMilli, ReadsThousandthsExactly) {
  EXPECT_EQ(parse_milli("4"), 4000);
  EXPECT_EQ(parse_milli("0.1"), 100);
  EXPECT_EQ(parse_milli("1.25"), 1250);
  EXPECT_EQ(parse_milli("0.001"), 1);
  EXPECT_EQ(parse_milli(".5"), 500);
  EXPECT_EQ(parse_milli("0"), 0);
}

TEST(ParseMilli, SaysWhatIsWrong) {
  EXPECT_EQ(message(parse_milli("half")), "'half' is not a number; write for example 4, 0.5 or 1.25");
  EXPECT_EQ(message(parse_milli("-0.5")), "'-0.5' is negative; write for example 4, 0.5 or 1.25");
  EXPECT_EQ(message(parse_milli("0.0005")), "'0.0005' has more than three decimals; write for example 4, 0.5 or 1.25");
  EXPECT_EQ(message(parse_milli("99999999999999999999")),
            "'99999999999999999999' is too large; write at most 2305843009213693");
  for (const char* text : {"", "1e3", "nan", "inf", "1.", " 1", "1 ", "+1", "-", "1,5", "0x1"})
    EXPECT_FALSE(parse_milli(text)) << text;
}

TEST(ParseInteger, KeepsToItsRange) {
  EXPECT_EQ(parse_integer("0", 0, 255), 0);
  EXPECT_EQ(parse_integer("255", 0, 255), 255);
  EXPECT_EQ(parse_integer("-5", -10, 10), -5);
  EXPECT_EQ(parse_integer("-9223372036854775808", kMin, kMax), kMin);
  EXPECT_EQ(parse_integer("9223372036854775807", kMin, kMax), kMax);
  EXPECT_EQ(message(parse_integer("256", 0, 255)), "'256' is out of range; write a whole number from 0 to 255");
  EXPECT_EQ(message(parse_integer("-1", 0, kMax)), "'-1' is out of range; write a whole number of 0 or more");
  EXPECT_EQ(message(parse_integer("10000", kMin, 9999)),
            "'10000' is out of range; write a whole number of at most 9,999");
  EXPECT_EQ(message(parse_integer("9223372036854775808", kMin, kMax)),
            "'9223372036854775808' is out of range; write a whole number");
  EXPECT_EQ(message(parse_integer("12x", 1, 64)), "'12x' is not a whole number; write one from 1 to 64");
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "nan", "99999999999999999999x"}) {
    EXPECT_NE(message(parse_integer(text, kMin, kMax)).find("is not a whole number"), std::string::npos) << text;
  }
}

TEST(ParseNumber, ReadsFiniteDecimalsOnly) {
  EXPECT_EQ(parse_number("0.25"), 0.25);
  EXPECT_EQ(parse_number("-3"), -3.0);
  EXPECT_EQ(parse_number("1e6"), 1e6);
  EXPECT_EQ(message(parse_number("1,5")), "'1,5' is not a number; write for example 3, 0.25 or 1e6");
  EXPECT_EQ(message(parse_number("1e999")), "'1e999' is out of range for a number");
  for (const char* text :
       {"", "nan", "NaN", "inf", "-inf", "infinity", "0x10", "1 ", " 1", "+1", "1e", "--1", "1.2.3"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

TEST(Parsers, AnswerAHugeTextWithAShortLine) {
  for (const std::string& text :
       {std::string(1 << 20, '9'), std::string(1 << 20, 'x'), "0." + std::string(1 << 20, '7')}) {
    for (const std::string& line :
         {message(parse_bytes(text)), message(parse_duration(text + "q")), message(parse_milli(text)),
          message(parse_integer(text, 0, 1)), message(parse_number(text + "q"))}) {
      EXPECT_GT(line.size(), 20U);
      EXPECT_LT(line.size(), 200U);
    }
  }
}

TEST(Parsers, AnswerBytesThatAreNoTextWithOneCleanLine) {
  const std::string text("1\n\xff\0G", 5);
  EXPECT_EQ(message(parse_bytes(text)), "'1\\x0a\\xff\\x00G' is not a size; write for example 512Mi, 80Gi or 1.5T");
}

RC_GTEST_PROP(ParseBytes, ReadsBackWhatFormatBytesWrites, ()) {
  const auto digits = *rc::gen::inRange<unsigned>(0, 61);
  const auto bytes = *rc::gen::inRange<int64_t>(0, int64_t{1} << digits) << *rc::gen::inRange<unsigned>(0, 61 - digits);
  RC_ASSERT(parse_bytes(format_bytes(bytes)).value() == bytes);
}

RC_GTEST_PROP(ParseMilli, ReadsBackWhatFormatMilliWrites, ()) {
  const auto milli = *rc::gen::inRange<int64_t>(0, kUnlimited);
  RC_ASSERT(parse_milli(format_milli(milli)).value() == milli);
}

RC_GTEST_PROP(ParseInteger, ReadsBackEveryInteger, (int64_t n)) {
  RC_ASSERT(parse_integer(std::to_string(n), kMin, kMax).value() == n);
}

RC_GTEST_PROP(ParseDuration, ReadsBackWhatFormatDurationWritesUpToWhatItCutsOff, ()) {
  const Duration duration{*rc::gen::inRange<int64_t>(-kEndless.ns, kEndless.ns) >> *rc::gen::inRange(0, 62)};
  const auto read = parse_duration(format_duration(duration));
  RC_ASSERT(read.has_value());
  // The cut is toward zero and less than one of the second unit: at most a 24th, or a tenth of a second below 10 s.
  const int64_t exact = std::abs(duration.ns);
  const int64_t cut = exact - std::abs(read->ns);
  RC_ASSERT((read->ns <= 0) == (duration.ns <= 0));
  RC_ASSERT(cut >= 0);
  RC_ASSERT(cut == 0 || exact >= 1000);
  RC_ASSERT(cut <= exact / 10 || exact < 1'000'000'000);
  RC_ASSERT(parse_duration(format_duration(*read)).value().ns == read->ns);
}

RC_GTEST_PROP(ParseDuration, AddsItsParts, ()) {
  const int64_t h = *rc::gen::inRange(0, 1000);
  const int64_t m = *rc::gen::inRange(0, 60);
  const int64_t s = *rc::gen::inRange(0, 60);
  const Duration sum = hours(h) + minutes(m) + seconds(s);
  char clock[32];
  std::snprintf(clock, sizeof clock, "%d:%02d:%02d", static_cast<int>(h), static_cast<int>(m), static_cast<int>(s));
  RC_ASSERT(parse_duration(clock).value().ns == sum.ns);
  RC_ASSERT(parse_duration(std::to_string(h) + "h" + std::to_string(m) + "m" + std::to_string(s) + "s").value().ns ==
            sum.ns);
}

}  // namespace
}  // namespace weft
