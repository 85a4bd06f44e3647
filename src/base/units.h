#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace weft {

/// A span of time in nanoseconds. Negative values are allowed (an instant minus a later one).
struct Duration {
  int64_t ns = 0;
  auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return {ns + other.ns}; }
  constexpr Duration operator-(Duration other) const { return {ns - other.ns}; }
  constexpr Duration operator*(int64_t factor) const { return {ns * factor}; }
  constexpr double seconds() const { return static_cast<double>(ns) * 1e-9; }
};

/// A point of the scheduler's own time in nanoseconds: the driver's epoch, never compared with another clock.
struct Instant {
  int64_t ns = 0;
  auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration d) const { return {ns + d.ns}; }
  constexpr Instant operator-(Duration d) const { return {ns - d.ns}; }
  constexpr Duration operator-(Instant other) const { return {ns - other.ns}; }
};

constexpr Duration milliseconds(int64_t n) { return {n * 1'000'000}; }
constexpr Duration seconds(int64_t n) { return {n * 1'000'000'000}; }
constexpr Duration minutes(int64_t n) { return seconds(n * 60); }
constexpr Duration hours(int64_t n) { return seconds(n * 3600); }

/// "No end": an estimate that nobody gave, a limit that nobody set.
inline constexpr Duration kEndless{std::numeric_limits<int64_t>::max() / 4};
inline constexpr Instant kNever{std::numeric_limits<int64_t>::max() / 2};

inline constexpr int64_t kKiB = int64_t{1} << 10;
inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kGiB = int64_t{1} << 30;
inline constexpr int64_t kTiB = int64_t{1} << 40;

/// A quantity without bound in limits and guarantees (bytes, milli-CPU, GPU units).
inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

/// Against queues a device counts in units of 1/7000, so that milli-GPU (7 units) and MIG sevenths (1,000 units) are
/// both exact.
inline constexpr int64_t kGpuUnits = 7000;

}  // namespace weft
