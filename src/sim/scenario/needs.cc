#include "sim/scenario/needs.h"

namespace weft::scenario {

NeedsWatch::NeedsWatch(const Scenario& scenario) {
  for (const AskedFeature& feature : missing_features(scenario.policy))
    found_.emplace(feature.name, NeedNote{feature.at, "asked for here"});
}

/// A task that started alone had saved its work and runs again: how much it has left is not counted yet.
void NeedsWatch::observe(World& world, Place step) {
  if (found_.contains("checkpoints")) return;
  for (const JobIndex job : world.submitted_jobs()) {
    const JobGroup& group = world.scenario().job_group(job);
    const bool could_lose = group.spec.checkpoint && group.spec.gang == GangRule::kNone && group.runtime < kEndless;
    if (!could_lose || world.view(job).attempt <= 1 || world.view(job).state != JobState::kRunning) continue;
    found_.emplace("checkpoints",
                   NeedNote{step, "here a task that started alone runs on from the work that it had saved"});
    return;
  }
}

}  // namespace weft::scenario
