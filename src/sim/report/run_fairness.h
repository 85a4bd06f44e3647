#pragma once

#include "sim/report/run_metrics.h"

namespace weft::sim {

/// See RunFairness for what is measured. Cost: O(jobs log jobs).
RunFairness measure_fairness(const RunOutcome& outcome);

}  // namespace weft::sim
