#pragma once

#include "base/ids.h"
#include "model/placement.h"
#include "model/shape.h"
#include "placement/device_choice.h"

#include <cstdint>

namespace weft {

class ClusterState;

/// Which differences between devices of one node can matter to the other tasks of a gang.
struct DeviceDistinctions {
  bool zones = false;
  bool islands = false;
  bool models = false;
};

/// The choices of devices that one task has on one node, up to differences that cannot matter: choice 0 is the
/// chooser's preferred one, the others follow in a fixed order, each once. Fills `out` and returns true, or false when
/// there are no more than `which`. Cost: O(choices up to `which` x devices). No allocation.
bool device_option(const ClusterState& state, DeviceChooser& chooser, NodeId node, const TaskDemand& demand,
                   const ChoiceRules& rules, const DeviceDistinctions& distinctions, uint32_t which,
                   TaskPlacement& out);

}  // namespace weft
