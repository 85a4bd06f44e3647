#pragma once

#include "base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

enum class PackOrSpread : uint8_t { kPack, kSpread };
enum class StrictOrder : uint8_t { kNo, kYes };

struct WeightedScore {
  std::string name;  ///< of the registry
  int32_t weight = 1;
  bool operator==(const WeightedScore&) const = default;
};

/// How a queue's jobs are ordered, where they go and how far a search may run. Parsed once at the edge, echoed in the
/// decision log.
struct PolicyConfig {
  std::string preset = "default";
  std::string order = "priority";         ///< of the registry: "fifo", "priority"
  StrictOrder strict = StrictOrder::kNo;  ///< kYes: nobody overtakes a job that waits for capacity
  std::vector<WeightedScore> node_scores{{"pack", 1}};
  PackOrSpread nodes = PackOrSpread::kPack;  ///< of the domains and nodes that fit
  PackOrSpread devices = PackOrSpread::kPack;
  uint64_t random_seed = 0;             ///< of the score "random"; given by the driver
  uint32_t search_steps_max = 20'000;   ///< task placements tried per gang before the search stops at its budget
  uint64_t pass_steps_max = 2'000'000;  ///< task placements tried per pass before the rest waits for the next
  uint32_t attempts_max = 3;            ///< holds or starts that an engine may refuse before the job is failed
  bool operator==(const PolicyConfig&) const = default;
};

}  // namespace weft
