#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

namespace weft {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(FormatCount, OneIsOneAndAllElseAreMany) {
  EXPECT_EQ(format_count(1, "job"), "1 job");
  EXPECT_EQ(format_count(0, "job"), "0 jobs");
  EXPECT_EQ(format_count(2, "GPU"), "2 GPUs");
  EXPECT_EQ(format_count(1000, "node"), "1,000 nodes");
}

TEST(FormatCount, GroupsThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(-12'345), "-12,345");
  EXPECT_EQ(format_count(kMin), "-9,223,372,036,854,775,808");
}

TEST(FormatBytes, UsesTheLargestUnitThatIsExactWithOneDecimal) {
  EXPECT_EQ(format_bytes(0), "0");
  EXPECT_EQ(format_bytes(80 * kGiB), "80Gi");
  EXPECT_EQ(format_bytes(1536 * kMiB), "1.5Gi");
  EXPECT_EQ(format_bytes(512 * kMiB), "512Mi");
  EXPECT_EQ(format_bytes(1023), "1023");
  EXPECT_EQ(format_bytes(kGiB + 1), "1073741825");
  EXPECT_EQ(format_bytes(-3 * kTiB), "-3Ti");
  EXPECT_EQ(format_bytes(kMin), "-8192Pi");
  EXPECT_EQ(format_bytes(kMax), "9223372036854775807");
}

TEST(FormatBytesShort, CutsOffAfterOneDecimal) {
  EXPECT_EQ(format_bytes_short(0), "0");
  EXPECT_EQ(format_bytes_short(1023), "1023");
  EXPECT_EQ(format_bytes_short(80 * kGiB), "80Gi");
  EXPECT_EQ(format_bytes_short(80 * kGiB - 1), "79.9Gi");
  EXPECT_EQ(format_bytes_short(kGiB + 1), "1Gi");
  EXPECT_EQ(format_bytes_short(kMax), "8191.9Pi");
  EXPECT_EQ(format_bytes_short(-1536), "-1.5Ki");
}

TEST(FormatDuration, ShowsTheTwoLargestUnits) {
  EXPECT_EQ(format_duration(minutes(125)), "2h05m");
  EXPECT_EQ(format_duration(hours(76) + seconds(59)), "3d04h");
  EXPECT_EQ(format_duration(hours(2)), "2h");
  EXPECT_EQ(format_duration(hours(168)), "7d");
  EXPECT_EQ(format_duration(seconds(65)), "1m05s");
  EXPECT_EQ(format_duration(milliseconds(31'900)), "31s");
  EXPECT_EQ(format_duration(milliseconds(1'590)), "1.5s");
  EXPECT_EQ(format_duration(milliseconds(250)), "250ms");
  EXPECT_EQ(format_duration(Duration{3'999}), "3us");
  EXPECT_EQ(format_duration(Duration{0}), "0s");
  EXPECT_EQ(format_duration(Duration{-7}), "-7ns");
  EXPECT_EQ(format_duration(hours(-2)), "-2h");
  EXPECT_EQ(format_duration(kEndless), "endless");
  EXPECT_EQ(format_duration(Duration{kMax}), "endless");
  EXPECT_EQ(format_duration(Duration{kMin}), "-106751d23h");
}

TEST(FormatMilli, DropsTrailingZeros) {
  EXPECT_EQ(format_milli(1500), "1.5");
  EXPECT_EQ(format_milli(2000), "2");
  EXPECT_EQ(format_milli(1), "0.001");
  EXPECT_EQ(format_milli(0), "0");
  EXPECT_EQ(format_milli(-50), "-0.05");
  EXPECT_EQ(format_milli(kMin), "-9223372036854775.808");
}

TEST(Split, GivesOnePartMoreThanThereAreSeparators) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a,b", ','), (Parts{"a", "b"}));
  EXPECT_EQ(split(",a,,b,", ','), (Parts{"", "a", "", "b", ""}));
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split("a,b", '|'), Parts{"a,b"});
}

TEST(UnknownName, IsSaidWithTheNearestAndAllKnownOnes) {
  EXPECT_EQ(unknown_name_text("fruit", "aple", {"apple", "pear"}),
            "there is no fruit 'aple' (did you mean 'apple'?); known are apple, pear");
  EXPECT_EQ(unknown_name_text("fruit", "zzzzzz", {"apple", "pear"}),
            "there is no fruit 'zzzzzz'; known are apple, pear");
}

TEST(Quote, KeepsAMessageOnOneShortLine) {
  EXPECT_EQ(quote("a b"), "'a b'");
  EXPECT_EQ(quote("größe"), "'größe'");
  EXPECT_EQ(quote("a\n\t\x7f"), "'a\\x0a\\x09\\x7f'");
  EXPECT_EQ(quote("\xff"), "'\\xff'");
  EXPECT_EQ(quote("\xc2\x85\xe2\x80\xa8"), "'\\xc2\\x85\\xe2\\x80\\xa8'");  // NEL and LINE SEPARATOR end lines too
  EXPECT_EQ(quote(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(quote(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(quote(std::string(59, 'x') + "é"), "'" + std::string(59, 'x') + "...'");  // never half a character
}

TEST(IsUtf8, TakesWhatUnicodeAllowsAndNothingElse) {
  for (const char* text :
       {"", "abc", "é", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
  for (const char* text : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80",
                           "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "a\xe2\x28\xa1"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

/// UTF-8 by the definition: encodes a code point.
std::string encode(uint32_t c) {
  const auto byte = [](uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
}

TEST(IsUtf8, AgreesWithTheEncodingOfEveryCodePoint) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    const bool is_surrogate = c >= 0xD800 && c < 0xE000;
    ASSERT_EQ(is_utf8(encode(c)), !is_surrogate) << c;
  }
}

/// The slow twin: the whole table.
unsigned plain_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<unsigned>> d(a.size() + 1, std::vector<unsigned>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<unsigned>(i + j);
      } else {
        d[i][j] = std::min({d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U), d[i - 1][j] + 1, d[i][j - 1] + 1});
      }
    }
  }
  return d[a.size()][b.size()];
}

RC_GTEST_PROP(EditDistance, AgreesWithTheWholeTableUpToItsCutoff, ()) {
  const auto word = rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
  const std::string a = *word;
  const std::string b = *word;
  const auto cutoff = *rc::gen::inRange<unsigned>(0, 8);
  RC_ASSERT(edit_distance(a, b, cutoff) == std::min(plain_distance(a, b), cutoff));
}

TEST(Nearest, FindsWhatWasMeantAndNothingFar) {
  constexpr std::array<std::string_view, 4> kWords{"gpus", "memory", "preemptible", "cpus"};
  EXPECT_EQ(nearest("memroy", kWords), "memory");
  EXPECT_EQ(nearest("gpu", kWords), "gpus");
  EXPECT_EQ(nearest("preemptable", kWords), "preemptible");
  EXPECT_EQ(nearest("xyz", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
}

}  // namespace
}  // namespace weft
