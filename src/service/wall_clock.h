#pragma once

#include "base/units.h"

#include <cstdint>

namespace weft::service {

/// Turns moments of the core's time, which never jumps, into milliseconds since 1970 of a clock that somebody may set.
/// After such a jump all moments move with it, so that "running since" and "now" stay as far apart as they are; small
/// corrections of the clock change nothing, so that a moment is told the same each time.
class WallClock {
 public:
  WallClock(Instant now, int64_t wall_now_ms) : offset_ms_(wall_now_ms - now.ns / 1'000'000) {}

  /// `at` on the wall, at a time that the core calls `now` and the wall `wall_now_ms`.
  int64_t at(Instant at, Instant now, int64_t wall_now_ms) {
    const int64_t offset_ms = wall_now_ms - now.ns / 1'000'000;
    if (offset_ms > offset_ms_ + kJumpMs || offset_ms < offset_ms_ - kJumpMs) offset_ms_ = offset_ms;
    return offset_ms_ + at.ns / 1'000'000;
  }

 private:
  static constexpr int64_t kJumpMs = 2000;

  int64_t offset_ms_;
};

}  // namespace weft::service
