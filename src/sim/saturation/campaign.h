#pragma once

#include "base/result.h"
#include "sim/saturation/saturation.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::sim {

/// A list of pods with the name that results call it by.
struct Workload {
  std::string name;  ///< the file's name without its folder and ending
  std::vector<OpenbPod> pods;
};

/// What a campaign runs: every workload under every policy with every seed.
struct CampaignPlan {
  std::vector<OpenbNode> nodes;
  std::vector<Workload> workloads;
  std::vector<std::string> policies;
  std::vector<int64_t> seeds;
  double ratio = kInflationRatio;
  unsigned threads = 1;  ///< runs at one time; results do not depend on it
};

/// Mean and spread over the seeds of one workload under one policy.
struct SaturationSummary {
  std::array<SaturationColumn, kPercents> mean{};       ///< samples: the smallest of the seeds'
  std::array<SaturationColumn, kPercents> deviation{};  ///< of the sample (n - 1); 0 with one seed
  std::array<SaturationColumn, kPercents> low{};
  std::array<SaturationColumn, kPercents> high{};
  double seconds = 0;          ///< mean wall time of a run
  double pods_per_second = 0;  ///< arrivals of all runs over the sum of their wall times
};

struct CampaignCell {
  size_t workload = 0;  ///< indices into the plan
  size_t policy = 0;
  std::vector<SaturationRun> runs;  ///< by seed, in the plan's order
  SaturationSummary summary;
};

/// By workload, then by policy, in the plan's order.
struct CampaignResult {
  std::vector<CampaignCell> cells;
};

/// Called after every run with how many are done; from any of the threads, one call at a time.
using ProgressReport = std::function<void(size_t done, size_t total)>;

/// Errors: the first, in the plan's order, that a run meets.
Result<CampaignResult> run_campaign(const CampaignPlan& plan, const ProgressReport& report);

SaturationSummary summarise(const std::vector<SaturationRun>& runs);

}  // namespace weft::sim
