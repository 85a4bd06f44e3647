#pragma once

#include "base/result.h"
#include "model/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// A cluster to simulate.
struct ClusterSpec {
  std::string name;  ///< as it was written: "310x8" or a file
  std::vector<NodeSpec> nodes;
  std::vector<std::string> models;  ///< device models that the nodes name, sorted

  int64_t gpu_count() const;
  int32_t gpus_per_node_max() const;
};

/// "NxG": N nodes of G GPUs each, a million CPUs and 16 TiB (less where there are more than 16,384), so that only GPUs
/// count; N up to 1,000,000, G up to 64. Anything else names a file: a node list with the columns of openb (sn,
/// cpu_milli, memory_mib, gpu, model). Errors: one line; a file's with file:line:column.
Result<ClusterSpec> read_cluster(const std::string& written);

}  // namespace weft::sim
