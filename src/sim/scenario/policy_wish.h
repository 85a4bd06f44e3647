#pragma once

#include "model/policy.h"
#include "sim/scenario/fields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::scenario {

/// A policy as a file asks for it (`policy` of a scenario, or a file of its own), features that do not exist yet
/// included.
struct PolicyWish {
  std::string preset = "default";
  std::optional<PackOrSpread> nodes;
  std::optional<PackOrSpread> devices;
  std::vector<WeightedScore> scores;  ///< node scores by name in place of `nodes`; empty: none named
  std::string order;                  ///< a job order by name; empty: the preset's
  CycleMode mode = CycleMode::kLadder;
  std::optional<uint8_t> is_strict;
  std::optional<ElectPlaces> places;
  // What orders by service take; what is not named keeps its value.
  std::vector<Duration> limits;
  std::optional<LevelLooks> looks;
  std::optional<Duration> quantum;
  std::optional<std::vector<Duration>> history;
  std::optional<int64_t> search_steps_max, pass_steps_max, attempts_max;
  std::optional<int64_t> reservation_depth;  ///< kUnlimited: all
  std::optional<uint8_t> is_mig_recut;
  std::optional<Duration> usage_half_life;
  std::optional<uint8_t> is_rebalancing;
  std::optional<Duration> drain_after;
  uint8_t has_multifactor = 0;
  std::vector<std::pair<std::string, double>> multifactor;  ///< weights
  std::optional<Duration> multifactor_max_age;

  // Where it was written; line 0: it was not.
  Place preset_at, multifactor_at, usage_at, rebalance_at, mig_at, backfill_at, drain_at;

  /// The order's name.
  std::string_view job_order() const {
    if (!order.empty()) return order;
    return preset == "fifo" ? "fifo" : "priority";
  }
  /// Nobody overtakes a job that waits for capacity.
  bool is_strict_order() const { return is_strict ? *is_strict != 0 : preset == "fifo" && mode == CycleMode::kLadder; }
};

/// Reads a preset's name, or a map. Scores and orders are those that the scheduler knows; the mode is the one that the
/// order needs where none is written.
void read_policy_wish(const YamlNode& node, PolicyWish& wish, Problems& problems);

/// The configuration behind a wish; what does not exist yet is left out.
PolicyConfig make_policy(const PolicyWish& wish);

/// A feature that does not exist yet, and where it is asked for.
struct AskedFeature {
  std::string name;
  Place at;
};
/// Those that a wish asks for in so many words.
std::vector<AskedFeature> missing_features(const PolicyWish& wish);

}  // namespace weft::scenario
