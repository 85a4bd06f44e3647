#pragma once

#include "sim/report/run_report.h"

#include <string>
#include <vector>

namespace weft::sim {

/// A run with the name that it has on a page.
struct NamedRun {
  std::string name;
  const RunReport* report = nullptr;
};
/// Runs of one trace, at least one.
using NamedRuns = std::vector<NamedRun>;

// Figures of a page. Where there is nothing to draw they are empty text.

/// GPUs in use and the queue over time: of one run together, of several one strip each.
std::string use_charts(const NamedRuns& runs);
/// How many of the jobs were done, and had waited, after what time.
std::string cdf_charts(const NamedRuns& runs);
/// Mean and p99 JCT, and mean waiting, as bars.
std::string comparison_bars(const NamedRuns& runs);
/// Which jobs were on which node when.
std::string node_chart(const RunReport& report);

}  // namespace weft::sim
