#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::cli {

/// What a progress line says.
struct Progress {
  uint64_t done = 0;
  uint64_t total = 0;
  std::string_view unit;  ///< "runs", "jobs"
  std::chrono::nanoseconds elapsed{0};
};

/// One line of at most `columns` - 1 characters, for a line that is wrapped cannot be drawn over: a bar where there is
/// room for one, what is done of what, and the time left, once that can be told (a second has passed and something is
/// done): as if all that is left went as fast as what is done.
std::string progress_text(const Progress& progress, size_t columns);

/// A line on standard error that shows how far something is, where that is a terminal; else nothing. Draws over itself
/// at most ten times a second, and is gone when done or destroyed. Used by one thread at a time.
class ProgressLine {
 public:
  explicit ProgressLine(std::string_view unit);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(uint64_t done, uint64_t total);
  /// Takes the line away, for others to write.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string unit_;
  uint8_t is_watched_ = 0;
  uint8_t is_drawn_ = 0;
  Clock::time_point started_;
  Clock::time_point drawn_;
};

}  // namespace weft::cli
