#pragma once

#include "sim/report/page.h"
#include "sim/report/run_charts.h"

namespace weft::sim {

// Tables of a page, with times as people say them; what is best in a column is marked where there are several runs.

PageTable times_table(const RunReport& report);       ///< a row per measure, a column per percent
PageTable times_comparison(const NamedRuns& runs);    ///< a row per run, with ratios to the first
PageTable cluster_comparison(const NamedRuns& runs);  ///< use, queue, preemptions, fairness
PageTable seconds_table(const NamedRuns& runs);       ///< every time in seconds
PageTable facts_table(const NamedRuns& runs);         ///< what was run, and what it took

using GroupsOf = std::vector<RunGroup> RunMetrics::*;
PageTable groups_table(std::string_view heading, const std::vector<RunGroup>& groups);
/// Mean JCT of each group under each run.
PageTable groups_comparison(std::string_view heading, const NamedRuns& runs, GroupsOf groups);

}  // namespace weft::sim
