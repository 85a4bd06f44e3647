#include "sim/scenario/policy_file.h"

#include "sim/scenario/yaml_file.h"

#include <fmt/format.h>

namespace weft::scenario {
namespace {

/// A scenario that asks for these may well not need them: there is nothing to reserve for, say. A file is asked what it
/// means.
std::vector<AskedFeature> all_missing_features(const PolicyWish& wish) {
  std::vector<AskedFeature> missing = missing_features(wish);
  if (wish.reservation_depth.value_or(0) != 0) missing.push_back({"a reservation_depth above 0", wish.backfill_at});
  if (wish.drain_after) missing.push_back({"drain_after", wish.drain_at});
  return missing;
}

}  // namespace

Result<PolicyWish> read_policy_file(const std::string& path) {
  PolicyWish wish;
  Result<void> read = read_yaml_file(path, "a policy", [&](const YamlNode& root, Problems& problems) {
    read_policy_wish(root, wish, problems);
    for (const AskedFeature& feature : all_missing_features(wish))
      problems.add(feature.at, fmt::format("{} is not supported yet", feature.name));
  });
  if (!read) return std::unexpected(std::move(read.error()));
  return wish;
}

}  // namespace weft::scenario
