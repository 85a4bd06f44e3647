#pragma once

#include "model/job.h"
#include "sim/simulation/plan.h"
#include "sim/trace/trace_job.h"

#include <cstdint>

namespace weft::sim {

/// Turns rows of traces into jobs for the core, by the layout of a plan.
///
/// A job that asks for a number of GPUs (TraceJob::is_gpu_count) becomes single tasks of one GPU each (kSingleGpus:
/// CPUs and memory are left out, only GPUs count), or as few tasks as nodes can hold: one, or whole nodes and a rest.
/// Other jobs keep their tasks; with kSingleGpus their whole GPUs are taken apart as well.
class JobMapping {
 public:
  JobMapping(Layout layout, const ClusterSpec& cluster) : layout_(layout), node_gpus_(cluster.gpus_per_node_max()) {}

  /// Makes `spec` ask for what the row asks for. Its memory is used again. Requires: nothing else of `spec` is set than
  /// by this function.
  void describe(const TraceJob& job, JobSpec& spec) const;

 private:
  Layout layout_;
  int32_t node_gpus_;
};

/// GPUs in thousandths that a row asks for in all.
int64_t gpu_milli_of(const TraceJob& job);

}  // namespace weft::sim
