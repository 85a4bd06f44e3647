#include "sim/scenario/mig_cut.h"
#include "sim/scenario/read_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace weft::scenario {
namespace {

constexpr int64_t kCpuMilliMax = int64_t{1'000'000} * 1000;
constexpr int64_t kBytesMax = 1024 * 16 * kTiB;
constexpr std::string_view kReservedLevels[] = {"device", "nvlink", "node"};
constexpr size_t kLevelsMax = 16;

/// A device number in `gpus`, `islands` or `numa`, of a node with `count` devices.
std::optional<unsigned> read_device_index(const YamlNode& node, std::string_view key, size_t count,
                                          Problems& problems) {
  if (count == 0) {
    problems.add(node.at, fmt::format("{} names device {}, but the node has no gpus", key, yaml_text(node)));
    return std::nullopt;
  }
  const auto value = read_integer(node, key, 0, static_cast<int64_t>(count) - 1, problems);
  return value ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

/// Devices of one list; one that an earlier list holds already is a problem.
DeviceMask read_device_mask(const YamlNode& node, std::string_view key, size_t count, DeviceMask taken,
                            Problems& problems) {
  DeviceMask mask = 0;
  for (const YamlNode* item : read_list(node, key, problems)) {
    const auto device = read_device_index(*item, key, count, problems);
    if (!device) continue;
    const DeviceMask bit = DeviceMask{1} << *device;
    if (((taken | mask) & bit) != 0) problems.add(item->at, fmt::format("{} names device {} twice", key, *device));
    mask |= bit;
  }
  return mask;
}

void read_islands(const YamlNode& node, NodeSpec& spec, Problems& problems) {
  DeviceMask taken = 0;
  for (const YamlNode* item : read_list(node, "islands", problems)) {
    const DeviceMask island = read_device_mask(*item, "islands", spec.devices.size(), taken, problems);
    if (island == 0) continue;
    taken |= island;
    spec.islands.push_back(island);
  }
  for (size_t d = 0; d < spec.devices.size(); ++d) {  // a device that no island names is linked to none
    if ((taken >> d & 1U) == 0) spec.islands.push_back(DeviceMask{1} << d);
  }
}

void read_numa(const YamlNode& node, NodeSpec& spec, Problems& problems) {
  constexpr size_t kZonesMax = 64;
  const auto items = read_list(node, "numa", problems);
  if (items.empty() || items.size() > kZonesMax) {
    if (node.kind == YamlNode::Kind::kList) problems.add(node.at, fmt::format("numa lists 1 to {} zones", kZonesMax));
    return;
  }
  DeviceMask taken = 0;
  int64_t cpu_total = 0;
  size_t zones_with_gpus = 0;
  for (const YamlNode* item : items) {
    MapReader reader(*item, "a NUMA zone", problems);
    NumaZoneSpec zone;
    zone.cpu_milli = spec.cpu_milli / static_cast<int64_t>(items.size());
    if (const YamlNode* gpus = reader.find("gpus")) {
      zone.devices = read_device_mask(*gpus, "gpus", spec.devices.size(), taken, problems);
      ++zones_with_gpus;
    }
    if (const YamlNode* cpus = reader.find("cpus")) {
      zone.cpu_milli = read_milli(*cpus, "cpus", 0, kCpuMilliMax, problems).value_or(0);
    }
    reader.finish();
    taken |= zone.devices;
    cpu_total += zone.cpu_milli;
    spec.numa.push_back(zone);
  }
  if (cpu_total > spec.cpu_milli) {
    problems.add(node.at, fmt::format("the zones have {} cpus together, but the node has {}", format_milli(cpu_total),
                                      format_milli(spec.cpu_milli)));
  }
  for (size_t d = 0; d < spec.devices.size(); ++d) {
    if (zones_with_gpus == 0)
      spec.numa[d * items.size() / spec.devices.size()].devices |= DeviceMask{1} << d;
    else if ((taken >> d & 1U) == 0)
      problems.add(node.at, fmt::format("device {} is in none of the zones", d));
  }
  for (size_t z = 0; z < spec.numa.size(); ++z) {
    for (size_t d = 0; d < spec.devices.size(); ++d) {
      if ((spec.numa[z].devices >> d & 1U) != 0) spec.devices[d].numa_zone = static_cast<uint8_t>(z);
    }
  }
}

/// "2g.20gb", or "2g.20gb@4" with its first memory slice.
std::optional<MigInstanceSpec> read_mig_instance(const YamlNode& node, Problems& problems) {
  const auto text = read_text(node, "mig", problems);
  if (!text) return std::nullopt;
  const size_t sign = text->find('@');
  MigInstanceSpec instance{.profile = text->substr(0, sign)};
  if (sign == std::string::npos) return instance;
  const auto start = parse_integer(std::string_view(*text).substr(sign + 1), 0, 15);
  if (!start) {
    problems.add(node.at,
                 fmt::format("'{}' is no instance; a profile such as 2g.20gb or 2g.20gb@4 is expected", *text));
    return std::nullopt;
  }
  instance.start = static_cast<int8_t>(*start);
  return instance;
}

std::vector<MigInstanceSpec> read_mig_instances(const YamlNode& node, Problems& problems) {
  constexpr int64_t kInstancesMax = 16;
  std::vector<MigInstanceSpec> out;
  if (node.kind == YamlNode::Kind::kMap) {
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const auto instance = read_mig_instance(*node.items[i], problems);
      const auto count = read_integer(*node.items[i + 1], yaml_text(*node.items[i]), 1, kInstancesMax, problems);
      if (instance && count) out.insert(out.end(), static_cast<size_t>(*count), *instance);
    }
    return out;
  }
  for (const YamlNode* item : read_list(node, "mig", problems)) {
    if (const auto instance = read_mig_instance(*item, problems)) out.push_back(*instance);
  }
  return out;
}

void read_mig(const YamlNode& node, NodeSpec& spec, const DeviceModel& model, Problems& problems) {
  if (node.kind != YamlNode::Kind::kMap) {
    problems.add(
        node.at,
        "mig is no map; devices with their instances are expected, such as {0: [3g.40gb, 2g.20gb]} or {0: []}");
    return;
  }
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const auto device = read_device_index(*node.items[i], "mig", spec.devices.size(), problems);
    if (!device) continue;
    const YamlNode& value = *node.items[i + 1];
    DeviceSpec& out = spec.devices[*device];
    if (out.mig_mode == MigMode::kOn)
      problems.add(node.items[i]->at, fmt::format("mig names device {} twice", *device));
    out.mig_mode = MigMode::kOn;
    out.mig_instances = read_mig_instances(value, problems);
    out.mig_cut = out.mig_instances.empty() ? MigCut::kByScheduler : MigCut::kFixed;
    if (const auto placed = place_mig_instances(model, out.mig_instances); !placed)
      problems.add(value.at, placed.error().message);
  }
}

void read_taints(const YamlNode& node, NodeSpec& spec, Problems& problems) {
  if (node.kind == YamlNode::Kind::kMap) {
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const auto key = read_text(*node.items[i], "a taint", problems);
      const auto value = read_text(*node.items[i + 1], "a taint's value", problems);
      if (key && value) spec.taints.push_back({*key, *value});
    }
    return;
  }
  for (const YamlNode* item : read_list(node, "taints", problems)) {
    TaintSpec taint;
    if (item->kind == YamlNode::Kind::kMap) {
      MapReader reader(*item, "a taint", problems);
      if (const YamlNode* key = reader.need("key")) taint.key = read_text(*key, "key", problems).value_or("");
      if (const YamlNode* value = reader.find("value")) taint.value = read_text(*value, "value", problems).value_or("");
      reader.finish();
    } else if (const auto text = read_text(*item, "a taint", problems)) {
      const size_t sign = text->find('=');
      taint.key = text->substr(0, sign);
      if (sign != std::string::npos) taint.value = text->substr(sign + 1);
    }
    if (!taint.key.empty()) spec.taints.push_back(std::move(taint));
  }
}

void read_devices(MapReader& reader, NodeSpec& spec, ReadContext& context) {
  Problems& problems = context.problems;
  int64_t gpus = 0;
  if (const YamlNode* value = reader.find("gpus")) {
    gpus = read_integer(*value, "gpus", 0, kMaxDevicesPerNode, problems).value_or(0);
  }
  DeviceSpec device;
  DeviceModelId model = context.catalogue.find(device.model);
  if (const YamlNode* value = reader.find("gpu")) {
    model = context.find_model(*value);
    if (is_set(model)) device.model = context.catalogue.model(model).name;
  }
  if (const YamlNode* value = reader.find("gpu_memory")) {
    device.memory_bytes = read_bytes(*value, "gpu_memory", 1, kBytesMax, problems).value_or(0);
  }
  spec.devices.assign(static_cast<size_t>(gpus), device);
  constexpr std::string_view kShares[] = {"exclusive", "mps", "timeslice"};
  if (const YamlNode* value = reader.find("share")) {
    spec.share = static_cast<ShareMode>(read_word(*value, "share", kShares, problems).value_or(0));
  }
  if (const YamlNode* value = reader.find("islands")) read_islands(*value, spec, problems);
  if (const YamlNode* value = reader.find("numa")) read_numa(*value, spec, problems);
  if (const YamlNode* value = reader.find("mig"); value != nullptr && is_set(model)) {
    read_mig(*value, spec, context.catalogue.model(model), problems);
  }
}

void read_labels(const YamlNode& node, NodeSpec& spec, Problems& problems) {
  if (node.kind != YamlNode::Kind::kMap) {
    problems.add(node.at, "labels is no map; labels such as {rack: r1} are expected");
    return;
  }
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const auto key = read_text(*node.items[i], "a label", problems);
    const auto value = read_text(*node.items[i + 1], "a label's value", problems);
    if (key && value) spec.labels.emplace_back(*key, *value);
  }
}

void define_nodes(NodeGroup group, ReadContext& context) {
  Scenario& out = context.out;
  if (out.node_count + group.count > kNodesMax) {
    context.problems.add(group.at, fmt::format("more than {} nodes", format_count(kNodesMax)));
    return;
  }
  if (!context.take_names(group.count, group.at)) return;
  group.first = out.node_count;
  for (uint32_t i = 0; i < group.count; ++i) {
    std::string name = group.is_numbered ? fmt::format("{}{}", group.spec.name, i) : group.spec.name;
    if (!context.nodes.try_emplace(name, group.first + i).second) {
      context.problems.add(group.at, fmt::format("there is a node '{}' already", name));
      return;
    }
  }
  out.node_count += group.count;
  out.nodes.push_back(std::move(group));
}

void read_node(const YamlNode& node, ReadContext& context) {
  Problems& problems = context.problems;
  MapReader reader(node, "a node", problems);
  NodeGroup group;
  group.at = node.at;
  NodeSpec& spec = group.spec;
  if (const YamlNode* name = reader.need("name")) spec.name = read_name(*name, "name", problems).value_or("");
  if (const YamlNode* count = reader.find("count")) {
    group.count = static_cast<uint32_t>(read_integer(*count, "count", 1, kNodesMax, problems).value_or(1));
    group.is_numbered = 1;
  }
  if (const YamlNode* value = reader.find("cpus")) {
    spec.cpu_milli = read_milli(*value, "cpus", 0, kCpuMilliMax, problems).value_or(spec.cpu_milli);
  }
  if (const YamlNode* value = reader.find("memory")) {
    spec.memory_bytes = read_bytes(*value, "memory", 0, kBytesMax, problems).value_or(spec.memory_bytes);
  }
  if (const YamlNode* value = reader.find("disk")) {
    spec.disk_bytes = read_bytes(*value, "disk", 0, kBytesMax, problems).value_or(spec.disk_bytes);
  }
  read_devices(reader, spec, context);
  if (const YamlNode* value = reader.find("labels")) read_labels(*value, spec, problems);
  if (const YamlNode* value = reader.find("taints")) read_taints(*value, spec, problems);
  reader.finish();
  if (!spec.name.empty()) define_nodes(std::move(group), context);
}

void read_levels(const YamlNode& node, ReadContext& context) {
  for (const YamlNode* item : read_list(node, "levels", context.problems)) {
    const auto name = read_text(*item, "a level", context.problems);
    if (!name) continue;
    auto& levels = context.out.topology.levels;
    if (std::find(levels.begin(), levels.end(), *name) != levels.end()) {
      context.problems.add(item->at, fmt::format("the level '{}' is listed twice", *name));
    } else if (std::find(std::begin(kReservedLevels), std::end(kReservedLevels), *name) != std::end(kReservedLevels)) {
      context.problems.add(item->at, fmt::format("'{}' is a level of every cluster and cannot be listed", *name));
    } else if (levels.size() == kLevelsMax) {
      context.problems.add(item->at, fmt::format("more than {} levels", kLevelsMax));
    } else {
      levels.push_back(*name);
    }
  }
}

}  // namespace

void read_cluster(const YamlNode& node, ReadContext& context) {
  MapReader reader(node, "cluster", context.problems);
  if (const YamlNode* levels = reader.find("levels")) read_levels(*levels, context);
  if (const YamlNode* nodes = reader.need("nodes")) {
    for (const YamlNode* item : read_list(*nodes, "nodes", context.problems)) read_node(*item, context);
  }
  reader.finish();
}

std::optional<NodeIndex> ReadContext::find_node(const YamlNode& name) {
  const auto text = read_name(name, "a node", problems);
  if (!text) return std::nullopt;
  if (const auto found = nodes.find(*text); found != nodes.end()) return found->second;
  if (problems.is_full()) return std::nullopt;
  std::vector<std::string_view> known;
  for (const auto& entry : nodes) known.push_back(entry.first);
  std::sort(known.begin(), known.end());
  problems.add(name.at, fmt::format("there is no node '{}'{}", *text, did_you_mean(*text, known)));
  return std::nullopt;
}

std::vector<DeviceModelId> ReadContext::find_models(const YamlNode& name) {
  const auto text = read_text(name, "gpu", problems);
  if (!text) return {};
  std::vector<DeviceModelId> found = catalogue.match(*text);
  if (found.empty()) {
    problems.add(name.at,
                 fmt::format("no GPU model '{}' is in the catalogue{}", *text, did_you_mean(*text, catalogue.names())));
  }
  return found;
}

DeviceModelId ReadContext::find_model(const YamlNode& name) {
  const std::vector<DeviceModelId> found = find_models(name);
  if (found.size() == 1) return found[0];
  if (!found.empty()) {
    std::vector<std::string_view> names;
    for (const DeviceModelId id : found) names.push_back(catalogue.model(id).name);
    problems.add(name.at,
                 fmt::format("gpu '{}' may be each of {}; write one of them", name.text, fmt::join(names, ", ")));
  }
  return kNone<DeviceModelId>;
}

std::string ReadContext::find_level(const YamlNode& name, std::string_view key, Also also) {
  std::vector<std::string_view> words;
  if (also == Also::kDevice) words.emplace_back("device");
  words.emplace_back("nvlink");
  words.emplace_back("node");
  words.insert(words.end(), out.topology.levels.begin(), out.topology.levels.end());
  const auto found = read_word(name, key, words, problems);
  return found ? std::string(words[*found]) : std::string();
}

}  // namespace weft::scenario
