#pragma once

#include "sim/trace/trace_job.h"

#include <cstdint>

namespace weft::sim {

/// What a whole job asks for, where a trace tells it over a number of nodes.
struct JobTotals {
  int64_t nodes = 1;
  int64_t gpus = 0;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
};

/// Makes equal tasks of it, one a node. Where the GPUs cannot be divided so it is one task whose GPUs may be anywhere.
void share_over_nodes(const JobTotals& totals, TraceJob& job);

}  // namespace weft::sim
