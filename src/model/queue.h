#pragma once

#include "base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Amounts that count against queues. GPUs in units of 1/kGpuUnits; kUnlimited where nothing is set.
struct ResourceVector {
  int64_t gpu_units = 0;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  bool operator==(const ResourceVector&) const = default;

  constexpr ResourceVector operator+(const ResourceVector& o) const {
    return {gpu_units + o.gpu_units, cpu_milli + o.cpu_milli, memory_bytes + o.memory_bytes};
  }
  constexpr ResourceVector operator-(const ResourceVector& o) const {
    return {gpu_units - o.gpu_units, cpu_milli - o.cpu_milli, memory_bytes - o.memory_bytes};
  }
  constexpr ResourceVector operator*(int64_t n) const { return {gpu_units * n, cpu_milli * n, memory_bytes * n}; }
  /// Every component at most the other's.
  constexpr bool fits_in(const ResourceVector& o) const {
    return gpu_units <= o.gpu_units && cpu_milli <= o.cpu_milli && memory_bytes <= o.memory_bytes;
  }
};

inline constexpr ResourceVector kUnlimitedResources{kUnlimited, kUnlimited, kUnlimited};

/// A team's place in the tree. A queue with children takes no jobs.
struct QueueSpec {
  std::string name;
  std::string parent;                                   ///< empty: the root
  ResourceVector guarantee{0, kUnlimited, kUnlimited};  ///< an unlimited guarantee lets jobs in but claims nothing
  ResourceVector limit = kUnlimitedResources;
  int64_t weight_milli = 1000;  ///< of the surplus; 0: no claim on it
  int32_t priority = 0;         ///< larger goes first
  Duration min_runtime_before_reclaim{0};
  Duration min_runtime_before_preempt{0};
  double past_usage_gpu_hours = 0;
  std::vector<std::string> submitters;  ///< users and @groups; empty: everybody
  int32_t running_jobs_max = -1;        ///< -1: no bound
  bool operator==(const QueueSpec&) const = default;
};

}  // namespace weft
