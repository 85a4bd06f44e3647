#include "base/bits.h"
#include "sim/scenario/read_context.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

const RoleSpec& role_of(const JobSpec& job, TaskIndex task) {
  size_t role = 0;
  while (task >= std::max(job.roles[role].count, 0)) task -= std::max(job.roles[role++].count, 0);
  return job.roles[role];
}

/// What the role needs, what the node has, and what the file says: they must agree.
void check_devices(const RoleSpec& role, const NodeSpec& node, const std::vector<DeviceWord>& words, Place at,
                   TaskSeat& seat, Problems& problems) {
  const DeviceNeed& need = role.devices;
  const int32_t wanted = need.kind == DeviceNeedKind::kNone ? 0 : need.kind == DeviceNeedKind::kWhole ? need.count : 1;
  if (static_cast<int64_t>(words.size()) != wanted) {
    problems.add(at,
                 fmt::format("devices names {}, but a task of the role '{}' has {}", words.size(), role.name, wanted));
    return;
  }
  for (const DeviceWord& word : words) {
    if (word.device >= node.devices.size()) {
      problems.add(at, fmt::format("devices names device {}, but the node '{}' has {} gpus", word.device, node.name,
                                   node.devices.size()));
      return;
    }
    const DeviceMask bit = DeviceMask{1} << word.device;
    if ((seat.devices & bit) != 0) problems.add(at, fmt::format("devices names device {} twice", word.device));
    seat.devices |= bit;
    if (word.profile.empty()) continue;
    if (need.kind != DeviceNeedKind::kMig || word.profile != need.mig_profile) {
      problems.add(at, fmt::format("devices names an instance {}, but the role '{}' does not ask for one", word.profile,
                                   role.name));
    }
    seat.mig_start = word.start;
  }
}

void read_seat_map(const YamlNode& value, const RoleSpec& role, TaskSeat& seat, ReadContext& context) {
  Problems& problems = context.problems;
  MapReader reader(value, "a place", problems);
  std::optional<NodeIndex> node;
  if (const YamlNode* name = reader.need("node")) node = context.find_node(*name);
  const YamlNode* devices = reader.find("devices");
  const YamlNode* numa = reader.find("numa");
  reader.finish();
  if (!node) return;
  seat.node = *node;
  const NodeSpec& spec = context.out.node_group(*node).spec;
  if (devices != nullptr) {
    std::vector<DeviceWord> words;
    for (const YamlNode* item : read_list(*devices, "devices", problems)) {
      if (auto word = read_device_word(*item, "devices", context)) words.push_back(std::move(*word));
    }
    if (!problems.is_full()) check_devices(role, spec, words, devices->at, seat, problems);
  }
  if (numa != nullptr) {
    const auto zones = static_cast<int64_t>(std::max<size_t>(spec.numa.size(), 1));
    if (const auto zone = read_integer(*numa, "numa", 0, zones - 1, problems))
      seat.numa_zone = static_cast<uint8_t>(*zone);
  }
}

}  // namespace

std::optional<DeviceWord> read_device_word(const YamlNode& node, std::string_view key, ReadContext& context) {
  const auto expected = [&] {
    context.problems.add(
        node.at, fmt::format("{} holds '{}'; a device such as 3, or an instance such as \"0:2g.20gb@4\", is expected",
                             key, yaml_text(node)));
    return std::nullopt;
  };
  if (node.kind != YamlNode::Kind::kScalar) return expected();
  const std::string_view text = node.text;
  const size_t colon = text.find(':');
  const auto device = parse_integer(text.substr(0, colon), 0, kMaxDevicesPerNode - 1);
  if (!device) return expected();
  DeviceWord word{.device = static_cast<uint8_t>(*device)};
  if (colon == std::string_view::npos) return word;
  const std::string_view instance = text.substr(colon + 1);
  const size_t sign = instance.find('@');
  word.profile = instance.substr(0, sign);
  if (word.profile.empty()) return expected();
  if (sign == std::string_view::npos) return word;
  const auto start = parse_integer(instance.substr(sign + 1), 0, 15);
  if (!start) return expected();
  word.start = static_cast<int8_t>(*start);
  return word;
}

std::optional<TaskIndex> find_task(const JobSpec& job, std::string_view text, std::string_view job_name, Place at,
                                   Problems& problems) {
  const size_t slash = text.find('/');
  const std::string_view role_name = text.substr(0, slash);
  TaskIndex first = 0;
  std::vector<std::string_view> known;
  for (const RoleSpec& role : job.roles) {
    if (role.name == role_name) {
      const auto number = slash == std::string_view::npos ? Result<int64_t>(fail(ErrorCode::kInvalidInput, ""))
                                                          : parse_integer(text.substr(slash + 1), 0, kTasksMax);
      if (number && *number < role.count) return first + static_cast<TaskIndex>(*number);
      problems.add(at, fmt::format("'{}' is no task of '{}'; its role '{}' has the tasks {}/0 to {}/{}", text, job_name,
                                   role.name, role.name, role.name, role.count - 1));
      return std::nullopt;
    }
    known.push_back(role.name);
    first += std::max(role.count, 0);
  }
  const std::string_view meant = meant_by(role_name, known);
  problems.add(at, meant.empty()
                       ? fmt::format("'{}' is no task of '{}'; its roles are {}", text, job_name, join_words(known))
                       : fmt::format("'{}' is no task of '{}'; did you mean the role '{}'?", text, job_name, meant));
  return std::nullopt;
}

void read_seats(const YamlNode& node, JobGroup& group, ReadContext& context) {
  Problems& problems = context.problems;
  if (node.kind != YamlNode::Kind::kMap) {
    problems.add(node.at, "at is no map; tasks and where they run, such as {w/0: a0}, are expected");
    return;
  }
  for (size_t i = 0; i + 1 < node.items.size() && !problems.is_full(); i += 2) {
    const YamlNode& key = *node.items[i];
    const YamlNode& value = *node.items[i + 1];
    const auto name = read_text(key, "a task", problems);
    if (!name) continue;
    const auto task = find_task(group.spec, *name, group.spec.name, key.at, problems);
    if (!task) continue;
    TaskSeat seat{.task = *task};
    if (value.kind == YamlNode::Kind::kMap) {
      read_seat_map(value, role_of(group.spec, *task), seat, context);
    } else if (const auto found = context.find_node(value)) {
      seat.node = *found;
    }
    group.seats.push_back(seat);
  }
}

}  // namespace weft::scenario
