#pragma once

#include "base/ids.h"
#include "base/units.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace weft::sim {

enum class JobEnd : uint8_t { kDone, kFailed, kCancelled, kRejected, kUnfinished };

/// What became of one job in a simulated run.
struct JobOutcome {
  std::string id;  ///< of the trace
  std::string user;
  std::string queue;
  int32_t gpus = 0;       ///< whole GPUs asked for; 1 for a share
  int64_t gpu_milli = 0;  ///< asked for in all
  Instant submit;
  Instant start = kNever;  ///< first start; kNever: it never ran
  Instant end = kNever;
  Duration executed{0};  ///< wall time in which it ran, over all its starts
  Duration run_time{0};  ///< the truth of the trace
  Duration lost{0};      ///< wall time that was no progress: restarts, work after the last checkpoint
  int32_t preempts = 0;
  JobEnd how = JobEnd::kUnfinished;
  std::string why;  ///< of a job that was rejected or never ran: its verdict

  Duration jct() const { return end - submit; }
  Duration waited() const { return jct() - executed; }
};

/// A period in which a job ran on a node, for the timeline.
struct JobSpan {
  uint32_t job = 0;   ///< index into RunOutcome::jobs
  uint32_t node = 0;  ///< index into RunOutcome::nodes
  int32_t gpus = 0;   ///< there
  Instant from;
  Instant to;
};

/// The cluster at one instant, after everything that happened then.
struct RunSample {
  Instant at;
  int64_t used_gpu_milli = 0;     ///< allocated
  int64_t pending_gpu_milli = 0;  ///< asked for by jobs that wait
  uint32_t running = 0;           ///< jobs
  uint32_t pending = 0;
  /// Free but of no use for jobs such as came so far, see placement/fragmentation.h; NaN: not measured.
  double fragment_gpu_milli = std::numeric_limits<double>::quiet_NaN();
};

/// What the cluster was like, summed over the time from the first instant to the last: no sample is left out.
struct RunIntegrals {
  double seconds = 0;
  double used_gpu_seconds = 0;
  double pending_gpu_seconds = 0;  ///< asked for by jobs that waited
  double running_seconds = 0;      ///< of jobs
  double pending_seconds = 0;
};

/// Everything that one simulated run leaves for reports.
struct RunOutcome {
  std::string policy;  ///< as the command names it
  std::string placement;
  std::string trace;    ///< file
  std::string cluster;  ///< as the command names it
  std::string rules;    ///< "native", "tiresias", "muri"
  std::string past;     ///< what the policy has learnt from, in words; empty: nothing
  uint64_t seed = 0;
  std::vector<std::string> nodes;
  int64_t total_gpu_milli = 0;
  std::vector<JobOutcome> jobs;    ///< in order of submission
  std::vector<RunSample> samples;  ///< at most some thousands, thinned evenly by time while the run goes on
  RunIntegrals integrals;
  int64_t used_gpu_milli_max = 0;  ///< of all instants, kept or not
  uint32_t pending_max = 0;
  std::vector<JobSpan> spans;   ///< empty where not asked for
  double busy_gpu_seconds = 0;  ///< time x GPUs that jobs held
  uint64_t events = 0;
  uint64_t decisions = 0;
  uint64_t decision_hash = 0;
  double wall_seconds = 0;  ///< of the simulation, reading left out
  double read_seconds = 0;
};

}  // namespace weft::sim
