#pragma once

#include "base/units.h"

#include <cstdint>

namespace weft {

/// What is left of a use of the past, as a factor from 0 to 1 in 2^-62. Worked out with integers alone, so that it is
/// the same on every machine: std::exp2 and std::pow differ between libraries in the last digit.
struct Decay {
  int64_t factor = 0;
  static constexpr int kBits = 62;
  static constexpr int64_t kOne = int64_t{1} << kBits;

  /// Rounded to the nearest.
  int64_t of(int64_t amount) const;
};

/// 2^(-elapsed / half_life), as a product of roots of 1/2: one for each binary digit of elapsed / half_life.
/// Off by at most 2^-55. Requires: elapsed >= 0, half_life > 0; from kEndless on nothing decays.
/// Cost: at most 62 steps.
Decay half_life_decay(Duration elapsed, Duration half_life);

/// Slurm's: d^elapsed_s with d = 1 - 0.693 / half_life_s, by repeated squaring; after a half life 0.50007 is left. (In
/// Slurm's priority/multifactor this is done in floating point, once for each PriorityCalcPeriod.)
/// Requires: elapsed_s >= 0, half_life_s > 0.
Decay slurm_decay(int64_t elapsed_s, int64_t half_life_s);

}  // namespace weft
