#pragma once

#include "base/result.h"

#include <cstdint>
#include <vector>

namespace weft::local {

/// A NUMA zone that has CPUs this process may use.
struct CpuZone {
  unsigned kernel_index = 0;  ///< as in /sys/devices/system/node
  int64_t cpus = 0;           ///< hardware threads
};

/// In order of the kernel's numbers. Error: hwloc could not read the machine.
Result<std::vector<CpuZone>> read_cpu_zones();

}  // namespace weft::local
