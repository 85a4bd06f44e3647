#include "sim/generate/trace_totals.h"

#include "sim/simulation/job_mapping.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft::sim {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int kFineBits = 11;  ///< of a run time in seconds, what a bucket keeps

/// Buckets of one second up to 2^11, then of ever twice as many.
size_t bucket_of(uint64_t seconds) {
  const int shift = std::max(static_cast<int>(std::bit_width(seconds)) - kFineBits, 0);
  return (static_cast<size_t>(shift) << (kFineBits - 1)) + (seconds >> shift);
}

/// The middle of a bucket.
double seconds_of(size_t bucket) {
  constexpr size_t kHalf = size_t{1} << (kFineBits - 1);
  if (bucket < 2 * kHalf) return static_cast<double>(bucket);
  const size_t shift = bucket / kHalf - 1;
  const size_t fine = bucket - shift * kHalf;
  return std::ldexp(static_cast<double>(fine) + 0.5, static_cast<int>(shift)) - 0.5;
}

}  // namespace

void TraceTotals::add(const TraceJob& job) {
  if (jobs_++ == 0) first_ = last_ = job.submit;
  first_ = std::min(first_, job.submit);
  last_ = std::max(last_, job.submit);
  const double run_time_s = job.run_time.seconds();
  const double gpus = static_cast<double>(gpu_milli_of(job)) / 1000;
  run_time_s_ += run_time_s;
  run_time_max_ = std::max(run_time_max_, job.run_time);
  gpus_ += gpus;
  gpu_seconds_ += gpus * run_time_s;
  ++ended_[static_cast<size_t>(job.end)];
  ended_gpu_seconds_[static_cast<size_t>(job.end)] += gpus * run_time_s;
  const size_t bucket = bucket_of(static_cast<uint64_t>(std::max(job.run_time.ns, int64_t{0}) / kSecond));
  if (bucket >= by_run_time_.size()) by_run_time_.resize(bucket + 1);
  ++by_run_time_[bucket];
}

double TraceTotals::run_time_mean_s() const { return jobs_ == 0 ? 0 : run_time_s_ / static_cast<double>(jobs_); }

double TraceTotals::gpus_mean() const { return jobs_ == 0 ? 0 : gpus_ / static_cast<double>(jobs_); }

double TraceTotals::run_time_median_s() const {
  uint64_t below = 0;
  for (size_t bucket = 0; bucket < by_run_time_.size(); ++bucket) {
    below += by_run_time_[bucket];
    if (below * 2 >= jobs_) return seconds_of(bucket);
  }
  return 0;
}

}  // namespace weft::sim
