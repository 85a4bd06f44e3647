#include "sim/simulation/speed_table.h"

#include "sim/scenario/fields.h"
#include "sim/scenario/yaml.h"
#include "sim/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft::sim {

namespace {

using scenario::Problems;
using scenario::YamlNode;

constexpr double kSpeedMin = 0.000001;
constexpr double kSpeedMax = 1000;
constexpr int64_t kCountMax = 1'000'000;
constexpr int64_t kBytesMax = int64_t{1} << 20;

__extension__ using Wide = __int128;

int64_t times(int64_t speed, int64_t factor) {
  constexpr Wide kMost = Wide{kFullSpeed} * kFullSpeed;  // three factors of a thousand fit
  const Wide product = Wide{speed} * factor / kFullSpeed;
  return static_cast<int64_t>(std::clamp(product, Wide{1}, kMost));
}

}  // namespace

// ---- The table

int64_t SpeedTable::of_count(const ByCount& table, int32_t count) {
  const auto above = table.upper_bound(count);
  return above == table.begin() ? kFullSpeed : std::prev(above)->second;
}

int64_t SpeedTable::speed_ppm(const JobPlace& place) const {
  int64_t speed = kFullSpeed;
  if (const auto model = models_.find(place.device_model); model != models_.end()) speed = model->second;
  if (const auto network = networks_.find(place.network); network != networks_.end()) {
    const auto model = network->second.find(place.device_model);
    if (model != network->second.end()) speed = model->second;
  }
  return times(times(speed, of_count(nodes_, place.nodes)), of_count(sharing_, place.sharers));
}

// ---- Reading

class SpeedTableReader {
 public:
  std::shared_ptr<const SpeedModel> read(const YamlNode& root) {
    scenario::MapReader reader(root, "a table of speeds", problems_);
    auto table = std::make_shared<SpeedTable>();
    if (const YamlNode* models = reader.find("models")) read_names(*models, "models", table->models_);
    if (const YamlNode* networks = reader.find("networks")) read_networks(*networks, *table);
    if (const YamlNode* nodes = reader.find("nodes")) read_counts(*nodes, "nodes", table->nodes_);
    if (const YamlNode* sharing = reader.find("sharing")) read_counts(*sharing, "sharing", table->sharing_);
    reader.finish();
    return table;
  }
  const Problems& problems() const { return problems_; }

 private:
  /// Calls `each(key, value)` for the pairs of a map; what is no map is a problem.
  template <typename Each>
  void for_pairs(const YamlNode& node, std::string_view key, Each&& each) {
    if (node.kind != YamlNode::Kind::kMap) {
      problems_.add(node.at, fmt::format("{} is {}; a map is expected", key, scenario::yaml_text(node)));
      return;
    }
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) each(*node.items[i], *node.items[i + 1]);
  }

  void read_names(const YamlNode& node, std::string_view key, SpeedTable::ByName& into) {
    for_pairs(node, key, [&](const YamlNode& name, const YamlNode& value) {
      const auto known = scenario::read_name(name, key, problems_);
      const auto speed = read_speed(value, name.text);
      if (known && speed) into[*known] = *speed;
    });
  }

  void read_networks(const YamlNode& node, SpeedTable& table) {
    for_pairs(node, "networks", [&](const YamlNode& name, const YamlNode& models) {
      if (const auto known = scenario::read_name(name, "networks", problems_))
        read_names(models, *known, table.networks_[*known]);
    });
  }

  void read_counts(const YamlNode& node, std::string_view key, SpeedTable::ByCount& into) {
    for_pairs(node, key, [&](const YamlNode& count, const YamlNode& value) {
      const auto least = scenario::read_integer(count, key, 2, kCountMax, problems_);
      const auto speed = read_speed(value, count.text);
      if (least && speed) into[*least] = *speed;
    });
  }

  std::optional<int64_t> read_speed(const YamlNode& value, std::string_view key) {
    const auto speed = scenario::read_number(value, key, kSpeedMin, kSpeedMax, problems_);
    if (!speed) return std::nullopt;
    return std::llround(*speed * static_cast<double>(kFullSpeed));
  }

  Problems problems_;
};

Result<std::shared_ptr<const SpeedModel>> parse_speeds(std::string_view text, const std::string& name) {
  const auto wrong = [&](const scenario::Problem& problem) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}:{}:{}: {}", name, problem.at.line, problem.at.column, problem.message));
  };
  const std::vector<scenario::YamlDocument> documents = scenario::read_yaml(text);
  if (documents.size() == 1 && documents.front().problem) return wrong(*documents.front().problem);
  if (documents.size() != 1 || documents.front().root == nullptr) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("{}: expected one table of speeds, with the keys models, networks, nodes or sharing", name));
  }
  SpeedTableReader reader;
  std::shared_ptr<const SpeedModel> table = reader.read(*documents.front().root);
  if (!reader.problems().is_empty()) return wrong(reader.problems().list().front());
  return table;
}

Result<std::shared_ptr<const SpeedModel>> read_speeds(const std::string& path) {
  const Result<std::string> text = read_text_file(path, kBytesMax);
  if (!text) return std::unexpected(text.error());
  return parse_speeds(*text, path);
}

}  // namespace weft::sim
