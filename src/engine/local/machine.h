#pragma once

#include "base/result.h"
#include "engine/local/nvml.h"
#include "model/node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::local {

/// How many GPUs to pretend. On a machine that has real ones they would be mixed up by the jobs, so both together is an
/// Error, unless the virtual ones are wanted in spite of that.
struct VirtualGpus {
  int32_t count = 0;  ///< 0: none
  std::string model;  ///< empty: generic
  enum class BesideRealOnes : uint8_t { kRefuse, kAllow } beside_real_ones = BesideRealOnes::kRefuse;
};

struct MachineOptions {
  VirtualGpus virtual_gpus;
  std::string disk_path = "/";  ///< whose file system counts as the node's disk
};

/// This machine as a node, and lines for people about what was not found.
struct Machine {
  NodeSpec node;
  std::vector<std::string> notes;
};

/// CPUs and memory that this process may use, NUMA zones, NVIDIA GPUs or virtual ones.
/// Error: the options do not fit the machine, or an unknown GPU model.
Result<Machine> detect_machine(const MachineOptions& options);

/// The GPUs of a reading as devices of `node`, whose zones have the kernel's numbers `zones`; with links and islands.
void add_nvidia_gpus(const NvidiaReading& reading, const std::vector<unsigned>& zones, NodeSpec& node);

}  // namespace weft::local
