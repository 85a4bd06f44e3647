#pragma once

#include "base/ids.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Bit d is device d of one node; the device's index is the node's own order (PCI bus order on a real machine).
using DeviceMask = uint64_t;
inline constexpr unsigned kMaxDevicesPerNode = 64;

enum class DeviceKind : uint8_t { kGpu, kTpu, kNpu, kOther };

/// How one device may serve several tasks. MIG is apart from it: a device is in MIG mode or it is not (see DeviceSpec).
enum class ShareMode : uint8_t {
  kExclusive,  ///< one task owns the whole device; fractions and memory shares are not placed here
  kMps,        ///< memory bytes + thread percentage, concurrent
  kTimeSlice,  ///< memory bytes + a share of time
};

/// What of one device, or how many whole ones, a task needs. Exactly one of the forms.
enum class DeviceNeedKind : uint8_t {
  kNone,
  kWhole,   ///< `count` whole devices
  kMilli,   ///< a fraction of one device: `milli` thousandths of its time and of its memory
  kMemory,  ///< `memory_bytes` of one device's memory, and of its time in proportion
  kMig,     ///< one MIG instance of `mig_profile`
};

/// One way of cutting a device: `compute_slices` of the model's, `memory_slices` of the model's, starting where the
/// vendor allows.
struct MigProfile {
  std::string name;            ///< "3g.40gb"
  uint8_t compute_slices = 0;  ///< of DeviceModel::mig_compute_slices (7)
  uint8_t memory_slices = 0;   ///< of DeviceModel::mig_memory_slices (8)
  uint16_t start_mask = 0;     ///< bit s set: an instance may start at memory slice s
  uint8_t count_max = 0;       ///< at most so many on one device
  bool operator==(const MigProfile&) const = default;
};

/// One record of the catalogue. Rates are dense peaks from the vendor's data sheet, 0 where unknown.
struct DeviceModel {
  std::string name;    ///< "A100-SXM4-80GB"; `generic` is 80 GiB without MIG
  std::string vendor;  ///< "NVIDIA", "AMD", "Google", …
  DeviceKind kind = DeviceKind::kGpu;
  int64_t memory_bytes = 0;
  uint16_t compute_capability = 0;  ///< major * 10 + minor: 80 is 8.0; 0 where the vendor has none
  uint16_t multiprocessors = 0;
  double memory_bandwidth_gb_per_s = 0;  ///< decimal GB/s
  double bf16_tflops = 0;                ///< fp16 where the device has no bf16
  double fp8_tflops = 0;
  double link_gb_per_s = 0;  ///< device-to-device fabric, both directions summed
  uint8_t pcie_generation = 0;
  uint16_t power_limit_watts = 0;
  uint8_t mig_compute_slices = 0;  ///< 0: the model has no MIG
  uint8_t mig_memory_slices = 0;
  std::vector<MigProfile> mig_profiles;
  bool operator==(const DeviceModel&) const = default;
};

/// Index into DeviceModel::mig_profiles, or kNoProfile.
using MigProfileIndex = uint8_t;
inline constexpr MigProfileIndex kNoProfile = 0xff;

}  // namespace weft
