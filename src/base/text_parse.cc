#include "base/text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace weft {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Cuts the longest run of decimal digits off the front of `rest` and returns it.
std::string_view take_digits(std::string_view& rest) {
  size_t n = 0;
  while (n < rest.size() && is_digit(rest[n])) ++n;
  const std::string_view digits = rest.substr(0, n);
  rest.remove_prefix(n);
  return digits;
}

struct Decimal {
  std::string_view whole;     ///< digits before the point
  std::string_view fraction;  ///< and after it
};

/// Cuts "12" or "1.5" or ".5" off the front of `rest`. False when there is no digit, or none after the point.
bool take_decimal(std::string_view& rest, Decimal& out) {
  out.whole = take_digits(rest);
  out.fraction = {};
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    out.fraction = take_digits(rest);
    return !out.fraction.empty();
  }
  return !out.whole.empty();
}

/// decimal * unit rounded down, exactly; nothing when it is more than kUnlimited. Requires: 0 < unit <= 2^55.
std::optional<int64_t> scale(const Decimal& decimal, int64_t unit) {
  const int64_t whole_max = kUnlimited / unit;
  int64_t whole = 0;
  for (const char c : decimal.whole) {
    const int64_t digit = c - '0';
    if (whole > (whole_max - digit) / 10) return std::nullopt;
    whole = whole * 10 + digit;
  }
  // From the last digit to the first: floor((d + floor(rest)) / 10) equals floor((d + rest) / 10), so nothing is lost.
  int64_t part = 0;
  for (size_t i = decimal.fraction.size(); i > 0; --i) part = (part + (decimal.fraction[i - 1] - '0') * unit) / 10;
  const int64_t total = whole * unit + part;
  if (total > kUnlimited) return std::nullopt;
  return total;
}

struct ByteUnit {
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<ByteUnit, 12> kByteUnits{{{"", 1},
                                               {"k", 1'000},
                                               {"K", 1'000},
                                               {"M", 1'000'000},
                                               {"G", 1'000'000'000},
                                               {"T", 1'000'000'000'000},
                                               {"P", 1'000'000'000'000'000},
                                               {"Ki", kKiB},
                                               {"Mi", kMiB},
                                               {"Gi", kGiB},
                                               {"Ti", kTiB},
                                               {"Pi", kTiB * 1024}}};

std::unexpected<Error> invalid(std::string message) { return fail(ErrorCode::kInvalidInput, std::move(message)); }

constexpr int64_t kSecond = 1'000'000'000;
struct TimeUnit {
  std::string_view name;
  int64_t ns;
};
/// Large to small: the parts of "1h30m" must come in this order.
constexpr std::array<TimeUnit, 7> kTimeUnits{{{"d", 86'400 * kSecond},
                                              {"h", 3'600 * kSecond},
                                              {"m", 60 * kSecond},
                                              {"s", kSecond},
                                              {"ms", 1'000'000},
                                              {"us", 1'000},
                                              {"ns", 1}}};

enum class Parsed { kYes, kNo, kTooLong };

/// Adds `more` to `total` or says that the sum is longer than kEndless.
Parsed add_time(std::optional<int64_t> more, int64_t& total) {
  if (!more || *more > kEndless.ns - total) return Parsed::kTooLong;
  total += *more;
  return Parsed::kYes;
}

/// "1h30m", "90", "1.5h".
Parsed parse_units(std::string_view rest, int64_t& total) {
  size_t next_unit = 0;
  while (!rest.empty()) {
    Decimal decimal;
    if (!take_decimal(rest, decimal)) return Parsed::kNo;
    if (rest.empty() && next_unit == 0) return add_time(scale(decimal, kSecond), total);
    size_t letters = 0;
    while (letters < rest.size() && rest[letters] >= 'a' && rest[letters] <= 'z') ++letters;
    const std::string_view name = rest.substr(0, letters);
    rest.remove_prefix(letters);
    size_t unit = next_unit;
    while (unit < kTimeUnits.size() && kTimeUnits[unit].name != name) ++unit;
    if (unit == kTimeUnits.size()) return Parsed::kNo;
    next_unit = unit + 1;
    if (const Parsed added = add_time(scale(decimal, kTimeUnits[unit].ns), total); added != Parsed::kYes) return added;
  }
  return next_unit > 0 ? Parsed::kYes : Parsed::kNo;
}

/// "1:30:00" and, with days before a "-", "2-00:00:00".
Parsed parse_clock(std::string_view rest, int64_t& total) {
  const auto is_sixtieth = [](std::string_view digits) { return digits.size() == 2 && digits[0] < '6'; };
  std::string_view hours = take_digits(rest);
  if (rest.starts_with('-')) {
    if (hours.empty()) return Parsed::kNo;
    if (const Parsed days = add_time(scale({.whole = hours, .fraction = {}}, kTimeUnits[0].ns), total);
        days != Parsed::kYes)
      return days;
    rest.remove_prefix(1);
    hours = take_digits(rest);
    if (hours.size() > 2 || (hours.size() == 2 && hours >= "24")) return Parsed::kNo;
  }
  if (hours.empty() || !rest.starts_with(':')) return Parsed::kNo;
  rest.remove_prefix(1);
  const std::string_view minute = take_digits(rest);
  if (!is_sixtieth(minute) || !rest.starts_with(':')) return Parsed::kNo;
  rest.remove_prefix(1);
  const std::string_view second = take_digits(rest);
  if (!is_sixtieth(second) || !rest.empty()) return Parsed::kNo;
  for (const auto& [digits, unit] :
       {std::pair(hours, size_t{1}), std::pair(minute, size_t{2}), std::pair(second, size_t{3})}) {
    const Parsed added = add_time(scale({.whole = digits, .fraction = {}}, kTimeUnits[unit].ns), total);
    if (added != Parsed::kYes) return added;
  }
  return Parsed::kYes;
}

/// "from 0 to 255", "of 0 or more", "of at most 9", or nothing for the whole range of the type.
std::string range_text(int64_t low, int64_t high) {
  const bool has_low = low != std::numeric_limits<int64_t>::min();
  const bool has_high = high != std::numeric_limits<int64_t>::max();
  if (has_low && has_high) return fmt::format(" from {} to {}", format_count(low), format_count(high));
  if (has_low) return fmt::format(" of {} or more", format_count(low));
  if (has_high) return fmt::format(" of at most {}", format_count(high));
  return "";
}

}  // namespace

Result<int64_t> parse_bytes(std::string_view text) {
  const auto not_a_size = [text](std::string_view what) {
    return invalid(fmt::format("{} {}; write for example 512Mi, 80Gi or 1.5T", quote(text), what));
  };
  std::string_view rest = text;
  Decimal decimal;
  if (!take_decimal(rest, decimal)) {
    rest = text.substr(text.starts_with('-') ? 1 : 0);
    return not_a_size(text.starts_with('-') && take_decimal(rest, decimal) ? "is negative" : "is not a size");
  }
  if (rest.ends_with('B')) rest.remove_suffix(1);
  for (const ByteUnit& unit : kByteUnits) {
    if (unit.name != rest) continue;
    if (unit.bytes == 1 && !decimal.fraction.empty()) return not_a_size("is not a whole number of bytes");
    const auto bytes = scale(decimal, unit.bytes);
    if (!bytes) return invalid(fmt::format("{} is too large; a size is at most 2047Pi", quote(text)));
    return *bytes;
  }
  return not_a_size("is not a size");
}

Result<Duration> parse_duration(std::string_view text) {
  if (text == "endless") return kEndless;
  const bool is_negative = text.starts_with('-');
  const std::string_view rest = text.substr(is_negative ? 1 : 0);
  int64_t ns = 0;
  const Parsed parsed = rest.find(':') == std::string_view::npos ? parse_units(rest, ns) : parse_clock(rest, ns);
  if (parsed == Parsed::kNo) {
    return invalid(fmt::format("{} is not a length of time; write for example 30s, 1h30m, 7d, 1:30:00 or 2-00:00:00",
                               quote(text)));
  }
  if (parsed == Parsed::kTooLong) {
    return invalid(
        fmt::format("{} is too long; write endless, or at most {}d", quote(text), kEndless.ns / kTimeUnits[0].ns));
  }
  return Duration{is_negative ? -ns : ns};
}

Result<int64_t> parse_milli(std::string_view text) {
  std::string_view rest = text;
  Decimal decimal;
  if (!take_decimal(rest, decimal) || !rest.empty()) {
    rest = text.substr(text.starts_with('-') ? 1 : 0);
    const bool is_negative = text.starts_with('-') && take_decimal(rest, decimal) && rest.empty();
    return invalid(fmt::format("{} is {}; write for example 4, 0.5 or 1.25", quote(text),
                               is_negative ? "negative" : "not a number"));
  }
  if (decimal.fraction.size() > 3) {
    return invalid(fmt::format("{} has more than three decimals; write for example 4, 0.5 or 1.25", quote(text)));
  }
  const auto milli = scale(decimal, 1000);
  if (!milli) return invalid(fmt::format("{} is too large; write at most {}", quote(text), kUnlimited / 1000));
  return *milli;
}

Result<int64_t> parse_integer(std::string_view text, int64_t low, int64_t high) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::invalid_argument || end != text.data() + text.size()) {
    return invalid(fmt::format("{} is not a whole number; write one{}", quote(text), range_text(low, high)));
  }
  if (code == std::errc::result_out_of_range || value < low || value > high) {
    return invalid(fmt::format("{} is out of range; write a whole number{}", quote(text), range_text(low, high)));
  }
  return value;
}

Result<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::invalid_argument || end != text.data() + text.size() ||
      (code == std::errc() && !std::isfinite(value))) {
    return invalid(fmt::format("{} is not a number; write for example 3, 0.25 or 1e6", quote(text)));
  }
  if (code != std::errc()) return invalid(fmt::format("{} is out of range for a number", quote(text)));
  return value;
}

}  // namespace weft
