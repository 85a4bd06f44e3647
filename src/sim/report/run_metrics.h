#pragma once

#include "sim/simulation/outcome.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

// Measures of one simulated run. Times are in seconds here, as in every report.

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Whole seconds stay whole, which a product with 1e-9 would not keep.
double in_seconds(Duration duration);

/// How a measure is spread over jobs. NaN where there are none.
///
/// The value at q percent of n sorted values is the one at place floor(n * q / 100), counted from 0: the rule of the
/// published simulators. The median is that at 50, so that of an even number of values it is the upper one of the two
/// in the middle, never a value that no job had.
struct Distribution {
  uint64_t count = 0;
  double mean = kUnknown;
  double median = kUnknown;
  double p90 = kUnknown;
  double p95 = kUnknown;
  double p99 = kUnknown;
  double max = kUnknown;
};
Distribution distribution_of(std::vector<Duration> values);
Distribution distribution_of(std::vector<double> values);

/// Did it run, and end? Completion, waiting, slowdown and fairness are measured on such jobs alone.
bool has_ended(const JobOutcome& job);

/// Jobs shorter than this count as if they ran as long, or else a job of one second that waits a minute would outweigh
/// everything.
inline constexpr Duration kSlowdownBound = seconds(10);
/// max(1, JCT / max(run time, kSlowdownBound)): the bounded slowdown of Feitelson and Rudolph, "Metrics and
/// Benchmarking for Parallel Job Scheduling", JSSPP 1998. Requires: has_ended(job).
double bounded_slowdown(const JobOutcome& job);

/// Jain, Chiu and Hawe, DEC TR-301, 1984: (sum x)^2 / (n * sum x^2); 1 when all are equal, 1/n when one has it all.
/// NaN when there is nothing.
double jain_index(const std::vector<double>& shares);

/// Jobs that have something in common, or all of them.
struct RunGroup {
  std::string name;
  uint64_t jobs = 0;
  Distribution jct;             ///< from submission to end
  Distribution waited;          ///< part of it in which the job did not run
  Distribution slowdown;        ///< bounded_slowdown()
  double gpu_seconds = 0;       ///< allocated, whatever became of the job
  double lost_gpu_seconds = 0;  ///< part of it that was no progress
  int64_t preempts = 0;
};

/// Between whom a cluster is shared: the users, or the queues where the trace names fewer than two users.
enum class FairParties : uint8_t { kNone, kUsers, kQueues };

struct RunFairness {
  FairParties kind = FairParties::kNone;  ///< kNone: fewer than two of either; then only jain_jobs is known
  uint64_t parties = 0;
  /// Per job: its JCT over the JCT that it would have had if its party had been alone on 1/N of the GPUs (N: parties of
  /// the run), after Themis (Mahajan et al., NSDI 2020). Alone, the party's jobs would take the share in order of
  /// submission:
  ///   c_j = max(c_(j-1), submit_j) + gpus_j * run_time_j / share,   end_j = max(c_j, submit_j + run_time_j).
  /// In that order none could be done sooner, so the ratio does not flatter. Above 1: sharing cost this job time.
  Distribution finish_time_ratio;
  double share_above_one = kUnknown;  ///< of jobs, in 0 … 1
  /// Jain's index of 1 / bounded_slowdown(): over jobs, and over the parties' means of it.
  double jain_jobs = kUnknown;
  double jain_parties = kUnknown;
};

/// The cluster over time: means weighted by time, and peaks. Those of fragments are from the run's samples, which are
/// thinned in a long run: estimates. Shares are in 0 … 1.
struct RunOccupancy {
  double allocation_mean = kUnknown;  ///< of all GPUs
  double allocation_max = kUnknown;
  double fragment_mean = kUnknown;       ///< of all GPUs
  double fragment_free_mean = kUnknown;  ///< of the free ones, while some were free
  double pending_mean = kUnknown;        ///< jobs
  double pending_max = kUnknown;
  double pending_gpus_mean = kUnknown;
  double running_mean = kUnknown;  ///< jobs
};

struct RunMetrics {
  RunGroup all;
  uint64_t done = 0, failed = 0, cancelled = 0, rejected = 0, unfinished = 0;
  double makespan = kUnknown;  ///< from the first submission to the last end
  /// GPU time allocated, over that of all GPUs from the first submission to the last end (or, where jobs were still
  /// running when the simulation stopped, to the last sample).
  double utilization = kUnknown;
  RunOccupancy occupancy;
  RunFairness fairness;
  std::vector<RunGroup> by_size;   ///< 1, 2-4, 5-8, 9-16, 17-64, >64 GPUs; those that have jobs
  std::vector<RunGroup> by_queue;  ///< by falling GPU time; empty where the trace names none
  std::vector<RunGroup> by_user;   ///< the same, of users
  uint64_t queues_left_out = 0;    ///< of more than kGroupsMax
  uint64_t users_left_out = 0;
};

inline constexpr size_t kGroupsMax = 25;
inline constexpr size_t kSizeClasses = 6;
/// 0 … kSizeClasses - 1. A share of a GPU, or none, counts as one.
size_t size_class(int32_t gpus);
std::string_view size_class_name(size_t size_class);

/// Cost: O(jobs log jobs + samples); memory of some 40 bytes per job while it works.
RunMetrics measure(const RunOutcome& outcome);

}  // namespace weft::sim
