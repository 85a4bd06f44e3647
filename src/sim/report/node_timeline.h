#pragma once

#include "sim/report/run_picture.h"

namespace weft::sim {

/// Cost: O(spans log spans + bars x lanes).
NodeTimeline draw_node_timeline(const RunOutcome& outcome, Instant epoch, const PictureLimits& limits);

}  // namespace weft::sim
