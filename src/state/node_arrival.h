#pragma once

#include "base/result.h"
#include "model/node.h"
#include "model/vocabulary.h"
#include "state/tables.h"

#include <vector>

namespace weft {

/// A NodeSpec with its names resolved and everything checked: what add_node() then writes without a further question.
struct NodeArrival {
  struct Device {
    DeviceModelId model = kNone<DeviceModelId>;
    int64_t memory_bytes = 0;
    std::vector<FixedInstance> instances;  ///< MigCut::kFixed only, in the order of the spec
  };
  struct Zone {
    int64_t cpu_milli = 0;
    DeviceMask devices = 0;
  };
  std::vector<Device> devices;
  std::vector<Zone> zones;  ///< at least one
  LinkLayout layout;
};

/// Sums over nodes stay below this, so that adding them up cannot overflow.
inline constexpr int64_t kQuantityMax = kUnlimited / 4;

/// Error: the first thing that is wrong with the spec. Reads the names, writes nothing.
Result<NodeArrival> check_node(const NodeSpec& spec, const Vocabulary& names);

}  // namespace weft
