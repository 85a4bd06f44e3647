#include "sim/report/run_format.h"

#include "base/printable.h"
#include "base/text.h"
#include "sim/report/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace weft::sim {

namespace {

constexpr double kCountMax = 9e15;  // whole numbers of doubles end there

size_t characters_of(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) at += std::max<size_t>(utf8_length(text.substr(at)), 1);
  return count;
}

std::string cell(std::string text, double value, size_t width) {
  for (int digits = 3; text.size() >= width && digits > 0; --digits) text = fmt::format("{:.{}g}", value, digits);
  return fmt::format("{:>{}}", text, width);
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return "-";
  if (std::abs(value) > kCountMax) return fmt::format("{:.3g}", value);
  const double tenths = std::round(std::abs(value) * 10);
  const bool is_whole = tenths >= 1e7 || std::abs(value) == std::floor(std::abs(value));
  if (is_whole) return format_count(std::llround(value));
  const auto shown = static_cast<int64_t>(tenths);
  return fmt::format("{}{}.{}", value < 0 && shown != 0 ? "-" : "", format_count(shown / 10), shown % 10);
}

std::string number_cell(double value, size_t width) { return cell(number_text(value), value, width); }

std::string decimal_cell(double value, int decimals, size_t width) {
  return cell(decimal_text(value, decimals), value, width);
}

std::string decimal_text(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-";
}

std::string percent_text(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "-"; }

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  if (ratio > 0 && ratio < 0.095) return fmt::format("{:.3f}x", ratio);
  return ratio < 99.95 ? fmt::format("{:.2f}x", ratio) : fmt::format("{:.0f}x", ratio);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (std::abs(seconds) > 9e9) return fmt::format("{:.3g} s", seconds);
  return format_duration({std::llround(seconds * 1e9)});
}

std::string gpu_hours_text(double gpu_seconds) { return number_text(gpu_seconds / 3600); }

std::string cut_to(std::string_view text, size_t width) {
  std::string whole = printable(text);
  if (characters_of(whole) <= width) return whole;
  std::string out;
  std::string_view rest = whole;
  for (size_t i = 0; i + 1 < width; ++i) {
    const size_t length = std::max<size_t>(utf8_length(rest), 1);
    out += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return out + "…";
}

std::string fitted(std::string_view text, size_t width) {
  std::string out = cut_to(text, width);
  out.append(width - characters_of(out), ' ');
  return out;
}

std::string count_text(uint64_t n) { return format_count(static_cast<int64_t>(n)); }

std::string ends_text(const RunMetrics& metrics) {
  std::string text = count_text(metrics.done) + " done";
  const auto add = [&](uint64_t jobs, std::string_view how) {
    if (jobs > 0) text += fmt::format(", {} {}", count_text(jobs), how);
  };
  add(metrics.failed, "failed");
  add(metrics.cancelled, "cancelled");
  add(metrics.rejected, "rejected");
  add(metrics.unfinished, "unfinished");
  return text;
}

}  // namespace weft::sim
