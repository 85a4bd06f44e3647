#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weft::sim {

enum class Weekday : uint8_t { kMonday, kTuesday, kWednesday, kThursday, kFriday, kSaturday, kSunday };

/// How busy the hours of a day and the days of a week are, relative to each other: an hour's weight is the product of
/// the two. All above 0.
struct Week {
  std::array<double, 24> hours{};
  std::array<double, 7> days{};  ///< from Monday
};

/// How many of the jobs ask for so many GPUs, relative to the others of the list.
struct SizeWeight {
  int32_t gpu_milli = 0;
  double weight = 0;
};

/// Parts of a whole by how jobs ended; what is left was done.
struct EndShares {
  double failed = 0;
  double cancelled = 0;
};

/// A workload as a source has published it, and the shapes that we lend it. What is generated has the published
/// figures; the shapes say how it comes by them.
///
/// Sources. [A] The summary file of the Acme traces (github.com/InternLM/AcmeTrace, data/cluster_summary.csv,
/// CC-BY-4.0), which has the figures of the older traces as well: GPU jobs, mean, median and longest run time, mean
/// GPUs, how jobs ended, and the GPU-time by how they ended, of which the mean GPU-time of a job follows. [P] Measured
/// from the reduced copy of the Philly trace (github.com/msr-fiddle/philly-traces, CC-BY-4.0, as published with Sia):
/// sizes, hours and days, sizes of teams, bursts. [M] "MLaaS in the Wild" (NSDI'22): 5 % of the users submit 77 % of
/// the work. [H] The Helios paper (SC'21): few submissions at night, fewer at noon and in the early evening; and the
/// length of its trace.
struct WorkloadProfile {
  std::string_view name;
  std::string_view title;  ///< what it is like, for people

  double run_time_mean_s = 0;
  double run_time_median_s = 0;
  double run_time_max_s = 0;  ///< no job is longer: the law of run times is cut there
  double gpus_mean = 0;
  double gpu_time_mean_s = 0;  ///< GPU-seconds of a job; 0: not published, and size and run time are independent
  EndShares ends_of_jobs;      ///< by number
  EndShares ends_of_gpu_time;  ///< by GPU-time
  double jobs_per_hour = 0;    ///< its GPU jobs over its length
  uint8_t is_made_up = 0;      ///< no source: the figures above are ours

  /// Most jobs are short; `long_share` of them are long. Each kind has a log-normal law of this width (of the natural
  /// logarithm).
  double long_share = 0;
  double short_sigma = 0;
  double long_sigma = 0;
  /// The commonest size, and the others relative to each other; the share of the commonest closes the mean.
  int32_t common_gpu_milli = 1000;
  std::span<const SizeWeight> other_sizes;
  Week week;
  uint32_t users = 0;
  uint32_t queues = 0;
};

/// All there are, `default` first.
std::span<const WorkloadProfile> workload_profiles();
/// Null: there is none of this name.
const WorkloadProfile* find_profile(std::string_view name);
std::vector<std::string_view> profile_names();

}  // namespace weft::sim
