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
bool needs_fair_shares(const Moment& m);
bool needs_elastic(const Moment& m);
bool needs_consolidate(const Moment& m);
bool needs_reclaim(const Moment& m);
bool needs_preempt(const Moment& m);
bool needs_checkpoints(const Moment& m);

// What they share.

/// The job waits only for what is being released: it fits once that is gone, and nobody else has to make room.
bool fits_after_releases(const Moment& m, const JobSituation& job);
/// Do the limits of the job's queue and its ancestors let it in, once all that is being released and all of `gone` is
/// gone?
bool is_within_limits(const Moment& m, const JobSituation& job, const std::vector<const JobSituation*>& gone);

/// Where the paths of two queues part: the siblings there. The same queue, or one inside of the other: nothing.
struct Parting {
  uint32_t first = 0;
  uint32_t second = 0;
};
std::optional<Parting> part(const Scenario& s, uint32_t first, uint32_t second);

template <typename Keep>
std::vector<const JobSituation*> running_if(const Moment& m, Keep&& keep) {
  std::vector<const JobSituation*> out;
  for (const JobSituation& job : m.now.running) {
    if (keep(job)) out.push_back(&job);
  }
  return out;
}

}  // namespace weft::scenario
