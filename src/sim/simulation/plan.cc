#include "sim/simulation/plan.h"

#include "base/text.h"
#include "sim/scenario/policy_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

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
    KnownPolicy{"2d-gittins", "2d-gittins", CycleMode::kElect},
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

bool learns(const PolicyConfig& config) { return config.order == "gittins" || config.order == "2d-gittins"; }

bool is_policy_file(std::string_view policy) {
  if (std::ranges::find(kPolicies, policy, &KnownPolicy::name) != kPolicies.end()) return false;
  return policy.find('/') != std::string_view::npos || policy.ends_with(".yaml") || policy.ends_with(".yml");
}

Result<std::shared_ptr<const scenario::PolicyWish>> read_policy(const std::string& file) {
  Result<scenario::PolicyWish> wish = scenario::read_policy_file(file);
  if (!wish) return std::unexpected(std::move(wish.error()));
  return std::make_shared<const scenario::PolicyWish>(std::move(*wish));
}

namespace {

/// What the placement is by the file's word; empty: it has none.
std::string placement_of(const scenario::PolicyWish& wish) {
  if (wish.scores.empty()) return wish.nodes ? (*wish.nodes == PackOrSpread::kSpread ? "spread" : "pack") : "";
  std::string name;
  for (const WeightedScore& score : wish.scores) {
    name += fmt::format("{}{}", name.empty() ? "" : " + ", score.name);
    if (wish.scores.size() > 1) name += fmt::format(" x {}", score.weight);
  }
  return name;
}

/// Puts jobs where `placement`, one of the known ones, says.
void place_by(std::string_view placement, PolicyPlan& plan) {
  plan.placement = placement;
  plan.config.node_scores.clear();
  plan.layout = placement == kCount ? Layout::kSingleGpus : Layout::kNodes;
  if (placement != kCount)
    plan.config.node_scores.push_back({.name = std::string(placement == kConsolidated ? "first" : placement)});
  plan.config.nodes = placement == "spread" ? PackOrSpread::kSpread : PackOrSpread::kPack;
}

std::string_view placement_of(Rules rules) {
  switch (rules) {
    case Rules::kTiresias: return kCount;
    case Rules::kMuri: return kConsolidated;
    case Rules::kNative: break;
  }
  return "pack";
}

Result<void> plan_known(const RunPlan& run, PolicyPlan& plan) {
  const auto known = std::ranges::find(kPolicies, run.policy, &KnownPolicy::name);
  if (known == kPolicies.end())
    return fail(ErrorCode::kInvalidInput,
                unknown_name_text("policy", run.policy, policy_names()) + ", or a file (.yaml)");
  plan.name = run.policy;
  plan.config.preset = run.policy;
  plan.config.order = known->order;
  plan.config.mode = known->mode;
  plan.config.strict = known->strict;
  return {};
}

/// What a policy's file says of the past counts before what the run knows.
void learn(const RunPlan& run, PolicyPlan& plan) {
  std::vector<Duration>& history = plan.config.service.history;
  if (!history.empty()) {
    plan.past = fmt::format("{} of {}", format_count(static_cast<int64_t>(history.size()), "job"), plan.name);
  } else if (run.past != nullptr) {
    history = run.past->services;
    plan.past = run.past->source;
  }
}

}  // namespace

Result<PolicyPlan> plan_policy(const RunPlan& run) {
  PolicyPlan plan;
  scenario::PolicyWish wish;  // of a known policy: nothing more
  if (run.policy_file != nullptr || is_policy_file(run.policy)) {
    const auto read = run.policy_file != nullptr ? run.policy_file : read_policy(run.policy);
    if (!read) return std::unexpected(read.error());
    wish = **read;
    plan.name = std::filesystem::path(run.policy).filename().string();
    plan.config = scenario::make_policy(wish);
    plan.config.rungs.consolidate = 0;  // what a trace says of a job is no leave to stop it and lose its work
  } else if (const Result<void> known = plan_known(run, plan); !known) {
    return std::unexpected(known.error());
  }
  PolicyConfig& config = plan.config;
  config.random_seed = run.seed;
  if (!run.placement.empty() && std::ranges::find(kPlacements, run.placement) == kPlacements.end())
    return fail(ErrorCode::kInvalidInput, unknown_name_text("placement", run.placement, placement_names()));
  plan.placement = placement_of(wish);
  if (!run.placement.empty() || plan.placement.empty())
    place_by(run.placement.empty() ? placement_of(run.rules) : run.placement, plan);
  if (learns(config)) learn(run, plan);
  if (!wish.looks && run.rules == Rules::kTiresias) config.service.looks = LevelLooks::kFloorOfEach;
  if (!wish.looks && run.rules == Rules::kMuri) config.service.looks = LevelLooks::kCeilAtStart;
  if (!wish.places && run.rules == Rules::kMuri) config.elect_places = ElectPlaces::kAfresh;
  return plan;
}

}  // namespace weft::sim
