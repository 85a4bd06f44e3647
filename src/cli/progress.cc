#include "cli/progress.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace weft::cli {

namespace {

constexpr auto kRedrawAfter = std::chrono::milliseconds(100);

size_t terminal_columns() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

/// Empty where it cannot be told.
std::string time_left(const Progress& progress) {
  if (progress.done == 0 || progress.done >= progress.total || progress.elapsed < std::chrono::seconds(1)) return {};
  const double left = static_cast<double>(progress.elapsed.count()) *
                      (static_cast<double>(progress.total - progress.done) / static_cast<double>(progress.done));
  const double whole = std::clamp(left / 1e9, 0.0, 1e9);
  return format_duration(seconds(static_cast<int64_t>(whole) + 1)) + " left";
}

}  // namespace

std::string progress_text(const Progress& progress, size_t columns) {
  constexpr size_t kBarMax = 40, kBarMin = 4;
  std::string text = fmt::format("{}/{} {}", format_count(static_cast<int64_t>(progress.done)),
                                 format_count(static_cast<int64_t>(progress.total)), progress.unit);
  const std::string left = time_left(progress);
  if (!left.empty() && text.size() + 2 + left.size() < columns) text += ", " + left;
  if (columns >= text.size() + kBarMin + 4) {
    const size_t width = std::min(kBarMax, columns - text.size() - 4);
    const double share =
        progress.total > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.total) : 0;
    const auto filled = std::min(static_cast<size_t>(share * static_cast<double>(width)), width);
    return fmt::format("[{}{}] {}", std::string(filled, '='), std::string(width - filled, '.'), text);
  }
  return text.size() < columns ? text : std::string();
}

ProgressLine::ProgressLine(std::string_view unit)
    : unit_(unit), is_watched_(::isatty(STDERR_FILENO) != 0), started_(Clock::now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(uint64_t done, uint64_t total) {
  if (is_watched_ == 0) return;
  if (done >= total) return clear();
  const Clock::time_point now = Clock::now();
  if (is_drawn_ != 0 && now - drawn_ < kRedrawAfter) return;
  const std::string text =
      progress_text({.done = done, .total = total, .unit = unit_, .elapsed = now - started_}, terminal_columns());
  std::fputs(("\r" + text + "\033[K").c_str(), stderr);
  std::fflush(stderr);
  is_drawn_ = 1;
  drawn_ = now;
}

void ProgressLine::clear() {
  if (is_drawn_ == 0) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  is_drawn_ = 0;
}

}  // namespace weft::cli
