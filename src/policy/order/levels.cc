#include "policy/order/levels.h"

namespace weft {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
__extension__ using Wide = __int128;

int64_t ceil_divide(Wide a, Wide b) { return static_cast<int64_t>((a + b - 1) / b); }

}  // namespace

bool LevelOrder::sinks(const JobKey& key) const {
  const auto level = static_cast<size_t>(key.level);
  return level < limits_.size() && service(key) >= limits_[level].ns;
}

/// A share of a GPU is served in parts of nanoseconds, which rounding may carry over the limit a moment early.
bool LevelOrder::is_steady_until_look(const JobKey& key) const {
  return looks_ == LevelLooks::kExact && pace_milli(key) % 1000 == 0;
}

Instant LevelOrder::next_look(const JobKey& key, Instant now) const {
  const auto level = static_cast<size_t>(key.level);
  if (level >= limits_.size()) return kNever;
  const Wide pace = pace_milli(key);
  const Wide left = static_cast<Wide>(limits_[level].ns) - service(key);
  int64_t wait = 0;
  switch (looks_) {
    case LevelLooks::kExact: wait = left > 0 ? ceil_divide(left * 1000, pace) : 0; break;
    case LevelLooks::kFloorOfEach: {
      const int64_t by_time = (limits_[level] - key.executed).ns;  // time where time x GPUs was meant: copied
      const auto seconds = static_cast<int64_t>(static_cast<Wide>(by_time) * 1000 / pace / kSecond);
      wait = by_time > 0 ? seconds * kSecond : -1;
      break;
    }
    case LevelLooks::kCeilAtStart: wait = left > 0 ? ceil_divide(left * 1000, pace * kSecond) * kSecond : 0; break;
  }
  return wait > 0 ? now + Duration{wait} : kNever;
}

}  // namespace weft
