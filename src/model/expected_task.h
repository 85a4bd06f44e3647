#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// A kind of task that is expected to come, by names: for fragmentation and the score "fgd". See
/// placement/node_score.h.
struct ExpectedTask {
  int64_t cpu_milli = 0;
  int32_t gpu_count = 0;
  int32_t gpu_milli = 0;
  std::vector<std::string> models;
  bool operator==(const ExpectedTask&) const = default;
};

}  // namespace weft
