#include "sim/simulation/plan.h"

#include "base/text.h"

#include <algorithm>
#include <array>

namespace weft::sim {

namespace {

/// A policy of the command line in terms of the core.
struct KnownPolicy {
  std::string_view name;
  const char* order;
  CycleMode mode;
  StrictOrder strict = StrictOrder::kNo;
};

constexpr std::array kPolicies{
    KnownPolicy{"default", "priority", CycleMode::kLadder},
    KnownPolicy{"fifo", "fifo", CycleMode::kLadder, StrictOrder::kYes},
    KnownPolicy{"fjf", "fifo", CycleMode::kLadder},
    KnownPolicy{"sjf-gpus", "sjf-gpus", CycleMode::kElect},
    KnownPolicy{"sjf", "sjf", CycleMode::kElect},
    KnownPolicy{"srtf", "srtf", CycleMode::kElect},
    KnownPolicy{"srsf", "srsf", CycleMode::kElect},
    KnownPolicy{"las", "las", CycleMode::kElect},
    KnownPolicy{"2d-las", "2d-las", CycleMode::kElect},
    KnownPolicy{"tiresias-l", "2d-las", CycleMode::kElect},
    KnownPolicy{"gittins", "gittins", CycleMode::kElect},
    KnownPolicy{"priority", "priority", CycleMode::kElect},
    KnownPolicy{"deadline", "deadline", CycleMode::kElect},
};

/// Placements that are not the name of a node score: a number of GPUs anywhere, or as few nodes as possible, the first
/// that fit.
constexpr std::string_view kCount = "count";
constexpr std::string_view kConsolidated = "consolidated";
constexpr std::array<std::string_view, 10> kPlacements{kCount,    kConsolidated, "pack",       "spread",  "random",
                                                       "dotprod", "packing",     "clustering", "bestfit", "fgd"};

}  // namespace

std::string_view rules_name(Rules rules) {
  constexpr std::array<std::string_view, 3> kNames{"native", "tiresias", "muri"};
  return kNames[static_cast<size_t>(rules)];
}

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const KnownPolicy& policy : kPolicies) names.push_back(policy.name);
  return names;
}

std::vector<std::string_view> placement_names() { return {kPlacements.begin(), kPlacements.end()}; }

Result<PolicyPlan> plan_policy(const RunPlan& run) {
  const auto known = std::ranges::find(kPolicies, run.policy, &KnownPolicy::name);
  if (known == kPolicies.end())
    return fail(ErrorCode::kInvalidInput, unknown_name_text("policy", run.policy, policy_names()));
  PolicyPlan plan;
  plan.placement = run.placement;
  if (plan.placement.empty()) {
    plan.placement = run.rules == Rules::kNative ? "pack" : (run.rules == Rules::kMuri ? kConsolidated : kCount);
  }
  if (std::ranges::find(kPlacements, plan.placement) == kPlacements.end())
    return fail(ErrorCode::kInvalidInput, unknown_name_text("placement", plan.placement, placement_names()));
  PolicyConfig& config = plan.config;
  config.preset = run.policy;
  config.order = known->order;
  config.mode = known->mode;
  config.strict = known->strict;
  config.random_seed = run.seed;
  config.node_scores.clear();
  if (plan.placement == kCount) {
    plan.layout = Layout::kSingleGpus;
  } else {
    config.node_scores.push_back({.name = plan.placement == kConsolidated ? "first" : plan.placement});
  }
  if (plan.placement == "spread") config.nodes = PackOrSpread::kSpread;
  if (run.rules == Rules::kTiresias) config.service.looks = LevelLooks::kFloorOfEach;
  if (run.rules == Rules::kMuri) {
    config.service.looks = LevelLooks::kCeilAtStart;
    config.elect_places = ElectPlaces::kAfresh;
  }
  return plan;
}

}  // namespace weft::sim
