#pragma once

#include "sim/saturation/campaign.h"
#include "sim/saturation/recorded.h"

#include <optional>
#include <string>

namespace weft::sim {

/// How far the means of a cell may be from the recorded ones, in points.
inline constexpr double kAllocationTolerance = 0.3;     ///< at 100 and 130 % arrived
inline constexpr double kFragmentRatioTolerance = 1.0;  ///< at 50, 70 and 90 % arrived

/// A policy that chooses at random has other luck than the recorded runs had: fewer seeds than this prove nothing
/// against it.
inline constexpr size_t kChanceSeedsMin = 10;

/// A cell beside what was recorded for it: means over the same seeds, and how far apart ours are from them at most.
struct Comparison {
  std::array<SaturationColumn, kPercents> recorded{};
  double allocation_off = 0;
  double fragment_ratio_off = 0;
  bool is_random = false;  ///< of the policy
  size_t seeds = 0;        ///< that were run
  /// What is not within tolerance may well be chance.
  bool is_chance() const { return is_random && seeds < kChanceSeedsMin; }
  bool is_within() const {
    return allocation_off <= kAllocationTolerance && fragment_ratio_off <= kFragmentRatioTolerance;
  }
};

/// What the reports are made of; all parts outlive them.
struct SaturationReport {
  const CampaignPlan& plan;
  const CampaignResult& result;
  const RecordedResults* recorded = nullptr;  ///< null: nothing to compare with
};

/// Nothing where the workload or the policy was not recorded.
std::optional<Comparison> compare(const SaturationReport& report, const CampaignCell& cell);

enum class Detail : uint8_t { kSummary, kSeeds };

/// Two tables per workload, allocation and fragments: mean and deviation over the seeds (and each seed), beside the
/// recorded means with the difference and a verdict. No line is longer than 80 columns, names of workloads apart.
std::string text_report(const SaturationReport& report, Detail detail);
/// One row per workload, policy, seed and percent.
std::string csv_report(const SaturationReport& report);
/// Everything; NaN and what is absent is null.
std::string json_report(const SaturationReport& report);
/// Charts and tables in one self-contained file.
std::string html_report(const SaturationReport& report);

}  // namespace weft::sim
