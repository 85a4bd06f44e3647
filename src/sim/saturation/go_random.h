#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::sim {

/// The generator behind Go's math/rand: an additive lagged Fibonacci sequence x[n] = x[n - 607] + x[n - 273] mod 2^64.
/// The published runs of the inflation protocol drew from it, so that with it a seed means here what it means there:
/// the same pods in the same order on the same nodes, and the recorded rows can be compared one by one instead of mean
/// by mean.
///
/// A seed is spread over the state by a small generator and mixed with the state that the sequence itself reaches after
/// 7.8 * 10^12 steps from seed 1. That state is computed here, once per process, by raising x to that power modulo the
/// polynomial x^607 - x^334 - 1 (some milliseconds), not kept as a table.
class GoRandom {
 public:
  explicit GoRandom(int64_t seed);

  /// Uniform over 63 bits.
  int64_t next63();
  /// Uniform in [0, bound). Requires: bound > 0.
  int32_t below(int32_t bound);
  /// A random order of 0 … n - 1: element i is the value at place i.
  std::vector<int32_t> permutation(int32_t n);
  template <typename Range>
  void shuffle(Range& range) {
    for (size_t i = range.size(); i > 1; --i) {
      std::swap(range[i - 1], range[static_cast<size_t>(below_by_product(static_cast<uint32_t>(i)))]);
    }
  }

 private:
  static constexpr size_t kLength = 607;
  static constexpr size_t kTap = 273;
  using State = std::array<uint64_t, kLength>;
  friend struct GoRandomTable;

  uint64_t next64();
  /// As shuffle() draws: the upper half of a product, with the few values rejected that would be favoured.
  uint32_t below_by_product(uint32_t bound);

  State state_{};
  size_t tap_ = 0;
  size_t feed_ = kLength - kTap;
};

}  // namespace weft::sim
