#pragma once

#include "base/ids.h"
#include "base/units.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

enum class TimerKind : uint8_t {
  kBegin,      ///< the job may start from now on
  kStale,      ///< the job's gang has been below its minimum for long enough
  kTimeLimit,  ///< the job has run for as long as it may
};

struct Timer {
  Instant due;
  JobId job = kNone<JobId>;
  TimerKind kind = TimerKind::kBegin;
  auto operator<=>(const Timer&) const = default;  // a total order: due, job, kind
};

/// What will happen by itself. A timer is never taken back: whoever reads it asks the job whether it still means
/// something. add and pop O(log n).
class Timers {
 public:
  void add(const Timer& timer) {
    heap_.push_back(timer);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  bool is_empty() const { return heap_.empty(); }
  const Timer& first() const { return heap_.front(); }
  void pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }

 private:
  std::vector<Timer> heap_;
};

}  // namespace weft
