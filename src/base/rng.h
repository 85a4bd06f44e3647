#pragma once

#include "base/hash.h"

#include <cstdint>
#include <utility>

namespace weft {

/// A small deterministic generator for drivers, generators and tests; never used inside the core.
/// The sequence depends on the seed alone, on every machine and compiler.
class Rng {
 public:
  explicit constexpr Rng(uint64_t seed) : state_(mix64(seed)) {}

  constexpr uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix64(state_);
  }

  /// Uniform in [0, bound), without modulo bias. Requires: bound > 0.
  constexpr uint64_t below(uint64_t bound) {
    const uint64_t reject_under = (0 - bound) % bound;
    for (;;) {
      const uint64_t x = next();
      if (x >= reject_under) return x % bound;
    }
  }

  /// Uniform in [low, high]. Requires: low <= high.
  constexpr int64_t between(int64_t low, int64_t high) {
    // Unsigned, since the span of two integers may be more than an integer holds.
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const uint64_t offset = span == ~uint64_t{0} ? next() : below(span + 1);
    return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
  }

  /// Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Fisher–Yates.
  template <typename Range>
  constexpr void shuffle(Range& range) {
    for (size_t i = range.size(); i > 1; --i) std::swap(range[i - 1], range[static_cast<size_t>(below(i))]);
  }

 private:
  uint64_t state_;
};

}  // namespace weft
