#pragma once

#include <cstdint>
#include <span>

namespace weft {

/// Bounds that keep every product below in 128 bits: quantities (32 PiB of bytes), weights, and who takes part.
inline constexpr int64_t kQuantityMax = int64_t{1} << 55;
inline constexpr int64_t kClaimWeightMax = int64_t{1} << 55;
inline constexpr size_t kClaimsMax = size_t{1} << 16;

/// One who takes part in a division.
struct Claim {
  int64_t weight = 0;  ///< 1 to kClaimWeightMax
  int64_t room = 0;    ///< takes at most this; 0 to kQuantityMax
  uint32_t id = 0;     ///< of equal claims the smaller id goes first
  int64_t given = 0;   ///< the answer
};

/// Divides `total` by weight, nobody getting more than there is room for: what one cannot take goes on to the others by
/// their weights (weighted max-min fairness, "water filling"). Shares round down, and the units that this leaves go one
/// each to the largest remainders.
/// Ensures: the sum of `given` is the smaller of `total` and the sum of all rooms. Changes the order of `claims`.
/// Cost: O(n log n). No allocation.
void apportion(int64_t total, std::span<Claim> claims);

}  // namespace weft
