#pragma once

#include "sim/generate/log_normal.h"
#include "sim/generate/profile.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weft::sim {

/// Jobs of one size and kind: a class.
struct JobClass {
  int32_t gpu_milli = 0;
  uint8_t is_long = 0;
  uint8_t is_under_way = 0;  ///< they began earlier: of the run time that is drawn a random share is left
  double share = 0;          ///< of all jobs
  LogNormal run_time_s{LogNormal::Shape{}};
  EndShares ends;  ///< chances of a job of this class
  double gpus() const { return gpu_milli / 1000.0; }
};

/// A profile, solved for what it leaves open.
///
/// Sizes. With weights q of the sizes g beside the commonest g0, their shares are s·q with
///   s = (mean GPUs - g0) / Σ q (g - g0),
/// and that of g0 is what is left: so the mean is as published.
///
/// Run times. A share L of the jobs is long, the others are short; each kind has a log-normal law that ends at the
/// longest published run time. Their two scales follow from
///   L·mean(long) + (1 - L)·mean(short) = mean run time,
///   L·long.share_below(m) + (1 - L)·short.share_below(m) = 1/2,  m: median run time.
///
/// Large jobs are more often long: of size g the share that is long is w(g) = 1 / (1 + e^-a g^-b), with a from
/// Σ p(g) w(g) = L and b from mean GPU-time = Σ p(g) g (w mean(long) + (1 - w) mean(short)).
///
/// Ends. The chances that a short and a long job fails follow from two linear equations: the published share of failed
/// jobs, and that of the GPU-time that went into them. The same of cancelled ones. As large jobs are more often long,
/// they fail and are cancelled by size, too.
struct CalibratedWorkload {
  std::vector<JobClass> classes;
  // Of what comes, in expectation; the published figures where nothing is left out.
  double run_time_mean_s = 0;
  double gpus_mean = 0;
  double gpu_time_mean_s = 0;  ///< GPU-seconds of a job
  double left_out = 0;         ///< share of the profile's jobs whose size does not fit
};

/// `fits` says of a size in milli-GPUs whether it may come; the shares of others go to those that may, in proportion.
/// Requires: the commonest size fits.
CalibratedWorkload calibrate(const WorkloadProfile& profile, const std::function<bool(int32_t)>& fits);

/// The classes of the jobs that run at one moment, where jobs of these classes come at a steady rate and start at once.
/// (Of each class as many as come in its mean run time, by Little's law; their lengths by LogNormal::under_way().)
std::vector<JobClass> under_way(const CalibratedWorkload& workload);

}  // namespace weft::sim
