#include "scheduler/scheduler.h"
#include "sim/scenario/policy_wish.h"
#include "sim/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

constexpr std::string_view kPresets[] = {"default", "fifo", "easy-backfill", "conservative-backfill", "fair", "slurm"};
constexpr std::string_view kPackOrSpread[] = {"pack", "spread"};
constexpr std::string_view kOnOrOff[] = {"on", "off", "true", "false"};

void read_preset(const YamlNode& node, PolicyWish& wish, Problems& problems) {
  wish.preset_at = node.at;
  if (const auto preset = read_word(node, "preset", kPresets, problems)) wish.preset = kPresets[*preset];
}

/// Whether the scheduler takes it: it alone knows its scores and orders.
bool is_taken(const PolicyConfig& config, Place at, Problems& problems) {
  const auto scheduler = Scheduler::create(config);
  if (!scheduler) problems.add(at, scheduler.error().message);
  return scheduler.has_value();
}

// ---- Where

void add_score(const YamlNode& node, int32_t weight, PolicyWish& wish, Problems& problems) {
  const auto name = read_name(node, "score", problems);
  if (!name) return;
  const WeightedScore score{.name = *name, .weight = weight};
  PolicyConfig config;
  config.node_scores = {score};
  if (is_taken(config, node.at, problems)) wish.scores.push_back(score);
}

/// A name, or several with their weights.
void read_score(const YamlNode& node, PolicyWish& wish, Problems& problems) {
  constexpr int64_t kWeightMax = 1'000'000;
  if (wish.nodes) {
    problems.add(node.at, "score stands beside nodes, and both say how nodes are chosen; one of them is expected");
    return;
  }
  if (node.kind != YamlNode::Kind::kMap) return add_score(node, 1, wish, problems);
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const auto weight = read_integer(*node.items[i + 1], yaml_text(*node.items[i]), 1, kWeightMax, problems);
    if (weight) add_score(*node.items[i], static_cast<int32_t>(*weight), wish, problems);
  }
}

std::optional<PackOrSpread> read_pack_or_spread(const YamlNode& node, std::string_view key, Problems& problems) {
  const auto word = read_word(node, key, kPackOrSpread, problems);
  return word ? std::optional(static_cast<PackOrSpread>(*word)) : std::nullopt;
}

void read_places(MapReader& reader, PolicyWish& wish, Problems& problems) {
  if (const YamlNode* value = reader.find("nodes")) wish.nodes = read_pack_or_spread(*value, "nodes", problems);
  if (const YamlNode* value = reader.find("devices")) wish.devices = read_pack_or_spread(*value, "devices", problems);
  if (const YamlNode* value = reader.find("score")) read_score(*value, wish, problems);
}

// ---- Who

void read_limits(const YamlNode& node, PolicyWish& wish, Problems& problems) {
  constexpr size_t kLevelsMax = 64;
  for (const YamlNode* item : read_list(node, "limits", problems)) {
    const auto limit = read_duration(*item, "a limit", Duration{1}, kTimeMax, problems);
    if (!limit) continue;
    if (!wish.limits.empty() && *limit <= wish.limits.back())
      problems.add(item->at, "limits do not rise; a level's is above that of the level before it");
    wish.limits.push_back(*limit);
  }
  if (wish.limits.size() > kLevelsMax) problems.add(node.at, fmt::format("more than {} limits", kLevelsMax));
}

void read_service(const YamlNode& node, PolicyWish& wish, Problems& problems) {
  constexpr std::string_view kLooks[] = {"exact", "floor-of-each", "ceil-at-start"};
  MapReader reader(node, "service", problems);
  if (const YamlNode* value = reader.find("limits")) read_limits(*value, wish, problems);
  if (const YamlNode* value = reader.find("looks")) {
    if (const auto word = read_word(*value, "looks", kLooks, problems)) wish.looks = static_cast<LevelLooks>(*word);
  }
  if (const YamlNode* value = reader.find("quantum"))
    wish.quantum = read_duration(*value, "quantum", Duration{1}, kTimeMax, problems);
  if (const YamlNode* value = reader.find("history")) {
    std::vector<Duration>& history = wish.history.emplace();
    for (const YamlNode* item : read_list(*value, "history", problems)) {
      if (const auto served = read_duration(*item, "a service", Duration{1}, kEndless, problems))
        history.push_back(*served);
    }
  }
  reader.finish();
}

/// What is written about the cycle, to be weighed when all of it is known.
struct CycleKeys {
  const YamlNode* mode = nullptr;
  const YamlNode* strict = nullptr;
  const YamlNode* places = nullptr;
  const YamlNode* backfill = nullptr;
};

/// The mode is the one that is written, or else the one that the order needs.
void settle_cycle(const CycleKeys& keys, PolicyWish& wish, Problems& problems) {
  constexpr std::string_view kModes[] = {"ladder", "elect"};
  constexpr std::string_view kPlaces[] = {"kept", "afresh"};
  PolicyConfig config = make_policy(wish);
  std::optional<CycleMode> written;
  if (keys.mode != nullptr) {
    if (const auto word = read_word(*keys.mode, "mode", kModes, problems)) written = static_cast<CycleMode>(*word);
  }
  config.mode = CycleMode::kLadder;
  if (written == CycleMode::kLadder) is_taken(config, keys.mode->at, problems);
  wish.mode = written.value_or(Scheduler::create(config) ? CycleMode::kLadder : CycleMode::kElect);
  const bool elects = wish.mode == CycleMode::kElect;
  if (keys.strict != nullptr) {
    wish.is_strict = read_truth(*keys.strict, "strict", problems);
    if (elects && wish.is_strict == 1)
      problems.add(keys.strict->at, "strict is for mode ladder: where the running set is elected nobody is held back");
  }
  if (keys.places != nullptr) {
    if (const auto word = read_word(*keys.places, "places", kPlaces, problems))
      wish.places = static_cast<ElectPlaces>(*word);
    if (!elects)
      problems.add(keys.places->at, "places is for mode elect: in the other mode whoever runs stays where it is");
  }
  if (keys.backfill != nullptr && elects)
    problems.add(keys.backfill->at,
                 "backfill is for mode ladder: where the running set is elected nothing is reserved");
}

void read_order(MapReader& reader, PolicyWish& wish, Problems& problems) {
  const YamlNode* value = reader.find("order");
  if (value == nullptr) return;
  const auto order = read_name(*value, "order", problems);
  if (!order) return;
  PolicyConfig config;
  config.order = *order;
  config.mode = CycleMode::kElect;  // which takes every order
  if (is_taken(config, value->at, problems)) wish.order = *order;
}

void read_bounds(MapReader& reader, PolicyWish& wish, Problems& problems) {
  constexpr int64_t kStepsMax = 1'000'000'000;
  constexpr int64_t kAttemptsMax = 1'000'000;
  if (const YamlNode* value = reader.find("search_steps_max"))
    wish.search_steps_max = read_integer(*value, "search_steps_max", 1, kStepsMax, problems);
  if (const YamlNode* value = reader.find("pass_steps_max"))
    wish.pass_steps_max = read_integer(*value, "pass_steps_max", 1, kStepsMax, problems);
  if (const YamlNode* value = reader.find("attempts_max"))
    wish.attempts_max = read_integer(*value, "attempts_max", 1, kAttemptsMax, problems);
}

// ---- What is to come

void read_backfill(const YamlNode& node, PolicyWish& wish, Problems& problems) {
  constexpr int64_t kDepthMax = 1'000'000;
  MapReader reader(node, "backfill", problems);
  wish.backfill_at = node.at;
  if (const YamlNode* depth = reader.need("reservation_depth")) {
    if (depth->kind == YamlNode::Kind::kScalar && depth->text == "all") {
      wish.reservation_depth = kUnlimited;
    } else if (const auto number = read_integer(*depth, "reservation_depth", 0, kDepthMax, problems); number) {
      wish.reservation_depth = number;
    }
  }
  reader.finish();
}

void read_multifactor(const YamlNode& node, PolicyWish& wish, Problems& problems) {
  MapReader reader(node, "multifactor", problems);
  wish.has_multifactor = 1;
  wish.multifactor_at = node.at;
  for (const std::string_view factor : {"age", "job_size", "fairshare", "partition", "qos"}) {
    const YamlNode* value = reader.find(factor);
    if (value == nullptr) continue;
    if (const auto weight = read_number(*value, factor, 0, 1e12, problems))
      wish.multifactor.emplace_back(factor, *weight);
  }
  if (const YamlNode* value = reader.find("max_age")) {
    wish.multifactor_max_age = read_duration(*value, "max_age", seconds(1), kTimeMax, problems);
  }
  reader.finish();
}

void read_features(MapReader& reader, PolicyWish& wish, Problems& problems) {
  if (const YamlNode* value = reader.find("multifactor")) read_multifactor(*value, wish, problems);
  if (const YamlNode* value = reader.find("mig")) {
    constexpr std::string_view kWords[] = {"recut"};
    if (read_word(*value, "mig", kWords, problems)) wish.is_mig_recut = 1;
    wish.mig_at = value->at;
  }
  if (const YamlNode* value = reader.find("usage")) {
    MapReader usage(*value, "usage", problems);
    if (const YamlNode* half_life = usage.need("half_life")) {
      wish.usage_half_life = read_duration(*half_life, "half_life", seconds(1), kTimeMax, problems);
    }
    usage.finish();
    wish.usage_at = value->at;
  }
  if (const YamlNode* value = reader.find("rebalance")) {
    wish.rebalance_at = value->at;
    if (const auto word = read_word(*value, "rebalance", kOnOrOff, problems)) wish.is_rebalancing = *word % 2 == 0;
  }
  if (const YamlNode* value = reader.find("drain_after")) {
    wish.drain_at = value->at;
    wish.drain_after = read_duration(*value, "drain_after", {}, kEndless, problems);
  }
}

}  // namespace

void read_policy_wish(const YamlNode& node, PolicyWish& wish, Problems& problems) {
  if (node.kind == YamlNode::Kind::kScalar) {
    read_preset(node, wish, problems);
    return;
  }
  MapReader reader(node, "policy", problems);
  CycleKeys cycle;
  if (const YamlNode* value = reader.find("preset")) read_preset(*value, wish, problems);
  read_order(reader, wish, problems);
  cycle.mode = reader.find("mode");
  cycle.strict = reader.find("strict");
  if (const YamlNode* value = reader.find("service")) read_service(*value, wish, problems);
  read_places(reader, wish, problems);
  cycle.places = reader.find("places");
  cycle.backfill = reader.find("backfill");
  if (cycle.backfill != nullptr) read_backfill(*cycle.backfill, wish, problems);
  read_features(reader, wish, problems);
  read_bounds(reader, wish, problems);
  reader.finish();
  settle_cycle(cycle, wish, problems);
}

}  // namespace weft::scenario
