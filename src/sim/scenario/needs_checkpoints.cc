#include "sim/scenario/needs_rungs.h"

#include <algorithm>

namespace weft::scenario {

/// A task that started alone had saved its work and runs again: how much it has left is not counted yet.
bool needs_checkpoints(const Moment& m) {
  return std::any_of(m.now.running.begin(), m.now.running.end(), [&](const JobSituation& j) {
    return j.spec.checkpoint && j.spec.gang == GangRule::kNone && m.scenario.job_group(j.index).runtime < kEndless &&
           j.view.attempt > 1;
  });
}

}  // namespace weft::scenario
