#include "sim/scenario/policy_wish.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace weft::scenario {
namespace {

/// Presets whose features do not exist yet.
constexpr std::string_view kPresetsToCome[] = {"slurm"};

/// How many reservations a preset makes.
int32_t depth_of(const PolicyWish& wish) {
  if (wish.mode == CycleMode::kElect || wish.is_strict_order()) return 0;
  return wish.preset == "conservative-backfill" ? kAllReserve : 1;
}

}  // namespace

PolicyConfig make_policy(const PolicyWish& wish) {
  PolicyConfig config;
  config.preset = wish.preset;
  config.order = wish.job_order();
  config.mode = wish.mode;
  config.strict = wish.is_strict_order() ? StrictOrder::kYes : StrictOrder::kNo;
  if (wish.mode == CycleMode::kLadder) {
    config.rungs.elastic = 1;
    if (wish.preset == "default" && !wish.is_strict_order())
      config.rungs.consolidate = config.rungs.reclaim = config.rungs.preempt = 1;
  }
  if (wish.preset == "default") config.share = ShareBasis::kEntitlement;
  if (wish.preset == "fair") config.share = ShareBasis::kWeight;
  config.backfill.reservation_depth = depth_of(wish);
  if (wish.reservation_depth)
    config.backfill.reservation_depth = static_cast<int32_t>(std::min<int64_t>(*wish.reservation_depth, kAllReserve));
  if (wish.drain_after) config.backfill.drain_after = *wish.drain_after;
  config.elect_places = wish.places.value_or(config.elect_places);
  if (!wish.limits.empty()) config.service.limits = wish.limits;
  config.service.looks = wish.looks.value_or(config.service.looks);
  config.service.quantum = wish.quantum.value_or(config.service.quantum);
  if (wish.history) config.service.history = *wish.history;
  if (wish.nodes == PackOrSpread::kSpread) {
    config.nodes = PackOrSpread::kSpread;
    config.node_scores = {{"spread", 1}};
  }
  if (!wish.scores.empty()) config.node_scores = wish.scores;
  if (wish.devices) config.devices = *wish.devices;
  if (wish.search_steps_max) config.search_steps_max = static_cast<uint32_t>(*wish.search_steps_max);
  if (wish.pass_steps_max) config.pass_steps_max = static_cast<uint64_t>(*wish.pass_steps_max);
  if (wish.attempts_max) config.attempts_max = static_cast<uint32_t>(*wish.attempts_max);
  return config;
}

std::vector<AskedFeature> missing_features(const PolicyWish& wish) {
  std::vector<AskedFeature> out;
  if (std::ranges::find(kPresetsToCome, wish.preset) != std::end(kPresetsToCome))
    out.push_back({fmt::format("preset {}", wish.preset), wish.preset_at});
  if (wish.has_multifactor != 0) out.push_back({"multifactor order", wish.multifactor_at});
  if (wish.usage_half_life) out.push_back({"usage history", wish.usage_at});
  if (wish.is_rebalancing.value_or(0) != 0) out.push_back({"rebalance", wish.rebalance_at});
  if (wish.is_mig_recut) out.push_back({"mig recut", wish.mig_at});
  return out;
}

}  // namespace weft::scenario
