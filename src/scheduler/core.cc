#include "scheduler/core.h"

namespace weft {

Core::Core(PolicyParts policy)
    : parts(std::move(policy)),
      placer(parts.config, parts.scores.active),
      query_placer(parts.config, parts.query_scores.active),
      ceiling(parts.config, {}),  // whether something fits does not depend on a taste, and scores cost
      wake_ups(parts.config.devices) {}

}  // namespace weft
