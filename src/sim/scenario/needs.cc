#include "sim/scenario/needs.h"

#include "sim/scenario/expect.h"
#include "sim/scenario/needs_rungs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace weft::scenario {
namespace {

// ---- What a file asks for in so many words

// Each says where, or nothing.

using Asked = std::optional<Place>;

Asked scale(const Scenario& s) {
  const auto found = std::find_if(s.steps.begin(), s.steps.end(),
                                  [](const Step& step) { return std::holds_alternative<ScaleStep>(step.body); });
  return found == s.steps.end() ? Asked() : found->at;
}
Asked preset(const Scenario& s, std::string_view name) {
  return s.policy.preset == name ? Asked(s.policy.preset_at) : Asked();
}

struct WrittenNeed {
  std::string_view feature;
  Asked (*where)(const Scenario& scenario);
};
constexpr WrittenNeed kWrittenNeeds[] = {
    {"preset easy-backfill", [](const Scenario& s) { return preset(s, "easy-backfill"); }},
    {"preset conservative-backfill", [](const Scenario& s) { return preset(s, "conservative-backfill"); }},
    {"preset fair", [](const Scenario& s) { return preset(s, "fair"); }},
    {"preset slurm", [](const Scenario& s) { return preset(s, "slurm"); }},
    {"multifactor order",
     [](const Scenario& s) { return s.policy.has_multifactor != 0 ? Asked(s.policy.multifactor_at) : Asked(); }},
    {"usage history", [](const Scenario& s) { return s.policy.usage_half_life ? Asked(s.policy.usage_at) : Asked(); }},
    {"rebalance",
     [](const Scenario& s) {
       return s.policy.is_rebalancing.value_or(0) != 0 ? Asked(s.policy.rebalance_at) : Asked();
     }},
    {"mig recut", [](const Scenario& s) { return s.policy.is_mig_recut ? Asked(s.policy.mig_at) : Asked(); }},
    {"scale", scale},
};

// ---- What a rung would have had to do after a cycle

struct RungNeed {
  std::string_view feature;
  bool (*would_have_acted)(const Moment& moment);
  std::string_view what;  ///< it would have done, or may have: "here …"
};
constexpr RungNeed kRungNeeds[] = {
    {"reservations", needs_reservations,
     "a job started while one ahead of it waits, for which room might have been kept; 'policy: {backfill: "
     "{reservation_depth: 0}}' keeps none"},
    {"fair shares", needs_fair_shares, "which queue comes first depends on their shares"},
    {"elastic", needs_elastic, "an elastic job might have grown or shrunk"},
    {"consolidate", needs_consolidate, "running jobs might have been moved to make room"},
    {"reclaim", needs_reclaim, "a queue might have taken back what is its own"},
    {"preempt", needs_preempt, "a job might have been stopped for one of higher priority"},
    {"checkpoints", needs_checkpoints, "a job runs on from the work that it had saved"},
};
constexpr std::string_view kHeldOnReleases = "planning on what is being released";

/// What a rung belongs to is the preset, which may not even be written.
std::string rung_text(const RungNeed& need, const PolicyWish& policy) {
  const std::string where =
      policy.preset_at.line == 0 ? "as no policy is named" : fmt::format("line {}", policy.preset_at.line);
  return fmt::format("here {} (preset '{}', {})", need.what, policy.preset, where);
}

}  // namespace

NeedsWatch::NeedsWatch(const Scenario& scenario) {
  for (const WrittenNeed& need : kWrittenNeeds) {
    if (const auto where = need.where(scenario)) found_.emplace(need.feature, NeedNote{*where, "asked for here"});
  }
}

void NeedsWatch::observe(World& world, std::span<const Expectation* const> nevers, Place step) {
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
    if (found_.contains(std::string(need.feature)) || !need.would_have_acted(moment)) continue;
    found_.emplace(need.feature, NeedNote{step, rung_text(need, world.scenario().policy)});
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
      found_.emplace(kHeldOnReleases, NeedNote{expectation.at, "here a job might be held already"});
      return;
    }
  }
}

}  // namespace weft::scenario
