#pragma once

#include "base/rng.h"
#include "sim/generate/calibration.h"
#include "sim/trace/trace_job.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft::sim {

/// A job, as far as its burst does not say it.
struct PlannedJob {
  int64_t run_time_s = 0;
  TraceEnd end = TraceEnd::kNotTold;
};

/// Jobs that one user submits together: alike in size, and in run time but for those that fail on the way.
struct Burst {
  uint32_t class_index = 0;
  double intended_s = 0;  ///< the longest of them, or what they would have taken
  std::span<PlannedJob> jobs;
};

/// Makes bursts whose jobs, all together, follow a calibrated workload closely: not drawn one by one, where a trace of
/// 100,000 jobs with a heavy tail would miss its mean by several per cent, but block by block of up to 16,384 jobs.
///
/// In a block every class has its number of jobs (n = share x block, the fractions by systematic sampling), and their
/// run times are one from each n-th part of its law: the j-th is quantile((j + a random share) / n). In order of run
/// time these are cut into bursts of random lengths, so that jobs of a burst are neighbours. Jobs that fail come out of
/// the same law, but join a burst of longer jobs of their class: of the time r that they would have taken they had a
/// random share, 5 to 100 %. Then the bursts are shuffled.
///
/// Burst lengths (measured [P], see WorkloadProfile: 27 % of the jobs come alone, and some bursts have 30 and more):
/// short jobs of up to 8 GPUs come alone 4 times in 5, else as 1 + a number with a Pareto tail (x^-1.1), up to 64;
/// others come alone but for 1 time in 7, then as 2 to 4.
///
/// Memory: of one block.
class BurstPlanner {
 public:
  static constexpr uint64_t kBlockJobs = 16'384;

  BurstPlanner(std::span<const JobClass> classes, uint64_t seed) : classes_(classes), random_(seed) {}

  /// The next block, of `jobs` jobs. Requires: 0 < jobs <= kBlockJobs. What the last call gave is gone.
  std::span<const Burst> plan(uint64_t jobs);

 private:
  struct Placed {
    uint32_t burst = 0;
    PlannedJob job;
  };

  void count_jobs(uint64_t jobs);
  void plan_class(uint32_t class_index, uint64_t jobs);
  TraceEnd draw_end(const EndShares& ends);
  uint64_t draw_length(const JobClass& of);
  uint32_t new_burst(uint32_t class_index, double intended_s);
  void gather();

  std::span<const JobClass> classes_;
  Rng random_;
  std::vector<uint64_t> counts_;   ///< by class
  std::vector<PlannedJob> going_;  ///< of a class, those that do not fail, by run time
  std::vector<PlannedJob> failed_;
  std::vector<Burst> bursts_;
  std::vector<Placed> placed_;    ///< every job of the block, class by class
  std::vector<PlannedJob> jobs_;  ///< the same, burst by burst
  std::vector<size_t> ends_;      ///< of the bursts, in jobs_
};

}  // namespace weft::sim
