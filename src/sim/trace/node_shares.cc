#include "sim/trace/node_shares.h"

#include <algorithm>

namespace weft::sim {

void share_over_nodes(const JobTotals& totals, TraceJob& job) {
  const int64_t nodes = std::max(totals.nodes, int64_t{1});
  const bool is_even = totals.gpus % nodes == 0;
  const int64_t tasks = is_even ? nodes : 1;
  const auto share = [&](int64_t total) { return total / tasks + (total % tasks != 0 ? 1 : 0); };
  job.tasks = static_cast<int32_t>(tasks);
  job.gpus_per_task = static_cast<int32_t>(totals.gpus / tasks);
  job.cpu_milli = share(totals.cpu_milli);
  job.memory_bytes = share(totals.memory_bytes);
  job.is_gpu_count = is_even ? 0 : 1;
}

}  // namespace weft::sim
