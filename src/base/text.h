#pragma once

#include "base/result.h"
#include "base/units.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Reading and writing quantities as people write them. Every parse_ function takes the whole text or fails with one
// line that says what was wrong and what is expected; NaN, infinities, overflow, blanks inside and trailing rubbish are
// errors.

/// "512Gi", "1.5G", "7680Mi", "1Ti", "123" (bytes); K M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024, an ending B
/// is allowed. >= 0.
Result<int64_t> parse_bytes(std::string_view text);
/// "30s", "-2h", "1h30m", "7d", "500ms", "90" (seconds), "1.5h", "1:30:00", "2-00:00:00", "endless" (kEndless).
/// May be negative.
Result<Duration> parse_duration(std::string_view text);
/// "4", "0.5", "1.25": thousandths, at most three decimals, >= 0. "0.1" is 100.
Result<int64_t> parse_milli(std::string_view text);
/// A whole number in [low, high].
Result<int64_t> parse_integer(std::string_view text, int64_t low, int64_t high);
/// A finite decimal number.
Result<double> parse_number(std::string_view text);

/// 1234567 -> "1,234,567".
std::string format_count(int64_t n);
/// So many of what is called `word`: "1 job", "1,234 jobs".
std::string format_count(int64_t n, std::string_view word);
/// 80 * kGiB -> "80Gi"; the largest unit that leaves at most one decimal: "1.5Gi", "512Mi", "0".
std::string format_bytes(int64_t bytes);
/// The same for tables: at most one decimal, cut off, of the largest unit that gives 1 or more: "503.6Gi".
std::string format_bytes_short(int64_t bytes);
/// The two largest units, the rest cut off: "2h05m", "31s", "1.5s", "250ms", "3d04h", "2h".
/// "endless" for kEndless and above.
std::string format_duration(Duration duration);
/// 1500 -> "1.5", 2000 -> "2".
std::string format_milli(int64_t milli);

/// The text in single quotes for a message of one line: what is no printable UTF-8 as \xNN, cut after 60 bytes.
std::string quote(std::string_view text);
/// The parts between separators: one more than there are separators, some perhaps empty.
std::vector<std::string_view> split(std::string_view text, char separator);
/// "there is no policy 'strtf' (did you mean 'srtf'?); known are …".
std::string unknown_name_text(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known);
/// True when the bytes are valid UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);
/// The nearest of `candidates` by edit distance when it is close enough to be meant, else empty. For "did you mean …?".
template <typename Range>
std::string_view nearest(std::string_view word, const Range& candidates);

/// Edit distance with a cut-off: returns `cutoff` when it is at least that.
unsigned edit_distance(std::string_view a, std::string_view b, unsigned cutoff);

template <typename Range>
std::string_view nearest(std::string_view word, const Range& candidates) {
  std::string_view best;
  unsigned best_distance = word.size() < 4 ? 2 : 3;
  for (const auto& candidate : candidates) {
    const std::string_view text(candidate);
    const unsigned distance = edit_distance(word, text, best_distance);
    if (distance < best_distance) {
      best_distance = distance;
      best = text;
    }
  }
  return best;
}

}  // namespace weft
