#pragma once

#include "model/event.h"
#include "model/placement.h"
#include "model/shape.h"

#include <optional>

namespace weft {

class ClusterState;

/// Where a task that runs already is taken to be: devices, zone and MIG start as named, else the lowest with room
/// (healthy ones first). Empty when the node does not exist, is down, or has no such room: then two facts contradict
/// each other.
std::optional<TaskPlacement> place_fact(const ClusterState& state, const TaskDemand& demand, const AdoptedTask& fact);

}  // namespace weft
