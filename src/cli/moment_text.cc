#include "cli/moment_text.h"

#include "base/text.h"
#include "cli/present.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

namespace weft::cli {

namespace {

constexpr const char* kExpected =
    "expected a time since the start such as 3h20m or 5400, 'end', or a moment such as '2025-03-01 14:05:00'";

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::kInvalidInput, "--at: " + std::move(message));
}

/// The digits between two places as a number; nothing where they are none.
std::optional<int> digits(std::string_view text, size_t begin, size_t count) {
  if (begin + count > text.size()) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(begin, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

/// "2025-03-01 14:05", with seconds or not, with a T or not, with a Z or not, as seconds since 1970.
std::optional<int64_t> wall_seconds(std::string_view text) {
  const bool is_utc = text.ends_with('Z');
  if (is_utc) text.remove_suffix(1);
  const bool has_seconds = text.size() == 19;
  if (!has_seconds && text.size() != 16) return std::nullopt;
  const bool has_marks = text[4] == '-' && text[7] == '-' && (text[10] == ' ' || text[10] == 'T') && text[13] == ':' &&
                         (!has_seconds || text[16] == ':');
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2),
             hour = digits(text, 11, 2), minute = digits(text, 14, 2),
             second = has_seconds ? digits(text, 17, 2) : std::optional(0);
  if (!has_marks || !year || !month || !day || !hour || !minute || !second) return std::nullopt;
  std::tm moment{};
  moment.tm_year = *year - 1900;
  moment.tm_mon = *month - 1;
  moment.tm_mday = *day;
  moment.tm_hour = *hour;
  moment.tm_min = *minute;
  moment.tm_sec = *second;
  moment.tm_isdst = -1;
  const std::time_t at = is_utc ? ::timegm(&moment) : ::mktime(&moment);
  // A day that is not in the calendar has become another.
  const bool is_real = moment.tm_year == *year - 1900 && moment.tm_mon == *month - 1 && moment.tm_mday == *day &&
                       *hour < 24 && *minute < 60 && *second < 60;
  if (!is_real) return std::nullopt;
  return static_cast<int64_t>(at);
}

/// What a moment on the wall is as seconds since 1970; nothing: it is written as none.
std::optional<int64_t> unix_seconds(std::string_view written) {
  constexpr int64_t kMax = 1'000'000'000'000;
  if (written.starts_with('@')) {
    const Result<int64_t> number = parse_integer(written.substr(1), 0, kMax);
    return number ? std::optional(*number) : std::nullopt;
  }
  return wall_seconds(written);
}

}  // namespace

std::string instant_text(Instant at) {
  struct Unit {
    int64_t ns;
    char letter;
  };
  constexpr std::array kUnits{Unit{86'400'000'000'000, 'd'}, Unit{3'600'000'000'000, 'h'}, Unit{60'000'000'000, 'm'}};
  std::string text = at.ns < 0 ? "-" : "";
  uint64_t left = at.ns < 0 ? ~static_cast<uint64_t>(at.ns) + 1 : static_cast<uint64_t>(at.ns);
  const size_t sign = text.size();
  for (const Unit& unit : kUnits) {
    const uint64_t whole = left / static_cast<uint64_t>(unit.ns);
    left %= static_cast<uint64_t>(unit.ns);
    if (text.size() > sign) {
      text += fmt::format("{:02}{}", whole, unit.letter);
    } else if (whole > 0) {
      text += fmt::format("{}{}", whole, unit.letter);
    }
  }
  const uint64_t seconds_left = left / 1'000'000'000;
  text += text.size() > sign ? fmt::format("{:02}", seconds_left) : fmt::format("{}", seconds_left);
  if (const uint64_t fraction = left % 1'000'000'000; fraction > 0) {
    text += fmt::format(".{:09}", fraction);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + "s";
}

std::string moment_text(const store::JournalHead& head, Instant at) {
  if (!head.wall_start_ms) return instant_text(at);
  return fmt::format("{} ({})", instant_text(at), clock_text(*head.wall_start_ms + at.ns / 1'000'000));
}

Result<Instant> parse_moment(const std::string& written, const store::JournalHead& head) {
  if (const std::optional<int64_t> wall = unix_seconds(written)) {
    if (!head.wall_start_ms)
      return wrong(fmt::format(
          "{}: this run has no times on the wall; a time since its start such as 3h20m is expected", quote(written)));
    const int64_t since_ms = *wall * 1000 - *head.wall_start_ms;
    if (since_ms < 0 && since_ms > -1000) return Instant{};  // the second in which it started
    if (since_ms < 0)
      return wrong(
          fmt::format("{} is before the run: it started at {}", quote(written), clock_text(*head.wall_start_ms)));
    return Instant{} + milliseconds(since_ms);
  }
  const Result<Duration> since = parse_duration(written);
  if (!since || *since >= kEndless) return wrong(fmt::format("{}, found {}", kExpected, quote(written)));
  if (*since < Duration{0}) return wrong(fmt::format("{} is before the start", quote(written)));
  return Instant{} + *since;
}

}  // namespace weft::cli
