#include "sim/scenario/cluster_file.h"

#include "sim/scenario/read_context.h"
#include "sim/scenario/yaml_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weft::scenario {
namespace {

constexpr int64_t kMemoryMax = 1024 * kTiB;

void read_model(const YamlNode& node, DeviceCatalogue& catalogue, ClusterFile& out, Problems& problems) {
  MapReader reader(node, "a model", problems);
  DeviceModel model{.vendor = "file", .memory_bytes = 80 * kGiB};
  if (const YamlNode* name = reader.need("name")) model.name = read_name(*name, "name", problems).value_or("");
  if (const YamlNode* memory = reader.find("memory"))
    model.memory_bytes = read_bytes(*memory, "memory", 1, kMemoryMax, problems).value_or(model.memory_bytes);
  reader.finish();
  if (model.name.empty()) return;
  if (is_set(catalogue.find(model.name))) {
    problems.add(node.at, fmt::format("there is a GPU model '{}' already", model.name));
    return;
  }
  if (const Result<void> checked = check_device_model(model); !checked) {
    problems.add(node.at, checked.error().message);
    return;
  }
  catalogue.add(model);
  out.models.push_back(std::move(model));
}

void read_root(const YamlNode& root, ClusterFile& out, Problems& problems) {
  MapReader reader(root, "a cluster file", problems);
  const YamlNode* models = reader.find("models");
  const YamlNode* cluster = reader.need("cluster");
  const YamlNode* queues = reader.find("queues");
  reader.finish();
  DeviceCatalogue catalogue = known_devices();
  if (models != nullptr) {
    for (const YamlNode* item : read_list(*models, "models", problems)) read_model(*item, catalogue, out, problems);
  }
  int64_t names_left = kNamesMax;
  Scenario world;
  ReadContext context{.problems = problems, .out = world, .catalogue = catalogue, .names_left = names_left};
  if (cluster != nullptr) read_cluster(*cluster, context);
  if (queues != nullptr) read_queues(*queues, context);
  if (!problems.is_empty()) return;
  if (world.node_count == 0) problems.add(cluster->at, "the cluster has no nodes");
  out.topology = world.topology;
  out.queues = std::move(world.queues);
  out.nodes.reserve(world.node_count);
  for (const NodeGroup& group : world.nodes) {
    for (uint32_t i = 0; i < group.count; ++i)
      out.nodes.emplace_back(group.spec).name = world.node_name(group.first + i);
  }
}

}  // namespace

bool is_cluster_text(std::string_view text) {
  constexpr std::array<std::string_view, 5> kBegins{"---", "{", "cluster:", "queues:", "models:"};
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos && line[begin] != '#') {
      const std::string_view rest = line.substr(begin);
      return std::ranges::any_of(kBegins, [&](std::string_view word) { return rest.starts_with(word); });
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

Result<ClusterFile> read_cluster_text(std::string_view text, const std::string& name) {
  ClusterFile out;
  Result<void> read = read_yaml_text(text, name, "a cluster",
                                     [&](const YamlNode& root, Problems& problems) { read_root(root, out, problems); });
  if (!read) return std::unexpected(std::move(read.error()));
  return out;
}

}  // namespace weft::scenario
