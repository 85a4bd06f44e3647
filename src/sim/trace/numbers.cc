#include "sim/trace/numbers.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>

namespace weft::sim {

namespace {

constexpr int64_t kSecond = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Numbers with an exponent, which are rare: exact to the 15 digits of a double.
NumberFault read_rounded(std::string_view text, int64_t unit, int64_t& nanoseconds) {
  const Result<double> number = parse_number(text);
  if (!number) return NumberFault::kNoNumber;
  const double scaled = *number * static_cast<double>(unit);
  if (!(std::fabs(scaled) <= static_cast<double>(kTraceTimeMax))) return NumberFault::kTooLarge;
  nanoseconds = std::llround(scaled);
  return NumberFault::kNone;
}

/// Takes digits and what must stand between them off the front of a text.
class Digits {
 public:
  explicit Digits(std::string_view text) : rest_(text) {}

  /// A number of `min` to `max` digits.
  int64_t number(size_t min, size_t max) {
    int64_t value = 0;
    size_t count = 0;
    for (; count < max && count < rest_.size() && is_digit(rest_[count]); ++count)
      value = value * 10 + (rest_[count] - '0');
    is_good_ = is_good_ && count >= min;
    rest_.remove_prefix(count);
    return value;
  }
  /// One of `allowed`; '\0': none of them, and the text is bad.
  char sign(std::string_view allowed) {
    const char c = may(allowed);
    is_good_ = is_good_ && c != '\0';
    return c;
  }
  /// The same where it need not be there.
  char may(std::string_view allowed) {
    if (rest_.empty() || allowed.find(rest_.front()) == std::string_view::npos) return '\0';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  /// Digits of a fraction, as nanoseconds of a second.
  int64_t fraction() {
    int64_t value = 0;
    int64_t unit = kSecond / 10;
    size_t count = 0;
    for (; count < rest_.size() && is_digit(rest_[count]); ++count, unit /= 10) value += (rest_[count] - '0') * unit;
    is_good_ = is_good_ && count > 0;
    rest_.remove_prefix(count);
    return value;
  }
  bool is_at_end() const { return rest_.empty(); }
  bool is_good() const { return is_good_; }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

/// Seconds east of UTC.
int64_t read_zone(Digits& digits) {
  if (digits.is_at_end() || digits.may("Z") != '\0') return 0;
  const char sign = digits.sign("+-");
  const int64_t hours = digits.number(2, 2);
  int64_t minutes = 0;
  if (!digits.is_at_end()) {
    digits.may(":");
    minutes = digits.number(2, 2);
  }
  const int64_t seconds = hours * 3600 + minutes * 60;
  return sign == '-' ? -seconds : seconds;
}

struct DateTime {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t fraction = 0;  ///< ns
  int64_t zone = 0;      ///< seconds east of UTC
};

constexpr int64_t kYearMin = 1970;
constexpr int64_t kYearMax = 2032;  // what is later does not fit below kTraceTimeMax

/// Days from 1970 to the first of each month.
constexpr auto kMonthStarts = [] {
  std::array<uint16_t, (kYearMax - kYearMin + 1) * 12 + 1> starts{};
  for (size_t i = 0; i < starts.size(); ++i) {
    const std::chrono::year_month_day first{
        std::chrono::year(static_cast<int>(kYearMin + static_cast<int64_t>(i / 12))),
        std::chrono::month(static_cast<unsigned>(i % 12) + 1), std::chrono::day(1)};
    starts[i] = static_cast<uint16_t>(std::chrono::sys_days(first).time_since_epoch().count());
  }
  return starts;
}();

/// False: there is no such time.
inline bool nanoseconds_of(const DateTime& t, int64_t& nanoseconds) {
  if (t.year < kYearMin || t.year > kYearMax || t.month < 1 || t.month > 12 || t.hour > 23 || t.minute > 59 ||
      t.second > 60)
    return false;
  const auto month = static_cast<size_t>((t.year - kYearMin) * 12 + t.month - 1);
  if (t.day < 1 || t.day > kMonthStarts[month + 1] - kMonthStarts[month]) return false;
  const int64_t days = kMonthStarts[month] + t.day - 1;
  nanoseconds = (days * 86'400 + t.hour * 3600 + t.minute * 60 + t.second - t.zone) * kSecond + t.fraction;
  return true;
}

/// "2017-10-09 07:01:55" and nothing else, as most traces write all of their times.
bool read_usual_date_time(std::string_view text, int64_t& nanoseconds) {
  constexpr size_t kLength = 19;
  if (text.size() != kLength) return false;
  const char* const at = text.data();
  const bool has_signs =
      at[4] == '-' && at[7] == '-' && (at[10] == ' ' || at[10] == 'T') && at[13] == ':' && at[16] == ':';
  if (!has_signs) return false;
  constexpr std::array<uint8_t, 7> kPairs{0, 2, 5, 8, 11, 14, 17};
  std::array<int64_t, kPairs.size()> pairs{};
  unsigned seen = 0;  // its bit 7 is set by what is no digit, whose value is above 9
  for (size_t i = 0; i < kPairs.size(); ++i) {
    const unsigned tens = static_cast<unsigned char>(at[kPairs[i]] - '0');
    const unsigned ones = static_cast<unsigned char>(at[kPairs[i] + 1] - '0');
    seen |= tens | (tens + 118) | ones | (ones + 118);
    pairs[i] = tens * 10 + ones;
  }
  const DateTime time{.year = pairs[0] * 100 + pairs[1],
                      .month = pairs[2],
                      .day = pairs[3],
                      .hour = pairs[4],
                      .minute = pairs[5],
                      .second = pairs[6]};
  return (seen & 0x80U) == 0 && nanoseconds_of(time, nanoseconds);
}

}  // namespace

NumberFault read_decimal(std::string_view text, int64_t unit, int64_t& nanoseconds) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool is_negative = at != end && *at == '-';
  if (is_negative) ++at;
  const char* const first = at;
  uint64_t whole = 0;
  constexpr uint64_t kWholeMax = uint64_t{1} << 60;  // ten times this fits, and it is too large already
  for (; at != end && is_digit(*at); ++at) whole = std::min(whole * 10 + static_cast<uint64_t>(*at - '0'), kWholeMax);
  const bool has_whole = at != first;
  int64_t part = 0;
  if (at != end && *at == '.' && has_whole) {
    const char* const point = at++;
    for (int64_t digit = unit / 10; at != end && is_digit(*at); ++at, digit /= 10) part += (*at - '0') * digit;
    if (at == point + 1) return NumberFault::kNoNumber;
  }
  if (at != end && has_whole && (*at == 'e' || *at == 'E')) return read_rounded(text, unit, nanoseconds);
  if (at != end || !has_whole) return NumberFault::kNoNumber;
  int64_t size = 0;
  if (__builtin_mul_overflow(whole, unit, &size) || size > kTraceTimeMax - part) return NumberFault::kTooLarge;
  size += part;
  nanoseconds = is_negative ? -size : size;
  return NumberFault::kNone;
}

std::optional<int64_t> read_date_time(std::string_view text) {
  int64_t nanoseconds = 0;
  if (read_usual_date_time(text, nanoseconds)) return nanoseconds;
  Digits digits(text);
  DateTime t{.year = digits.number(4, 4)};
  const char separator = digits.sign("-/");
  t.month = digits.number(1, 2);
  if (digits.sign("-/") != separator) return std::nullopt;
  t.day = digits.number(1, 2);
  digits.sign(" T");
  t.hour = digits.number(1, 2);
  digits.sign(":");
  t.minute = digits.number(2, 2);
  if (digits.may(":") != '\0') {
    t.second = digits.number(2, 2);
    if (digits.may(".") != '\0') t.fraction = digits.fraction();
  }
  t.zone = read_zone(digits);
  if (!digits.is_good() || !digits.is_at_end() || !nanoseconds_of(t, nanoseconds)) return std::nullopt;
  return nanoseconds;
}

void append_seconds(int64_t nanoseconds, std::string& out) {
  const uint64_t size = nanoseconds < 0 ? -static_cast<uint64_t>(nanoseconds) : static_cast<uint64_t>(nanoseconds);
  if (nanoseconds < 0) out += '-';
  fmt::format_to(std::back_inserter(out), "{}", size / kSecond);
  if (size % kSecond == 0) return;
  fmt::format_to(std::back_inserter(out), ".{:09}", size % kSecond);
  out.erase(out.find_last_not_of('0') + 1);
}

}  // namespace weft::sim
