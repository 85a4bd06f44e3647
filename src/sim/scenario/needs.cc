#include "sim/scenario/needs.h"

#include "sim/scenario/needs_rungs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace weft::scenario {
namespace {

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
    {"checkpoints", InCycle::kBoth, needs_checkpoints,
     "a task that started alone runs on from the work that it had saved"},
};

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
  for (const AskedFeature& feature : missing_features(scenario.policy))
    found_.emplace(feature.name, NeedNote{feature.at, "asked for here"});
}

void NeedsWatch::observe(World& world, Place step) {
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
}

}  // namespace weft::scenario
