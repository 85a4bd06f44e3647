#pragma once

#include "base/result.h"
#include "model/event.h"
#include "model/node.h"
#include "model/queue.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// A cluster to simulate.
struct ClusterSpec {
  std::string name;  ///< as it was written: "310x8" or a file
  TopologySpec topology;
  std::vector<std::string> models;           ///< device models that nodes name and the catalogue may lack, sorted
  std::map<std::string, int64_t> memory_of;  ///< of these models, where it is known, in bytes; else 80 GiB are taken
  std::vector<NodeSpec> nodes;
  std::vector<QueueSpec> queues;  ///< parents first; empty: one queue "default" without bounds for all jobs

  int64_t gpu_count() const;
  int32_t gpus_per_node_max() const;
  /// What a core is told of it before the first job, in order.
  std::vector<Event> events() const;
};

/// "NxG": N nodes of G GPUs each, a million CPUs and 16 TiB (less where there are more than 16,384), so that only GPUs
/// count; N up to 1,000,000, G up to 64. Anything else names a file: a node list with the columns of openb (sn,
/// cpu_milli, memory_mib, gpu, model), or YAML with a scenario's `cluster` and perhaps `queues` (and `models`, see
/// scenario/cluster_file.h). Errors: one line; a file's with file:line:column.
Result<ClusterSpec> read_cluster(const std::string& written);

/// "12x8": no file.
bool is_cluster_grid(std::string_view written);

}  // namespace weft::sim
