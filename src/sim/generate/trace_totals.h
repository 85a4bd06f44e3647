#pragma once

#include "sim/trace/trace_job.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weft::sim {

/// What a trace comes to, counted while it goes by, in memory that does not grow.
class TraceTotals {
 public:
  void add(const TraceJob& job);

  uint64_t jobs() const { return jobs_; }
  Duration span() const { return last_ - first_; }  ///< between the first and the last submission
  double run_time_mean_s() const;
  /// To 1/2,048 of its value: whole seconds up to 2,048 s are exact.
  double run_time_median_s() const;
  Duration run_time_max() const { return run_time_max_; }
  double gpus_mean() const;
  double gpu_seconds() const { return gpu_seconds_; }
  uint64_t ended(TraceEnd how) const { return ended_[static_cast<size_t>(how)]; }
  /// GPU-seconds of the jobs that ended so.
  double gpu_seconds(TraceEnd how) const { return ended_gpu_seconds_[static_cast<size_t>(how)]; }

 private:
  uint64_t jobs_ = 0;
  Instant first_;
  Instant last_;
  double run_time_s_ = 0;
  Duration run_time_max_{0};
  double gpus_ = 0;
  double gpu_seconds_ = 0;
  std::array<uint64_t, 4> ended_{};
  std::array<double, 4> ended_gpu_seconds_{};
  std::vector<uint64_t> by_run_time_;  ///< jobs, by bucket of their run time
};

}  // namespace weft::sim
