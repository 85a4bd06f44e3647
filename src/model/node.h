#pragma once

#include "base/units.h"
#include "model/device.h"

#include <string>
#include <utility>
#include <vector>

namespace weft {

/// An instance that was cut before the scheduler came (or that an operator wants kept): fixed unless the policy says
/// `mig: recut`.
struct MigInstanceSpec {
  std::string profile;  ///< "3g.40gb"
  int8_t start = -1;    ///< memory slice; -1: the first start that is free
  std::string uuid;     ///< "MIG-…" on a real machine
  bool operator==(const MigInstanceSpec&) const = default;
};

enum class MigMode : uint8_t { kOff, kOn };

/// How a MIG device's instances come about.
enum class MigCut : uint8_t {
  kByScheduler,  ///< cut as needed by the vendor's placements, idle instances of our own destroyed
  kFixed,        ///< the instances listed are all there will be
};

struct DeviceSpec {
  std::string model = "generic";  ///< a name of the catalogue
  int64_t memory_bytes = 0;       ///< 0: the model's
  std::string uuid;               ///< "GPU-…"; empty for virtual devices
  std::string bus_id;             ///< "0000:65:00.0"
  uint8_t numa_zone = 0;
  int16_t nic = -1;  ///< index of the nearest NIC of the node, -1: none
  MigMode mig_mode = MigMode::kOff;
  MigCut mig_cut = MigCut::kByScheduler;
  std::vector<MigInstanceSpec> mig_instances;
  bool operator==(const DeviceSpec&) const = default;
};

struct NumaZoneSpec {
  int64_t cpu_milli = 0;
  DeviceMask devices = 0;
  bool operator==(const NumaZoneSpec&) const = default;
};

struct NicSpec {
  std::string name;
  double gb_per_s = 0;  ///< decimal, line rate, one direction
  uint8_t numa_zone = 0;
  uint16_t rail = 0;  ///< NICs of one rail number reach each other through one switch
  bool operator==(const NicSpec&) const = default;
};

/// What keeps tasks away that do not tolerate it.
struct TaintSpec {
  std::string key;
  std::string value;
  bool operator==(const TaintSpec&) const = default;
};

/// watts = idle + slope x (CPU share in use) + sum of the devices' own draw.
struct PowerModel {
  double idle_watts = 0;
  double cpu_full_watts = 0;
  bool operator==(const PowerModel&) const = default;
};

/// A node as an engine or a file describes it. Names only; ids are given by the core on arrival.
struct NodeSpec {
  std::string name;
  int64_t cpu_milli = 64'000;
  int64_t memory_bytes = 512 * kGiB;
  int64_t disk_bytes = kTiB;
  ShareMode share = ShareMode::kExclusive;  ///< of the node's devices
  std::vector<DeviceSpec> devices;          ///< at most kMaxDevicesPerNode
  std::vector<DeviceMask> islands;          ///< groups joined by NVLink or its like; empty: all joined
  /// Link quality of device pairs, row-major devices x devices, larger is better (0: across sockets … 100: full
  /// NVLink). Empty: 100 inside an island, 10 inside a NUMA zone, 0 elsewhere.
  std::vector<uint8_t> link_quality;
  std::vector<NumaZoneSpec> numa;  ///< empty: one zone
  std::vector<NicSpec> nics;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<TaintSpec> taints;
  PowerModel power;
  bool operator==(const NodeSpec&) const = default;
};

/// Levels of the topology above the node, narrow to wide. A node's label of a level's name places it in a domain; a
/// domain is the path of its level's label and all wider ones. A node that lacks a level's label is in no domain of
/// that level.
struct TopologySpec {
  std::vector<std::string> levels;
  bool operator==(const TopologySpec&) const = default;
};

}  // namespace weft
