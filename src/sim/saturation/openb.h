#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

// The lists of the openb trace (Alibaba's GPU cluster of 2023) and of its family. Rows come back sorted by name, as the
// protocol wants them. Errors say file:line:column, what was found and what is expected; nothing half read is returned.

/// Columns sn, cpu_milli, memory_mib, gpu, model. A node without GPUs has an empty model.
struct OpenbNode {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int32_t gpus = 0;
  std::string model;
  bool operator==(const OpenbNode&) const = default;
};
Result<std::vector<OpenbNode>> read_openb_nodes(std::string_view content, std::string file_name);

/// Columns name, cpu_milli, memory_mib, num_gpu, gpu_milli; optional gpu_spec ("A|B": allowed models), qos, pod_phase,
/// creation_time, deletion_time, scheduled_time (checked, but not used: pods of the protocol only arrive).
struct OpenbPod {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int32_t gpus = 0;
  int32_t gpu_milli = 0;            ///< per GPU; 0 without GPUs, 1 … 1000 with one, 1000 with more
  std::vector<std::string> models;  ///< sorted, distinct; empty: any
  bool operator==(const OpenbPod&) const = default;

  int64_t request_milli() const { return int64_t{gpus} * gpu_milli; }
};
Result<std::vector<OpenbPod>> read_openb_pods(std::string_view content, std::string file_name);

}  // namespace weft::sim
