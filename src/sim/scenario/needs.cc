#include "sim/scenario/needs.h"

#include "sim/scenario/expect.h"
#include "sim/scenario/needs_rungs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace weft::scenario {
namespace {

// ---- What a file asks for in so many words

/// Those of the policy, and of the steps.
std::vector<AskedFeature> asked_features(const Scenario& s) {
  std::vector<AskedFeature> asked = missing_features(s.policy);
  const auto scale = std::find_if(s.steps.begin(), s.steps.end(),
                                  [](const Step& step) { return std::holds_alternative<ScaleStep>(step.body); });
  if (scale != s.steps.end()) asked.push_back({"scale", scale->at});
  return asked;
}

// ---- What a rung would have had to do after a cycle

enum class InCycle : uint8_t { kLadder, kBoth };  ///< an election has no rungs

struct RungNeed {
  std::string_view feature;
  InCycle cycle;
  bool (*would_have_acted)(const Moment& moment);
  std::string_view what;  ///< it would have done, or may have: "here …"
};
constexpr RungNeed kRungNeeds[] = {
    {"reservations", InCycle::kLadder, needs_reservations,
     "a job started while one ahead of it waits, for which room might have been kept; 'policy: {backfill: "
     "{reservation_depth: 0}}' keeps none"},
    {"fair shares", InCycle::kLadder, needs_fair_shares, "which queue comes first depends on their shares"},
    {"elastic", InCycle::kBoth, needs_elastic, "an elastic job might have grown or shrunk"},
    {"consolidate", InCycle::kLadder, needs_consolidate, "running jobs might have been moved to make room"},
    {"reclaim", InCycle::kLadder, needs_reclaim, "a queue might have taken back what is its own"},
    {"preempt", InCycle::kLadder, needs_preempt, "a job might have been stopped for one of higher priority"},
    {"checkpoints", InCycle::kBoth, needs_checkpoints,
     "a task that started alone runs on from the work that it had saved"},
};
constexpr std::string_view kHeldOnReleases = "planning on what is being released";

bool is_asked(const RungNeed& need, const PolicyWish& policy) {
  return need.cycle == InCycle::kBoth || policy.mode == CycleMode::kLadder;
}

/// What a rung belongs to is the preset, which may not even be written.
std::string rung_text(const RungNeed& need, const PolicyWish& policy) {
  const std::string where =
      policy.preset_at.line == 0 ? "as no policy is named" : fmt::format("line {}", policy.preset_at.line);
  return fmt::format("here {} (preset '{}', {})", need.what, policy.preset, where);
}

}  // namespace

NeedsWatch::NeedsWatch(const Scenario& scenario) {
  for (const AskedFeature& feature : asked_features(scenario))
    found_.emplace(feature.name, NeedNote{feature.at, "asked for here"});
}

void NeedsWatch::observe(World& world, std::span<const Expectation* const> nevers, Place step) {
  const PolicyWish& policy = world.scenario().policy;
  const auto is_settled = [&](const RungNeed& need) {
    return !is_asked(need, policy) || found_.contains(std::string(need.feature));
  };
  const bool are_all_found = std::all_of(std::begin(kRungNeeds), std::end(kRungNeeds), is_settled);
  // Where nothing changed since the last look there is nothing new to see, unless time passed, by which alone a drain
  // may become due.
  const bool is_known = seen_changes_ == world.change_count() && seen_at_ == world.now();
  if (are_all_found || is_known) return;
  seen_changes_ = world.change_count();
  seen_at_ = world.now();
  const Situation situation = look_at(world);
  const Moment moment{world, world.scenario(), situation, probe_};
  for (const RungNeed& need : kRungNeeds) {
    if (is_settled(need) || !need.would_have_acted(moment)) continue;
    found_.emplace(need.feature, NeedNote{step, rung_text(need, policy)});
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
