#include "sim/simulation/cluster_spec.h"

#include "base/text.h"
#include "sim/saturation/openb.h"
#include "sim/scenario/cluster_file.h"
#include "sim/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace weft::sim {

namespace {

constexpr int64_t kNodesMax = 1'000'000;
constexpr int64_t kNodeCpuMilli = 1'000'000'000;
constexpr int64_t kNodeMemoryBytes = 16 * kTiB;
constexpr int64_t kClusterMemoryBytes = int64_t{1} << 58;  // all nodes together: what the core can still count

struct Grid {
  int64_t nodes = 0;
  int64_t gpus = 0;
};

/// "310x8"; nothing when it is not written so.
std::optional<Grid> parse_grid(std::string_view written) {
  const size_t cross = written.find_first_of("xX");
  if (cross == std::string_view::npos) return std::nullopt;
  constexpr int64_t kAny = std::numeric_limits<int32_t>::max();
  const Result<int64_t> nodes = parse_integer(written.substr(0, cross), -kAny, kAny);
  const Result<int64_t> gpus = parse_integer(written.substr(cross + 1), -kAny, kAny);
  if (!nodes || !gpus) return std::nullopt;
  return Grid{.nodes = *nodes, .gpus = *gpus};
}

ClusterSpec make_grid(const Grid& grid) {
  ClusterSpec cluster;
  cluster.nodes.reserve(static_cast<size_t>(grid.nodes));
  const size_t digits = std::to_string(grid.nodes - 1).size();
  for (int64_t n = 0; n < grid.nodes; ++n) {
    NodeSpec node{.name = fmt::format("n{:0{}}", n, digits),
                  .cpu_milli = kNodeCpuMilli,
                  .memory_bytes = std::min(kNodeMemoryBytes, kClusterMemoryBytes / grid.nodes),
                  .share = ShareMode::kTimeSlice};
    node.devices.resize(static_cast<size_t>(grid.gpus));
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

/// Of a model that is only named.
constexpr int64_t kUnknownMemory = 80 * kGiB;

Result<ClusterSpec> read_nodes(std::string_view text, const std::string& file) {
  const Result<std::vector<OpenbNode>> rows = read_openb_nodes(text, file);
  if (!rows) return std::unexpected(rows.error());
  ClusterSpec cluster;
  std::set<std::string> models;
  for (const OpenbNode& row : *rows) {
    NodeSpec node{.name = row.name,
                  .cpu_milli = row.cpu_milli,
                  .memory_bytes = row.memory_mib * kMiB,
                  .share = ShareMode::kTimeSlice};
    node.devices.assign(static_cast<size_t>(row.gpus), DeviceSpec{.model = row.model});
    if (row.gpus > 0) models.insert(row.model);
    cluster.nodes.push_back(std::move(node));
  }
  cluster.models.assign(models.begin(), models.end());
  return cluster;
}

Result<ClusterSpec> read_yaml_cluster(std::string_view text, const std::string& file) {
  Result<scenario::ClusterFile> read = scenario::read_cluster_text(text, file);
  if (!read) return std::unexpected(std::move(read.error()));
  ClusterSpec cluster{
      .topology = std::move(read->topology), .nodes = std::move(read->nodes), .queues = std::move(read->queues)};
  for (const DeviceModel& model : read->models) {
    cluster.models.push_back(model.name);
    cluster.memory_of[model.name] = model.memory_bytes;
  }
  std::ranges::sort(cluster.models);
  return cluster;
}

Result<ClusterSpec> read_file_cluster(const std::string& file) {
  const Result<std::string> text = read_text_file(file);
  if (!text) return std::unexpected(text.error());
  const bool is_yaml = file.ends_with(".yaml") || file.ends_with(".yml") || scenario::is_cluster_text(*text);
  return is_yaml ? read_yaml_cluster(*text, file) : read_nodes(*text, file);
}

}  // namespace

int64_t ClusterSpec::gpu_count() const {
  int64_t count = 0;
  for (const NodeSpec& node : nodes) count += static_cast<int64_t>(node.devices.size());
  return count;
}

int32_t ClusterSpec::gpus_per_node_max() const {
  size_t most = 0;
  for (const NodeSpec& node : nodes) most = std::max(most, node.devices.size());
  return static_cast<int32_t>(most);
}

std::vector<Event> ClusterSpec::events() const {
  std::vector<Event> events;
  events.reserve(nodes.size() + models.size() + queues.size() + 2);
  const auto add = [&](EventBody body) { events.push_back({.at = {}, .body = std::move(body)}); };
  if (!topology.levels.empty()) add(TopologyDefined{.topology = topology});
  for (const QueueSpec& queue : queues) add(QueueDefined{.queue = queue});
  if (queues.empty()) add(QueueDefined{.queue = {.name = "default", .guarantee = kUnlimitedResources}});
  for (const std::string& model : models) {
    const auto memory = memory_of.find(model);
    add(DeviceModelDefined{.model = {.name = model,
                                     .vendor = "trace",
                                     .memory_bytes = memory == memory_of.end() ? kUnknownMemory : memory->second}});
  }
  for (const NodeSpec& node : nodes) add(NodeAdded{.node = node});
  return events;
}

bool is_cluster_grid(std::string_view written) { return parse_grid(written).has_value(); }

Result<ClusterSpec> read_cluster(const std::string& written) {
  const std::optional<Grid> grid = parse_grid(written);
  if (grid && (grid->nodes < 1 || grid->nodes > kNodesMax || grid->gpus < 0 || grid->gpus > kMaxDevicesPerNode)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("--cluster: '{}': 1 to {} nodes of 0 to {} GPUs each are possible", written, kNodesMax,
                            kMaxDevicesPerNode));
  }
  Result<ClusterSpec> cluster = grid ? make_grid(*grid) : read_file_cluster(written);
  if (cluster) cluster->name = written;
  return cluster;
}

}  // namespace weft::sim
