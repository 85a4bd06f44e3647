#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::sim {

/// Nanoseconds of the longest time that traces may tell: 63 years, with room below kEndless.
inline constexpr int64_t kTraceTimeMax = 2'000'000'000'000'000'000;

enum class NumberFault : uint8_t { kNone, kNoNumber, kTooLarge };

/// A decimal number ("12", "-0.5", "1e3") of a unit that has `unit` (a power of ten from 10^3 to 10^9) nanoseconds.
/// Digits below a nanosecond are cut off. Within ±kTraceTimeMax; NaN, infinities, blanks and a leading plus are no
/// numbers.
NumberFault read_decimal(std::string_view text, int64_t unit, int64_t& nanoseconds);

/// A date with a time of day as nanoseconds since 1970: "2017-10-09 07:01:55", "2023-01-02T03:04:05", "2023/7/5 15:18",
/// with a fraction of the second ("…:55.25"), and with "Z" or a distance from UTC ("+08:00", "+0800"). Without one it
/// is taken as UTC. From the years 1970 to 2032: what is later does not fit below kTraceTimeMax.
std::optional<int64_t> read_date_time(std::string_view text);

/// Appends nanoseconds as seconds, exactly: "12", "-0.5", with up to nine decimals; read_decimal() reads it back.
void append_seconds(int64_t nanoseconds, std::string& out);

}  // namespace weft::sim
