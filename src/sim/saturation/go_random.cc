#include "sim/saturation/go_random.h"

#include <bit>

namespace weft::sim {

/// The state that seeds are mixed with.
struct GoRandomTable {
  static constexpr size_t kLength = GoRandom::kLength;
  static constexpr size_t kTap = GoRandom::kTap;
  static constexpr uint64_t kSteps = 7'800'000'000'000;
  static constexpr int32_t kModulus = 2'147'483'647;  // 2^31 - 1
  using State = GoRandom::State;

  /// The generator that spreads a seed: x * 48271 mod 2^31 - 1.
  static int32_t step(int32_t x) { return static_cast<int32_t>(int64_t{x} * 48271 % kModulus); }

  struct Shifts {
    unsigned high, middle;
  };
  /// Three numbers of the small generator make one of the state; the first twenty are thrown away.
  static State spread(int32_t x, Shifts shifts) {
    State state;
    for (int skip = 0; skip < 20; ++skip) x = step(x);
    for (uint64_t& word : state) {
      x = step(x);
      word = static_cast<uint64_t>(x) << shifts.high;
      x = step(x);
      word ^= static_cast<uint64_t>(x) << shifts.middle;
      x = step(x);
      word ^= static_cast<uint64_t>(x);
    }
    return state;
  }

  /// A polynomial of degree below 607 over the integers mod 2^64; a coefficient weighs one of 607 consecutive numbers.
  using Polynomial = State;

  /// Brings a product down again by x^607 = x^334 + 1.
  static Polynomial reduce(std::array<uint64_t, 2 * kLength>& product) {
    for (size_t i = product.size(); i-- > kLength;) {
      product[i - kLength] += product[i];
      product[i - kTap] += product[i];
    }
    Polynomial reduced;
    for (size_t i = 0; i < kLength; ++i) reduced[i] = product[i];
    return reduced;
  }
  static Polynomial squared(const Polynomial& p) {
    std::array<uint64_t, 2 * kLength> product{};
    for (size_t i = 0; i < kLength; ++i) {
      if (p[i] == 0) continue;
      product[2 * i] += p[i] * p[i];
      for (size_t j = i + 1; j < kLength; ++j) product[i + j] += 2 * p[i] * p[j];
    }
    return reduce(product);
  }
  static Polynomial times_x(const Polynomial& p) {
    std::array<uint64_t, 2 * kLength> product{};
    for (size_t i = 0; i < kLength; ++i) product[i + 1] = p[i];
    return reduce(product);
  }

  static State after_all_steps() {
    const State start = spread(1, {.high = 20, .middle = 10});
    State oldest_first;  // x[-607] … x[-1]: the state is filled downwards from where the first number goes
    for (size_t i = 0; i < kLength; ++i) oldest_first[i] = start[(kLength - kTap - 1 + kLength - i) % kLength];
    Polynomial power{1};
    for (int bit = std::bit_width(kSteps) - 1; bit >= 0; --bit) {
      power = squared(power);
      if (((kSteps >> bit) & 1U) != 0) power = times_x(power);
    }
    State end;
    for (size_t k = 0; k < kLength; ++k) {  // number kSteps - 607 + k, and the place where it was put
      uint64_t number = 0;
      for (size_t i = 0; i < kLength; ++i) number += power[i] * oldest_first[i];
      const size_t turn = static_cast<size_t>((kSteps - kLength + k) % kLength);
      end[(kLength - kTap - 1 + kLength - turn) % kLength] = number;
      power = times_x(power);
    }
    return end;
  }

  static const State& mixed_in() {
    static const State kState = after_all_steps();
    return kState;
  }
};

GoRandom::GoRandom(int64_t seed) {
  int64_t start = seed % GoRandomTable::kModulus;
  if (start < 0) start += GoRandomTable::kModulus;
  if (start == 0) start = 89'482'311;  // zero would stay zero
  state_ = GoRandomTable::spread(static_cast<int32_t>(start), {.high = 40, .middle = 20});
  const State& mixed_in = GoRandomTable::mixed_in();
  for (size_t i = 0; i < kLength; ++i) state_[i] ^= mixed_in[i];
}

uint64_t GoRandom::next64() {
  tap_ = (tap_ + kLength - 1) % kLength;
  feed_ = (feed_ + kLength - 1) % kLength;
  state_[feed_] += state_[tap_];
  return state_[feed_];
}

int64_t GoRandom::next63() { return static_cast<int64_t>(next64() & 0x7fff'ffff'ffff'ffffULL); }

int32_t GoRandom::below(int32_t bound) {
  const auto draw = [this] { return static_cast<uint32_t>(next63() >> 32); };  // 31 bits
  const auto b = static_cast<uint32_t>(bound);
  if ((b & (b - 1)) == 0) return static_cast<int32_t>(draw() & (b - 1));
  const uint32_t last = (1U << 31) - 1 - (1U << 31) % b;
  uint32_t value = draw();
  while (value > last) value = draw();
  return static_cast<int32_t>(value % b);
}

uint32_t GoRandom::below_by_product(uint32_t bound) {
  const auto product = [&] { return (static_cast<uint64_t>(next63()) >> 31 & 0xffff'ffffULL) * bound; };
  uint64_t p = product();
  if (static_cast<uint32_t>(p) < bound) {
    const uint32_t favoured = (0 - bound) % bound;
    while (static_cast<uint32_t>(p) < favoured) p = product();
  }
  return static_cast<uint32_t>(p >> 32);
}

std::vector<int32_t> GoRandom::permutation(int32_t n) {
  std::vector<int32_t> order(static_cast<size_t>(n));
  for (int32_t i = 0; i < n; ++i) {
    const int32_t j = below(i + 1);
    order[static_cast<size_t>(i)] = order[static_cast<size_t>(j)];
    order[static_cast<size_t>(j)] = i;
  }
  return order;
}

}  // namespace weft::sim
