#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

/// The finaliser of splitmix64: a bijection that mixes all 64 bits. The same on every machine and compiler.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A running 64-bit hash of integers and text; order matters. Not for untrusted keys.
class RunningHash {
 public:
  constexpr void add(uint64_t value) { state_ = mix64(state_ ^ value) + 0x2545f4914f6cdd1dULL; }
  constexpr void add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    for (const char c : text) add(static_cast<uint64_t>(static_cast<unsigned char>(c)));
  }
  constexpr uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x57656674ULL;
};

}  // namespace weft
