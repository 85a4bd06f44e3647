#pragma once

#include "base/result.h"
#include "sim/saturation/saturation.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// One row of the published results: one workload, policy and seed. NaN where a column has nothing.
struct RecordedRow {
  std::string workload;  ///< "openb_pod_list_default"
  std::string policy;    ///< our name of it: "fgd"
  int64_t seed = 0;
  std::array<double, kPercents> values{};
};

/// The published results of the protocol, in percent as SaturationColumn has them.
struct RecordedResults {
  std::vector<RecordedRow> allocation;
  std::vector<RecordedRow> fragment_ratio;
  std::vector<RecordedRow> fragment_amount;
};

/// The files of a folder of published results.
inline constexpr std::array kRecordedFiles{"recorded_allocation.csv", "recorded_frag_ratio.csv",
                                           "recorded_frag_amount.csv"};

/// Reads kRecordedFiles from a folder: columns workload,
/// sc_policy, seed, then one per percent by number; tune and total_gpus are passed over. Errors: a file that is missing
/// or malformed (file:line:column).
Result<RecordedResults> read_recorded(const std::string& folder);

/// "06-FGD" is our "fgd", "03-GpuClustering" our "clustering".
std::string policy_of_recorded(std::string_view name);

/// The mean over the seeds, or, when some of them were not recorded, over all that were. NaN in each column without a
/// value; nothing when the workload or the policy was not recorded.
std::optional<std::array<double, kPercents>> recorded_mean(const std::vector<RecordedRow>& rows,
                                                           std::string_view workload, std::string_view policy,
                                                           const std::vector<int64_t>& seeds);

}  // namespace weft::sim
