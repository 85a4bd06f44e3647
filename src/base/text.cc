#include "base/text.h"

#include "base/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr uint64_t magnitude(int64_t n) { return n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n); }
constexpr std::string_view sign(int64_t n) { return n < 0 ? "-" : ""; }

constexpr std::array<std::pair<std::string_view, uint64_t>, 6> kByteUnits{{{"Pi", uint64_t{1} << 50},
                                                                           {"Ti", uint64_t{1} << 40},
                                                                           {"Gi", uint64_t{1} << 30},
                                                                           {"Mi", uint64_t{1} << 20},
                                                                           {"Ki", uint64_t{1} << 10},
                                                                           {"", 1}}};

constexpr uint64_t kMicrosecond = 1'000;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;
constexpr uint64_t kDay = 24 * kHour;

/// "3d04h", or "3d" when there are no whole hours beside the days.
std::string two_units(uint64_t ns, uint64_t large, uint64_t small, std::string_view names) {
  const uint64_t rest = ns % large / small;
  if (rest == 0) return fmt::format("{}{}", ns / large, names[0]);
  return fmt::format("{}{}{:02}{}", ns / large, names[0], rest, names[1]);
}

}  // namespace

std::string format_count(int64_t n) {
  const std::string digits = fmt::format("{}", magnitude(n));
  std::string out(sign(n));
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string format_count(int64_t n, std::string_view word) {
  return fmt::format("{} {}{}", format_count(n), word, n == 1 ? "" : "s");
}

std::string format_bytes(int64_t bytes) {
  const uint64_t size = magnitude(bytes);
  if (size == 0) return "0";
  for (const auto& [name, unit] : kByteUnits) {
    // A binary unit has one exact decimal only: the half.
    if (size % unit == 0) return fmt::format("{}{}{}", sign(bytes), size / unit, name);
    if (size > unit && size % unit == unit / 2) return fmt::format("{}{}.5{}", sign(bytes), size / unit, name);
  }
  return fmt::format("{}", bytes);
}

std::string format_bytes_short(int64_t bytes) {
  const uint64_t size = magnitude(bytes);
  for (const auto& [name, unit] : kByteUnits) {
    if (size < unit) continue;
    // Tenths of the rest, without overflow: the rest is below 2^50.
    const uint64_t tenths = size % unit * 10 / unit;
    if (tenths == 0) return fmt::format("{}{}{}", sign(bytes), size / unit, name);
    return fmt::format("{}{}.{}{}", sign(bytes), size / unit, tenths, name);
  }
  return "0";
}

std::string format_duration(Duration duration) {
  if (duration >= kEndless) return "endless";
  const uint64_t ns = magnitude(duration.ns);
  std::string text;
  if (ns >= kDay) {
    text = two_units(ns, kDay, kHour, "dh");
  } else if (ns >= kHour) {
    text = two_units(ns, kHour, kMinute, "hm");
  } else if (ns >= kMinute) {
    text = two_units(ns, kMinute, kSecond, "ms");
  } else if (ns >= kSecond) {
    const uint64_t tenths = ns % kSecond / (100 * kMillisecond);
    const bool is_long = ns >= 10 * kSecond;
    text = is_long || tenths == 0 ? fmt::format("{}s", ns / kSecond) : fmt::format("{}.{}s", ns / kSecond, tenths);
  } else if (ns >= kMillisecond) {
    text = fmt::format("{}ms", ns / kMillisecond);
  } else if (ns >= kMicrosecond) {
    text = fmt::format("{}us", ns / kMicrosecond);
  } else {
    return ns == 0 ? "0s" : fmt::format("{}ns", duration.ns);
  }
  return std::string(sign(duration.ns)) + text;
}

std::string format_milli(int64_t milli) {
  const uint64_t size = magnitude(milli);
  std::string text = fmt::format("{}{}", sign(milli), size / 1000);
  if (size % 1000 != 0) {
    text += fmt::format(".{:03}", size % 1000);
    while (text.ends_with('0')) text.pop_back();
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::string unknown_name_text(std::string_view kind, std::string_view name,
                              const std::vector<std::string_view>& known) {
  const std::string_view meant = nearest(name, known);
  const std::string hint = meant.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", meant);
  return fmt::format("there is no {} '{}'{}; known are {}", kind, name, hint, fmt::join(known, ", "));
}

std::string quote(std::string_view text) {
  constexpr size_t kShown = 60;
  size_t end = 0;
  while (end < text.size()) {
    const size_t next = end + std::max<size_t>(utf8_length(text.substr(end)), 1);
    if (next > kShown) break;
    end = next;
  }
  return fmt::format("'{}{}'", printable(text.substr(0, end)), end < text.size() ? "..." : "");
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

unsigned edit_distance(std::string_view a, std::string_view b, unsigned cutoff) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() >= cutoff) return cutoff;
  // Rows of the usual table, but only cells within `cutoff` of the diagonal: others are at least `cutoff` anyhow, which
  // is what they hold from the start.
  const size_t band = cutoff;
  std::vector<unsigned> above(b.size() + 1, cutoff);
  std::vector<unsigned> row(b.size() + 1, cutoff);
  for (size_t j = 0; j <= std::min(b.size(), band); ++j) above[j] = static_cast<unsigned>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t first = i > band ? i - band : 1;
    const size_t last = std::min(b.size(), i + band);
    row[first - 1] = first == 1 ? static_cast<unsigned>(std::min<size_t>(i, cutoff)) : cutoff;
    unsigned least = row[first - 1];
    for (size_t j = first; j <= last; ++j) {
      const unsigned changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      const unsigned removed = above[j] + 1;
      const unsigned added = row[j - 1] + 1;
      row[j] = std::min({changed, removed, added, cutoff});
      least = std::min(least, row[j]);
    }
    if (least >= cutoff) return cutoff;
    std::swap(above, row);
  }
  return std::min(above[b.size()], cutoff);
}

}  // namespace weft
