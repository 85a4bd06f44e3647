#include "sim/scenario/needs.h"

#include "sim/scenario/expect.h"
#include "sim/scenario/needs_rungs.h"

#include <algorithm>
#include <iterator>

namespace weft::scenario {
namespace {

// ---- What a file asks for in so many words

bool has_scale(const Scenario& s) {
  return std::any_of(s.steps.begin(), s.steps.end(),
                     [](const Step& step) { return std::holds_alternative<ScaleStep>(step.body); });
}
bool has_preset(const Scenario& s, std::string_view preset) { return s.policy.preset == preset; }

struct WrittenNeed {
  std::string_view feature;
  bool (*is_asked_for)(const Scenario& scenario);
};
constexpr WrittenNeed kWrittenNeeds[] = {
    {"preset easy-backfill", [](const Scenario& s) { return has_preset(s, "easy-backfill"); }},
    {"preset conservative-backfill", [](const Scenario& s) { return has_preset(s, "conservative-backfill"); }},
    {"preset fair", [](const Scenario& s) { return has_preset(s, "fair"); }},
    {"preset slurm", [](const Scenario& s) { return has_preset(s, "slurm"); }},
    {"multifactor order", [](const Scenario& s) { return s.policy.has_multifactor != 0; }},
    {"usage history", [](const Scenario& s) { return s.policy.usage_half_life.has_value(); }},
    {"rebalance", [](const Scenario& s) { return s.policy.is_rebalancing.value_or(0) != 0; }},
    {"mig recut", [](const Scenario& s) { return s.policy.is_mig_recut.has_value(); }},
    {"scale", has_scale},
};

// ---- What a rung would have had to do after a cycle

struct RungNeed {
  std::string_view feature;
  bool (*would_have_acted)(const Moment& moment);
};
constexpr RungNeed kRungNeeds[] = {
    {"reservations", needs_reservations}, {"fair shares", needs_fair_shares}, {"elastic", needs_elastic},
    {"consolidate", needs_consolidate},   {"reclaim", needs_reclaim},         {"preempt", needs_preempt},
    {"checkpoints", needs_checkpoints},
};
constexpr std::string_view kHeldOnReleases = "planning on what is being released";

}  // namespace

NeedsWatch::NeedsWatch(const Scenario& scenario) {
  for (const WrittenNeed& need : kWrittenNeeds) {
    if (need.is_asked_for(scenario)) found_.emplace(need.feature);
  }
}

void NeedsWatch::observe(World& world, std::span<const Expectation* const> nevers) {
  const bool are_all_found = std::all_of(std::begin(kRungNeeds), std::end(kRungNeeds),
                                         [&](const RungNeed& n) { return found_.contains(std::string(n.feature)); });
  // Where nothing changed since the last look there is nothing new to see, unless time passed, by which alone a drain
  // may become due.
  const bool is_known = seen_changes_ == world.change_count() && seen_at_ == world.now();
  if (are_all_found || is_known) return;
  seen_changes_ = world.change_count();
  seen_at_ = world.now();
  const Situation situation = look_at(world);
  const Moment moment{world, world.scenario(), situation, probe_};
  for (const RungNeed& need : kRungNeeds) {
    if (!found_.contains(std::string(need.feature)) && need.would_have_acted(moment)) found_.emplace(need.feature);
  }
  for (const Expectation* never : nevers) observe_expectation(*never, world, situation);
}

void NeedsWatch::observe_expectation(const Expectation& expectation, World& world) {
  observe_expectation(expectation, world, look_at(world));
}

void NeedsWatch::observe_expectation(const Expectation& expectation, World& world, const Situation& situation) {
  if (situation.has_releasing == 0 || found_.contains(std::string(kHeldOnReleases))) return;
  const Moment moment{world, world.scenario(), situation, probe_};
  StateOverlay overlay;
  const size_t as_it_is = find_mismatches(expectation, world).size();
  for (const JobSituation& job : situation.waiting) {
    if (!fits_after_releases(moment, job)) continue;
    overlay[job.index] = StateWord::kHeld;
    const bool differs_alone = find_mismatches(expectation, world, {{job.index, StateWord::kHeld}}).size() != as_it_is;
    if (differs_alone || find_mismatches(expectation, world, overlay).size() != as_it_is) {
      found_.emplace(kHeldOnReleases);
      return;
    }
  }
}

}  // namespace weft::scenario
