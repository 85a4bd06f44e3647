#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::local {

/// One NVIDIA GPU as the driver's management library describes it.
struct NvidiaGpu {
  unsigned nvml_index = 0;
  unsigned minor_number = 0;  ///< /dev/nvidia<minor>: not always the index
  std::string name;           ///< "NVIDIA H200"
  std::string uuid;           ///< "GPU-…"
  std::string bus_id;         ///< "0000:65:00.0", lower case, as in /sys/bus/pci/devices
  int64_t memory_bytes = 0;
  uint16_t compute_capability = 0;  ///< major * 10 + minor
};

/// What NVML knows of the machine: usable GPUs in order of their bus ids, and lines about what could not be used and
/// why.
struct NvidiaReading {
  std::vector<NvidiaGpu> gpus;
  std::vector<uint8_t>
      link_quality;  ///< gpus x gpus; 100: full NVLink or a switch, 60 … 90: fewer links, 50 … 0: PCIe, ever farther
  std::vector<uint8_t> is_linked;  ///< gpus x gpus; 1: joined by NVLink
  std::vector<std::string> notes;
};

/// Loads the library, reads and unloads it again, so that nobody is kept from resetting a GPU. `libraries` are tried in
/// order. Never fails: without GPUs the notes say why.
NvidiaReading read_nvidia_gpus(const std::vector<std::string>& libraries = {"libnvidia-ml.so.1",
                                                                            "/usr/lib/wsl/lib/libnvidia-ml.so.1"});

}  // namespace weft::local
