#pragma once

#include "base/result.h"
#include "base/units.h"
#include "sim/simulation/plan.h"
#include "sim/trace/trace_reader.h"

#include <cstdint>
#include <vector>

namespace weft::sim {

/// How much service (run time x GPUs) jobs of the past took, as a distribution in bounded memory: all of them up to
/// kSamplesMax; beyond, a histogram whose buckets are 0.1 % wide, of which as many quantiles are given. Does not depend
/// on the order in which they come.
/// Cost: at most 2 MB; O(1) an addition.
class ServiceHistory {
 public:
  static constexpr size_t kSamplesMax = 100'000;

  void add(Duration service);
  uint64_t count() const { return count_; }
  /// Sorted.
  std::vector<Duration> samples() const;

 private:
  __extension__ using Sum = __int128;  // exact in any order
  struct Bucket {
    Sum sum = 0;
    uint64_t count = 0;
  };
  void put(Duration service);

  uint64_t count_ = 0;
  std::vector<Duration> all_;  ///< until there are too many
  std::vector<Bucket> buckets_;
};

/// What a run time and a number of GPUs make of service; a job without GPUs counts as one, as in the orders.
Duration service_of(Duration run_time, int64_t gpu_milli);

/// Reads a trace to its end. `rules` say what a run time is. Errors: the trace's.
Result<ServiceHistory> read_history(TraceReader& trace, Rules rules);

}  // namespace weft::sim
