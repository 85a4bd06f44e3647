#pragma once

#include "base/units.h"
#include "policy/job_order.h"

#include <cstdint>
#include <limits>

namespace weft {

/// Time x GPUs, in nanoseconds of one GPU, rounded down and held at the largest number when it is more. A job without
/// GPUs counts as one.
inline int64_t gpu_time(Duration time, const JobKey& key) {
  __extension__ using Wide = __int128;
  const int64_t gpu_milli = key.gpu_milli > 0 ? key.gpu_milli : 1000;
  int64_t narrow = 0;
  if (!__builtin_mul_overflow(time.ns, gpu_milli, &narrow)) return narrow / 1000;  // the usual case, and much faster
  const Wide product = static_cast<Wide>(time.ns) * gpu_milli / 1000;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return product > kMost ? kMost : static_cast<int64_t>(product);
}

}  // namespace weft
