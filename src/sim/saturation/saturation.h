#pragma once

#include "base/result.h"
#include "model/view.h"
#include "sim/saturation/openb.h"
#include "sim/saturation/protocol.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::sim {

/// Percent of the cluster's GPUs that have been asked for, 0 … 130: the columns of the published results.
inline constexpr size_t kPercents = 131;

/// Means over the moments (one after every pod) at which what has arrived rounds to a percent. In percent: of all GPUs
/// (allocation, amount) or of the free ones (ratio). See placement/fragmentation.h for what a fragment is.
struct SaturationColumn {
  double allocation = 0;
  double fragment_ratio = 0;
  double fragment_amount = 0;
  uint32_t samples = 0;  ///< 0: nothing fell on this percent, so all is as it was before
};

/// One seed under one policy.
struct SaturationRun {
  int64_t seed = 0;
  size_t arrived = 0;
  size_t placed = 0;
  std::array<SaturationColumn, kPercents> columns{};
  FragmentationView end;  ///< when everything has arrived
  double seconds = 0;     ///< wall time of the whole run, the cluster's arrival included
  uint64_t decision_hash = 0;
};

struct SaturationInput {
  std::vector<OpenbNode> nodes;  ///< sorted by name
  std::vector<OpenbPod> pods;    ///< sorted by name
};

struct SaturationOptions {
  std::string policy;  ///< a node score of the registry
  int64_t seed = 42;
  double ratio = kInflationRatio;
};

/// Where each arrival went: the place of its node in Arrivals::node_order, or -1. For tests.
using PlacementTrace = std::vector<int32_t>;

/// Runs the protocol (sim/saturation/protocol.h) through the scheduling core: nodes are added, each pod is submitted as
/// a job, and what the core holds and starts is answered at once. Errors: of make_arrivals(); an unknown policy; a node
/// that the core does not take. One thread; runs do not share anything.
Result<SaturationRun> saturate(const SaturationInput& input, const SaturationOptions& options,
                               PlacementTrace* trace = nullptr);

}  // namespace weft::sim
