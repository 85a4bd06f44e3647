#include "sim/scenario/read_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace weft::scenario {
namespace {

constexpr int64_t kGpusPerTaskMax = 1'000'000;
constexpr int64_t kCpuMilliMax = int64_t{1'000'000} * 1000;
constexpr int64_t kBytesMax = 1024 * 16 * kTiB;
constexpr size_t kRolesMax = 1000;

/// `gpus`: 8, or a fraction 0.5. A negative number is no mistake of the file: such a job is rejected.
void read_gpus(const YamlNode& node, RoleSpec& role, Problems& problems) {
  const auto milli = read_milli(node, "gpus", -kGpusPerTaskMax * 1000, kGpusPerTaskMax * 1000, problems);
  if (!milli || *milli == 0) return;
  if (*milli % 1000 == 0) {
    role.devices.kind = DeviceNeedKind::kWhole;
    role.devices.count = static_cast<int32_t>(*milli / 1000);
  } else if (*milli < 1000) {
    role.devices.kind = DeviceNeedKind::kMilli;
    role.devices.milli = static_cast<int32_t>(*milli);
  } else {
    problems.add(node.at,
                 fmt::format("gpus is '{}'; a whole number, or a fraction below 1, is expected", yaml_text(node)));
  }
}

/// The three ways of asking for devices, of which a task has one.
void read_device_need(MapReader& reader, RoleSpec& role, ReadContext& context) {
  Problems& problems = context.problems;
  const YamlNode* gpus = reader.find("gpus");
  const YamlNode* memory = reader.find("gpu_memory");
  const YamlNode* mig = reader.find("mig");
  if (gpus != nullptr) read_gpus(*gpus, role, problems);
  const bool has_gpus = role.devices.kind != DeviceNeedKind::kNone;
  if ((has_gpus && (memory != nullptr || mig != nullptr)) || (memory != nullptr && mig != nullptr)) {
    problems.add(reader.at(), "a task has one of gpus, gpu_memory (a share) and mig (an instance), not several");
    return;
  }
  if (memory != nullptr) {
    role.devices.kind = DeviceNeedKind::kMemory;
    role.devices.memory_bytes = read_bytes(*memory, "gpu_memory", -kBytesMax, kBytesMax, problems).value_or(kGiB);
  }
  if (mig != nullptr) {
    role.devices.kind = DeviceNeedKind::kMig;
    role.devices.mig_profile = read_text(*mig, "mig", problems).value_or("");
  }
}

void read_models(const YamlNode& node, RoleSpec& role, ReadContext& context) {
  for (const YamlNode* item : read_list_or_one(node, "gpu", context.problems)) {
    for (const DeviceModelId model : context.find_models(*item)) {
      role.constraint.models.push_back(context.catalogue.model(model).name);
    }
  }
}

/// 0 tasks are a mistake of the file; a negative number is a request that the scheduler rejects.
int32_t read_count(const YamlNode& node, Problems& problems) {
  const auto count = read_integer(node, "count", -kTasksMax, kTasksMax, problems);
  if (count && *count == 0) problems.add(node.at, "count is 0; a role has at least one task");
  return static_cast<int32_t>(count.value_or(1));
}

/// What a role says of its tasks; also the short form on a job. True where any of these keys is written.
void read_role_keys(MapReader& reader, RoleSpec& role, ReadContext& context) {
  Problems& problems = context.problems;
  if (const YamlNode* value = reader.find("count")) role.count = read_count(*value, problems);
  if (const YamlNode* value = reader.find("min")) {
    role.min = static_cast<int32_t>(read_integer(*value, "min", 0, std::max(role.count, 0), problems).value_or(-1));
  }
  read_device_need(reader, role, context);
  if (const YamlNode* value = reader.find("gpu")) read_models(*value, role, context);
  if (const YamlNode* value = reader.find("cpus")) {
    role.cpu_milli = read_milli(*value, "cpus", -kCpuMilliMax, kCpuMilliMax, problems).value_or(role.cpu_milli);
  }
  if (const YamlNode* value = reader.find("memory")) {
    role.memory_bytes = read_bytes(*value, "memory", -kBytesMax, kBytesMax, problems).value_or(role.memory_bytes);
  }
  if (const YamlNode* value = reader.find("node")) {
    if (const auto node = context.find_node(*value)) role.node = context.out.node_name(*node);
  }
  if (const YamlNode* value = reader.find("labels")) {
    if (value->kind != YamlNode::Kind::kMap) {
      problems.add(value->at, "labels is no map; labels such as {kind: fast} are expected");
    }
    for (size_t i = 0; value->kind == YamlNode::Kind::kMap && i + 1 < value->items.size(); i += 2) {
      const auto key = read_text(*value->items[i], "a label", problems);
      const auto text = read_text(*value->items[i + 1], "a label's value", problems);
      if (key && text) role.labels.emplace_back(*key, *text);
    }
  }
  if (const YamlNode* value = reader.find("numa")) {
    constexpr std::string_view kWords[] = {"one"};
    if (read_word(*value, "numa", kWords, problems)) role.numa = NumaNeed::kOneZone;
  }
}

bool has_role(const JobSpec& job, std::string_view name) {
  return std::any_of(job.roles.begin(), job.roles.end(), [&](const RoleSpec& r) { return r.name == name; });
}
const GroupSpec* find_group(const JobSpec& job, std::string_view name) {
  const auto found =
      std::find_if(job.groups.begin(), job.groups.end(), [&](const GroupSpec& g) { return g.name == name; });
  return found == job.groups.end() ? nullptr : &*found;
}

std::vector<std::string> read_names(const YamlNode& node, std::string_view key, Problems& problems) {
  std::vector<std::string> out;
  for (const YamlNode* item : read_list_or_one(node, key, problems)) {
    if (auto name = read_name(*item, key, problems)) out.push_back(std::move(*name));
  }
  return out;
}

/// Every role and group is in at most one group, and none is inside of itself. Requires: all names are known.
void check_group_tree(const JobSpec& job, Place at, Problems& problems) {
  std::unordered_set<std::string> members;
  for (const GroupSpec& group : job.groups) {
    for (const auto* names : {&group.roles, &group.groups}) {
      for (const std::string& name : *names) {
        if (!members.insert(name).second) problems.add(at, fmt::format("'{}' is a member of two groups", name));
      }
    }
  }
  for (const GroupSpec& group :
       job.groups) {  // one parent each: walking down from a group comes back to it only in a ring
    std::vector<const GroupSpec*> open{&group};
    for (size_t steps = 0; !open.empty() && steps <= job.groups.size(); ++steps) {
      const GroupSpec* at_group = open.back();
      open.pop_back();
      for (const std::string& name : at_group->groups) {
        if (name == group.name) {
          problems.add(at, fmt::format("the group '{}' is inside of itself", name));
          return;
        }
        if (const GroupSpec* inner = find_group(job, name)) open.push_back(inner);
      }
    }
  }
}

}  // namespace

void read_topology(MapReader& reader, TopologyNeed& need, ReadContext& context) {
  if (const YamlNode* value = reader.find("within"))
    need.within = context.find_level(*value, "within", ReadContext::Also::kNothing);
  if (const YamlNode* value = reader.find("prefer"))
    need.prefer = context.find_level(*value, "prefer", ReadContext::Also::kNothing);
}

/// `roles`, or the short form: one role whose keys stand on the job. The keys of the short form are asked for in any
/// case, so that they are known as keys of a job.
void read_roles(MapReader& reader, JobSpec& job, ReadContext& context) {
  Problems& problems = context.problems;
  const YamlNode* roles = reader.find("roles");
  RoleSpec short_form;
  const RoleSpec untouched;
  read_role_keys(reader, short_form, context);
  if (roles == nullptr) {
    job.roles.push_back(std::move(short_form));
    return;
  }
  if (!(short_form == untouched)) {
    problems.add(roles->at, "a job has roles or the short form (gpus, count, … on the job), not both");
  }
  const auto items = read_list(*roles, "roles", problems);
  if (items.size() > kRolesMax) {
    problems.add(roles->at, fmt::format("a job has more than {} roles", kRolesMax));
    return;
  }
  if (roles->kind == YamlNode::Kind::kList && items.empty())
    problems.add(roles->at, "roles is empty; a job has at least one role");
  for (const YamlNode* item : items) {
    MapReader role_reader(*item, "a role", problems);
    RoleSpec role;
    if (const YamlNode* name = role_reader.find("name")) role.name = read_name(*name, "name", problems).value_or("w");
    read_role_keys(role_reader, role, context);
    read_topology(role_reader, role.topology, context);
    role_reader.finish();
    const bool is_new =
        std::none_of(job.roles.begin(), job.roles.end(), [&](const RoleSpec& r) { return r.name == role.name; });
    if (!is_new) problems.add(item->at, fmt::format("the job has a role '{}' already", role.name));
    job.roles.push_back(std::move(role));
  }
}

void read_groups(const YamlNode& node, JobSpec& job, ReadContext& context) {
  constexpr size_t kGroupsMax = 200;
  constexpr int64_t kMembersMax = 2000;
  Problems& problems = context.problems;
  const auto items = read_list(node, "groups", problems);
  if (items.size() > kGroupsMax) {
    problems.add(node.at, fmt::format("more than {} groups", kGroupsMax));
    return;
  }
  for (const YamlNode* item : items) {
    MapReader reader(*item, "a group", problems);
    GroupSpec group;
    if (const YamlNode* name = reader.need("name")) group.name = read_name(*name, "name", problems).value_or("");
    if (const YamlNode* roles = reader.find("roles")) group.roles = read_names(*roles, "roles", problems);
    if (const YamlNode* groups = reader.find("groups")) group.groups = read_names(*groups, "groups", problems);
    const auto member_count = static_cast<int64_t>(group.roles.size() + group.groups.size());
    if (const YamlNode* min = reader.find("min")) {
      group.min = static_cast<int32_t>(read_integer(*min, "min", 0, member_count, problems).value_or(-1));
    }
    read_topology(reader, group.topology, context);
    reader.finish();
    if (member_count == 0) problems.add(item->at, "a group has no members; roles or groups are expected");
    if (member_count > kMembersMax) {
      problems.add(item->at, fmt::format("a group has more than {} members", kMembersMax));
      return;
    }
    if (has_role(job, group.name) || find_group(job, group.name) != nullptr) {
      problems.add(item->at, fmt::format("the job has a role or group '{}' already", group.name));
    }
    for (const std::string& role : group.roles) {
      if (has_role(job, role)) continue;
      std::vector<std::string_view> known;
      for (const RoleSpec& r : job.roles) known.push_back(r.name);
      problems.add(item->at, fmt::format("the job has no role '{}'{}", role, did_you_mean(role, known)));
    }
    job.groups.push_back(std::move(group));
  }
  bool are_known = true;
  for (const GroupSpec& group : job.groups) {
    for (const std::string& name : group.groups) {
      if (find_group(job, name) != nullptr) continue;
      problems.add(node.at, fmt::format("the job has no group '{}', which '{}' lists", name, group.name));
      are_known = false;
    }
  }
  if (are_known) check_group_tree(job, node.at, problems);
}

/// Members of the job itself: groups that no group holds, and roles that no group holds.
int64_t top_member_count(const JobSpec& job) {
  auto count = static_cast<int64_t>(job.roles.size() + job.groups.size());
  for (const GroupSpec& group : job.groups) count -= static_cast<int64_t>(group.roles.size() + group.groups.size());
  return count;
}

}  // namespace weft::scenario
