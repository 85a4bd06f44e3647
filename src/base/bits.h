#pragma once

#include "base/check.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

/// Calls `visit(position)` for every set bit of `word`, lowest first.
template <typename Visit>
constexpr void for_each_bit(uint64_t word, Visit&& visit) {
  for (; word != 0; word &= word - 1) visit(static_cast<unsigned>(std::countr_zero(word)));
}

constexpr unsigned popcount(uint64_t word) { return static_cast<unsigned>(std::popcount(word)); }

/// A mask with the lowest `n` bits set, 0 <= n <= 64.
constexpr uint64_t low_bits(unsigned n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

/// A set of small integers as 64-bit words. Bits beyond size() are zero. Copy is O(size / 64); nothing else allocates
/// but resize().
class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(size_t size) { resize(size); }

  void resize(size_t size) {
    words_.resize((size + 63) / 64, 0);
    if (size < size_ && (size % 64) != 0) words_.back() &= low_bits(static_cast<unsigned>(size % 64));
    size_ = size;
  }
  size_t size() const { return size_; }
  size_t word_count() const { return words_.size(); }
  uint64_t word(size_t i) const { return words_[i]; }
  uint64_t* data() { return words_.data(); }
  const uint64_t* data() const { return words_.data(); }

  bool test(size_t i) const { return (words_[i / 64] >> (i % 64)) & 1U; }
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void reset(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  void assign(size_t i, uint64_t bit) {
    const uint64_t mask = uint64_t{1} << (i % 64);
    words_[i / 64] = (words_[i / 64] & ~mask) | ((bit & 1U) << (i % 64));
  }
  void clear() { words_.assign(words_.size(), 0); }
  void fill() {
    words_.assign(words_.size(), ~uint64_t{0});
    if ((size_ % 64) != 0) words_.back() &= low_bits(static_cast<unsigned>(size_ % 64));
  }

  size_t count() const {
    size_t total = 0;
    for (const uint64_t w : words_) total += popcount(w);
    return total;
  }

  /// Requires: same size.
  BitSet& operator&=(const BitSet& other) {
    WEFT_CHECK(size_ == other.size_, "set operations need sets of one size");
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  BitSet& operator|=(const BitSet& other) {
    WEFT_CHECK(size_ == other.size_, "set operations need sets of one size");
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (size_t i = 0; i < words_.size(); ++i) for_each_bit(words_[i], [&](unsigned b) { visit(i * 64 + b); });
  }

  bool operator==(const BitSet&) const = default;

 private:
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

}  // namespace weft
