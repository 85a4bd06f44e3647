#pragma once

#include "sim/simulation/outcome.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::sim {

// What the charts of a run show, thinned so that a page stays small however long the run was. Times are in seconds
// since the first submission.

/// How much of each there may be; a page of many runs shows less of each.
struct PictureLimits {
  size_t steps = 1000;
  size_t cdf_points = 400;
  size_t nodes = 64;
  size_t bars = 4000;
};

/// The cluster from `at` to the next step. The last one ends the picture.
struct UseStep {
  double at = 0;
  double used_gpus = 0;
  double pending_gpus = 0;  ///< asked for by jobs that wait
  double pending = 0;       ///< jobs
  double running = 0;
};

struct CdfPoint {
  double seconds = 0;
  double share = 0;  ///< of the jobs, in 0 … 1: this many took at most that long
};

/// A job on a node. A node is as many lanes high as it ever had GPUs in use at one time; a job whose lanes are not side
/// by side has several bars.
struct NodeBar {
  uint32_t row = 0;  ///< index into NodeTimeline::rows
  int32_t lane = 0;
  int32_t lanes = 0;
  double from = 0;
  double to = 0;
  uint8_t size_class = 0;  ///< of the job, see size_class()
};

struct NodeRow {
  std::string name;
  int32_t lanes = 0;
};

struct NodeTimeline {
  std::vector<NodeRow> rows;  ///< nodes, evenly chosen where there are too many
  std::vector<NodeBar> bars;  ///< the largest, by GPUs times time
  size_t nodes = 0;           ///< of the cluster
  size_t periods = 0;         ///< in which a job was on one of the shown nodes
  size_t periods_left_out = 0;
  double left_out_share = 0;  ///< of the GPU time on the shown nodes, in 0 … 1
};

struct RunPicture {
  double length = 0;  ///< from the first submission to the last end or sample
  std::vector<UseStep> steps;
  double step_seconds = 0;  ///< above 0: steps are means over as long; 0: they are the samples themselves
  std::vector<CdfPoint> jct;
  std::vector<CdfPoint> waited;
  NodeTimeline timeline;  ///< without rows where the outcome has no spans
};

/// Cost: O(jobs log jobs + samples + spans log spans).
RunPicture draw(const RunOutcome& outcome, const PictureLimits& limits);

}  // namespace weft::sim
