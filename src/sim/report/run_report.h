#pragma once

#include "sim/report/run_metrics.h"
#include "sim/report/run_picture.h"

#include <span>
#include <string>

namespace weft::sim {

/// What was run, and what it cost to find out.
struct RunFacts {
  std::string policy;
  std::string placement;
  std::string trace;
  std::string cluster;
  std::string rules;
  std::string past;  ///< what the policy has learnt from; empty: nothing
  uint64_t seed = 0;
  size_t nodes = 0;
  double gpus = 0;
  uint64_t events = 0;
  uint64_t decisions = 0;
  uint64_t decision_hash = 0;
  double wall_seconds = 0;
  double read_seconds = 0;
};

/// All that the reports tell of one run. Its size does not grow with the run: an outcome of a million jobs can go when
/// its report is made.
struct RunReport {
  RunFacts facts;
  RunMetrics metrics;
  RunPicture picture;
};

/// What each of `runs` on one page may show, so that the page stays below 2 MB.
PictureLimits picture_limits(size_t runs);

RunReport make_run_report(const RunOutcome& outcome, const PictureLimits& limits = {});

/// An object: the facts, then the measures as flat keys ("jobs", "avg_jct", "makespan", …), times in seconds and shares
/// in 0 … 1, then "by_size", "by_queue" and "by_user" as arrays with the same keys. What is not known is null.
std::string run_json(const RunReport& report);
/// {"runs": […]}, each as run_json() with "ratio_to_first": its measures over those of the first run of the same trace.
std::string comparison_json(std::span<const RunReport> reports);

/// What a terminal shows, at most 80 columns wide.
std::string run_text(const RunReport& report);
/// One table per trace, with ratios to its first run.
std::string comparison_text(std::span<const RunReport> reports);

/// One or several runs in one self-contained file.
std::string run_html(std::span<const RunReport> reports);

/// "10 nodes with 80 GPUs".
std::string cluster_text(const RunFacts& facts);

/// Name of a run among `reports`: its policy, with the placement and the rules where they tell runs apart.
std::string run_label(const RunReport& report, std::span<const RunReport> reports);

/// Name of its trace among `reports`: the file's name, or the whole path where another trace has that name too.
std::string trace_label(const RunReport& report, std::span<const RunReport> reports);

/// What comparisons compare: lower is better for all but the utilisation.
double ratio_to(double value, double first);

/// Runs of one trace stand together, in the order in which the traces first come.
std::vector<std::vector<const RunReport*>> by_trace(std::span<const RunReport> reports);

}  // namespace weft::sim
