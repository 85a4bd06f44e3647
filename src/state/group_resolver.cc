#include "state/job_resolver.h"
#include "state/spec_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace weft {

namespace {

constexpr int32_t kTheJob = -1;

SpecPlace where_of(const SpecPlace& job, const GroupSpec& group) {
  return {.job = job.job, .part = "group", .name = group.name};
}

}  // namespace

Result<void> JobResolver::groups() {
  if (auto ok = group_names(); !ok) return ok;
  if (auto ok = group_members(); !ok) return ok;
  const std::vector<int32_t> order = lay_out_groups();
  for (size_t g = 0; g < spec_.groups.size();
       ++g) {  // every group has one parent at most: those not reached hold each other
    if (std::ranges::find(order, static_cast<int32_t>(g)) == order.end()) {
      return invalid(where_of(where_, spec_.groups[g]) + ": it is inside a group that it holds itself");
    }
  }
  for (size_t i = 0; i < order.size(); ++i) {
    if (auto ok = group_rule(order[i], shape_.groups[i]); !ok) return ok;
  }
  return {};
}

Result<void> JobResolver::group_names() {
  std::map<std::string_view, size_t> seen;
  for (const GroupSpec& group : spec_.groups) {
    if (group.name.empty()) return invalid(where_ + ": a group has no name");
    if (!seen.emplace(group.name, seen.size()).second)
      return invalid(fmt::format("{}: two groups are called {}", where_, quoted(group.name)));
    if (group.roles.empty() && group.groups.empty()) return invalid(where_of(where_, group) + ": it has no members");
  }
  return {};
}

Result<void> JobResolver::group_members() {
  std::map<std::string_view, int32_t> role_index;
  std::map<std::string_view, int32_t> group_index;
  for (size_t r = 0; r < spec_.roles.size(); ++r) role_index[spec_.roles[r].name] = static_cast<int32_t>(r);
  for (size_t g = 0; g < spec_.groups.size(); ++g) group_index[spec_.groups[g].name] = static_cast<int32_t>(g);
  group_of_role_.assign(spec_.roles.size(), kTheJob);
  group_of_group_.assign(spec_.groups.size(), kTheJob);
  roles_of_.resize(spec_.groups.size());
  groups_of_.resize(spec_.groups.size());
  const auto join = [&](size_t g, const char* what, const std::string& name,
                        const std::map<std::string_view, int32_t>& known, std::vector<int32_t>& owner,
                        std::vector<int32_t>& members) -> Result<void> {
    const auto found = known.find(name);
    if (found == known.end()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: unknown {} {}", where_of(where_, spec_.groups[g]), what, quoted(name)));
    }
    int32_t& group = owner[static_cast<size_t>(found->second)];
    if (group != kTheJob)
      return invalid(fmt::format("{}: {} {} is in two groups, or twice in one", where_, what, quoted(name)));
    group = static_cast<int32_t>(g);
    members.push_back(found->second);
    return {};
  };
  for (size_t g = 0; g < spec_.groups.size(); ++g) {
    for (const std::string& name : spec_.groups[g].roles) {
      if (auto ok = join(g, "role", name, role_index, group_of_role_, roles_of_[g]); !ok) return ok;
    }
    for (const std::string& name : spec_.groups[g].groups) {
      if (auto ok = join(g, "group", name, group_index, group_of_group_, groups_of_[g]); !ok) return ok;
    }
  }
  return {};
}

/// Group 0 is the job; the others follow level by level, so that a parent stands before its children. Returns for every
/// group of the shape the one of the spec.
std::vector<int32_t> JobResolver::lay_out_groups() {
  std::vector<int32_t> order{kTheJob};
  shape_.groups.assign(1, GroupShape{});
  for (size_t at = 0; at < order.size(); ++at) {
    const int32_t group = order[at];
    for (size_t r = 0; r < spec_.roles.size(); ++r) {
      if (group == kTheJob && group_of_role_[r] == kTheJob) shape_.groups[at].roles.push_back(static_cast<int32_t>(r));
    }
    std::vector<int32_t> children;
    if (group == kTheJob) {
      for (size_t g = 0; g < spec_.groups.size(); ++g) {
        if (group_of_group_[g] == kTheJob) children.push_back(static_cast<int32_t>(g));
      }
    } else {
      shape_.groups[at].roles = roles_of_[static_cast<size_t>(group)];
      children = groups_of_[static_cast<size_t>(group)];
    }
    for (const int32_t child : children) {
      shape_.groups[at].groups.push_back(static_cast<int32_t>(order.size()));
      order.push_back(child);
      shape_.groups.emplace_back().parent = static_cast<int32_t>(at);
    }
  }
  return order;
}

Result<void> JobResolver::group_rule(int32_t group, GroupShape& out) {
  const bool is_job = group == kTheJob;
  const SpecPlace where = is_job ? where_ : where_of(where_, spec_.groups[static_cast<size_t>(group)]);
  const int32_t wish = is_job ? spec_.min_groups : spec_.groups[static_cast<size_t>(group)].min;
  const char* const field = is_job ? "min_groups" : "min";
  const auto members = static_cast<int32_t>(out.roles.size() + out.groups.size());
  if (wish != -1 && wish < 1) return invalid(fmt::format("{}: {} must be at least 1, got {}", where, field, wish));
  if (wish > members) return invalid(fmt::format("{}: {} {} is more than its {} members", where, field, wish, members));
  out.min = wish == -1 ? members : wish;
  if (is_job) return {};  // its scope is resolved with the job
  auto topology = scope(where, spec_.groups[static_cast<size_t>(group)].topology);
  if (!topology) return std::unexpected(std::move(topology.error()));
  out.scope = *topology;
  return {};
}

}  // namespace weft
