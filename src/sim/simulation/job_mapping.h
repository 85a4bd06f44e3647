#pragma once

#include "base/result.h"
#include "model/job.h"
#include "model/queue.h"
#include "sim/simulation/plan.h"
#include "sim/trace/trace_job.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// Turns rows of traces into jobs for the core, by the layout of a plan.
///
/// A job that asks for a number of GPUs (TraceJob::is_gpu_count) becomes single tasks of one GPU each (kSingleGpus:
/// CPUs and memory are left out, only GPUs count), or as few tasks as nodes can hold: one, or whole nodes and a rest.
/// Other jobs keep their tasks; with kSingleGpus their whole GPUs are taken apart as well.
///
/// Where the cluster has queues, a job goes to the one of its name (TraceJob::queue), or to one called "default" where
/// there is none; elsewhere all jobs go to "default".
class JobMapping {
 public:
  JobMapping(Layout layout, const ClusterSpec& cluster);

  /// Makes `spec` ask for what the row asks for. Its memory is used again. Requires: nothing else of `spec` is set than
  /// by this function. Error: no queue takes the job (`spec` then names one that does not), or it asks for more than
  /// its queue may ever use.
  Result<void> describe(const TraceJob& job, JobSpec& spec) const;

 private:
  /// A queue that takes jobs.
  struct Queue {
    std::string name;
    ResourceVector limit;  ///< its own and its ancestors'
  };

  Result<void> choose_queue(const TraceJob& job, JobSpec& spec) const;
  const Queue* find(std::string_view name) const;

  Layout layout_;
  int32_t node_gpus_;
  std::string cluster_;        ///< its name
  std::vector<Queue> queues_;  ///< by name; empty: the cluster lists none
};

/// GPUs in thousandths that a row asks for in all.
int64_t gpu_milli_of(const TraceJob& job);

}  // namespace weft::sim
