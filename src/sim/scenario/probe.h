#pragma once

#include "sim/scenario/situation.h"
#include "sim/scenario/world.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft::scenario {

/// Asks a second scheduler what would be possible in another world than the present one: for proofs that a feature
/// which does not exist yet would have had nothing to do. Queues do not bind there.
class Probe {
 public:
  enum class Answer : uint8_t {
    kNo,     ///< proven: there is no placement
    kMaybe,  ///< there is one, or the search or this probe's budget ended first
  };

  /// Can `ask` start on the nodes as they are, when of the running jobs only `stay` are there, where they are, and all
  /// of `move` have to find room as well, anywhere?
  Answer could_start(World& world, const JobSpec& ask, std::span<const JobSituation* const> stay,
                     std::span<const JobSituation* const> move);

 private:
  int64_t budget_ = 4'000'000;  ///< nodes and tasks set up, over all questions
};

}  // namespace weft::scenario
