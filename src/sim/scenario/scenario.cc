#include "sim/scenario/scenario.h"

#include "base/check.h"
#include "model/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

/// The group that holds `index`: the last that starts at or before it.
template <typename Group>
const Group& group_of(const std::vector<Group>& groups, uint32_t index) {
  const auto after =
      std::upper_bound(groups.begin(), groups.end(), index, [](uint32_t i, const Group& g) { return i < g.first; });
  WEFT_CHECK(after != groups.begin(), "the reader numbers from zero");
  return *std::prev(after);
}

template <typename Group>
std::string name_of(const Group& group, uint32_t index) {
  return group.is_numbered ? fmt::format("{}{}", group.spec.name, index - group.first) : group.spec.name;
}

}  // namespace

const DeviceCatalogue& known_devices() {
  static const DeviceCatalogue kDevices;
  return kDevices;
}

bool CountMatch::holds(int64_t found) const {
  switch (kind) {
    case Kind::kEqual: return found == value;
    case Kind::kAtLeast: return found >= value;
    case Kind::kAtMost: return found <= value;
    case Kind::kMore: return found > value;
    case Kind::kLess: return found < value;
  }
  return false;
}

std::string CountMatch::text() const {
  constexpr std::string_view kSigns[] = {"", ">=", "<=", ">", "<"};
  return fmt::format("{}{}", kSigns[static_cast<size_t>(kind)], value);
}

const NodeGroup& Scenario::node_group(NodeIndex node) const { return group_of(nodes, node); }
std::string Scenario::node_name(NodeIndex node) const { return name_of(node_group(node), node); }
const JobGroup& Scenario::job_group(JobIndex job) const { return group_of(jobs, job); }
std::string Scenario::job_name(JobIndex job) const { return name_of(job_group(job), job); }

std::string Scenario::task_name(JobIndex job, TaskIndex task) const {
  for (const RoleSpec& role : job_group(job).spec.roles) {
    if (task < role.count) return fmt::format("{}/{}", role.name, task);
    task -= std::max(role.count, 0);
  }
  return fmt::format("?/{}", task);
}

TaskIndex task_count(const JobSpec& job) {
  TaskIndex total = 0;
  for (const RoleSpec& role : job.roles) total += std::max(role.count, 0);
  return total;
}

}  // namespace weft::scenario
