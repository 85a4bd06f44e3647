#pragma once

#include "base/units.h"

#include <cstdint>
#include <span>

namespace weft {

/// A number from 0 to 1 as an exact fraction. Requires, wherever it is used: 0 <= part <= whole <= kFactorWholeMax.
struct Factor {
  int64_t part = 0;
  int64_t whole = 1;
};

inline constexpr int64_t kFactorWholeMax = int64_t{1} << 62;

struct WeightedFactor {
  int64_t weight = 0;  ///< 0 to kFactorWeightMax
  Factor factor;
};

inline constexpr int64_t kFactorWeightMax = int64_t{1} << 40;
inline constexpr int64_t kMultifactorMax = (int64_t{1} << 32) - 1;

/// Slurm's multifactor priority: the sum of weight x factor, plus `adjustment` (the site's factor less the user's
/// nice), rounded down once at the end, and held in 1 ... kMultifactorMax. Larger goes first. Worked out with integers:
/// a sum that is whole comes out whole, where Slurm's floating point may fall one short of it.
/// Source: Slurm's priority/multifactor. Its factors are age, association, fairshare (FairTree), job size, partition,
/// QOS, and for each kind of resource the job's part of the partition's.
int64_t multifactor_priority(std::span<const WeightedFactor> terms, int64_t adjustment = 0);

/// How long the job has been ready to run, as part of max_age and at most 1. Times before that, such as a begin time or
/// a dependency that is not met, do not count as waiting. Requires: max_age > 0.
Factor age_factor(Duration waited, Duration max_age);

/// Of a partition, QOS or association: its priority as part of the largest. 0 when there is none larger than 0.
Factor ranked_factor(int64_t priority, int64_t largest);

struct JobSize {
  int64_t nodes = 0;        ///< at least so many
  int64_t nodes_total = 0;  ///< 1 to 2^21
  int64_t cpus = 0;         ///< 0: not known, then nodes count alone. CPUs in any unit, one for both; at most 2^40
  int64_t cpus_total = 0;
};

enum class JobSizeFavors : uint8_t { kLarge, kSmall };

/// The mean of the job's parts of all nodes and of all CPUs; where small jobs are favoured, 1 less that.
Factor job_size_factor(const JobSize& size, JobSizeFavors favors);

}  // namespace weft
