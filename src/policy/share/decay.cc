#include "policy/share/decay.h"

#include "base/check.h"

#include <array>

namespace weft {
namespace {

__extension__ using Wide = __int128;

constexpr int64_t product(int64_t a, int64_t b) { return static_cast<int64_t>(Wide{a} * b >> Decay::kBits); }

/// The square root of `part`, both in 2^-62, rounded down: bit by bit.
constexpr int64_t root_of(int64_t part) {
  int64_t root = 0;
  for (int64_t bit = Decay::kOne; bit > 0; bit >>= 1) {
    if (Wide{root + bit} * (root + bit) <= Wide{part} << Decay::kBits) root += bit;
  }
  return root;
}

/// Root i is 2^(-1/2), 2^(-1/4), 2^(-1/8), …
constexpr auto kRoots = [] {
  std::array<int64_t, Decay::kBits> roots{};
  int64_t last = Decay::kOne / 2;
  for (int64_t& root : roots) root = last = root_of(last);
  return roots;
}();

}  // namespace

int64_t Decay::of(int64_t amount) const { return static_cast<int64_t>((Wide{amount} * factor + kOne / 2) >> kBits); }

Decay half_life_decay(Duration elapsed, Duration half_life) {
  WEFT_CHECK(elapsed.ns >= 0 && half_life.ns > 0, "what was used in the future has not decayed yet");
  if (half_life >= kEndless) return {Decay::kOne};
  const int64_t halvings = elapsed.ns / half_life.ns;
  if (halvings > Decay::kBits) return {0};
  int64_t factor = Decay::kOne >> halvings;
  int64_t rest = elapsed.ns % half_life.ns;
  for (const int64_t root : kRoots) {
    if (rest == 0) break;
    rest *= 2;
    if (rest < half_life.ns) continue;
    rest -= half_life.ns;
    factor = product(factor, root);
  }
  return {factor};
}

Decay slurm_decay(int64_t elapsed_s, int64_t half_life_s) {
  WEFT_CHECK(elapsed_s >= 0 && half_life_s > 0, "what was used in the future has not decayed yet");
  int64_t factor = Decay::kOne;
  int64_t power = Decay::kOne - static_cast<int64_t>(Wide{Decay::kOne} * 693 / (Wide{1000} * half_life_s));
  for (; elapsed_s > 0; elapsed_s /= 2) {
    if (elapsed_s % 2 != 0) factor = product(factor, power);
    power = product(power, power);
  }
  return {factor};
}

}  // namespace weft
