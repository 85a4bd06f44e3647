#pragma once

#include "sim/scenario/probe.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/situation.h"
#include "sim/scenario/world.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weft::scenario {

/// The moment after a cycle, as the predicates of needs.cc see it.
struct Moment {
  World& world;
  const Scenario& scenario;
  const Situation& now;
  Probe& probe;
};

// One predicate per rung that does not exist yet: would it have had something to do? True where the contrary is not
// proven.

bool needs_reservations(const Moment& m);
bool needs_checkpoints(const Moment& m);

template <typename Keep>
std::vector<const JobSituation*> running_if(const Moment& m, Keep&& keep) {
  std::vector<const JobSituation*> out;
  for (const JobSituation& job : m.now.running) {
    if (keep(job)) out.push_back(&job);
  }
  return out;
}

}  // namespace weft::scenario
