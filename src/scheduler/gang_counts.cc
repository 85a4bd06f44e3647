#include "scheduler/gang_counts.h"

#include <algorithm>

namespace weft {
namespace {

int32_t present(const RoleCounts& c) { return c.held + c.running + c.done; }

/// A member of a group, as the choice of what to complete sees it.
struct Member {
  int32_t rank = 0;   ///< 0: holds, 1: has begun, 2: neither
  int32_t order = 0;  ///< roles first, each in the order of the shape
  int32_t role = -1;
  int32_t group = -1;
};

bool has_begun(const Shape& shape, std::span<const RoleCounts> counts, size_t group) {
  for (const int32_t role : shape.groups[group].roles) {
    if (present(counts[static_cast<size_t>(role)]) > 0) return true;
  }
  for (const int32_t child : shape.groups[group].groups) {
    if (has_begun(shape, counts, static_cast<size_t>(child))) return true;
  }
  return false;
}

}  // namespace

int32_t role_minimum(const Shape& shape, size_t role) {
  if (shape.roles[role].min > 0) return shape.roles[role].min;
  const bool is_all_zero = std::ranges::all_of(shape.roles, [](const RoleShape& r) { return r.min <= 0; });
  if (!is_all_zero) return 0;
  const auto first = std::ranges::find_if(shape.roles, [](const RoleShape& r) { return r.count > 0; });
  return first != shape.roles.end() && static_cast<size_t>(first - shape.roles.begin()) == role ? 1 : 0;
}

bool is_elastic(const Shape& shape) {
  const auto has_more = [](const RoleShape& role) { return role.min < role.count; };
  const auto needs_fewer = [](const GroupShape& group) {
    return static_cast<size_t>(std::max(group.min, 0)) < group.roles.size() + group.groups.size();
  };
  return std::ranges::any_of(shape.roles, has_more) || std::ranges::any_of(shape.groups, needs_fewer);
}

void fill_wanted(const Shape& shape, int32_t wish, std::vector<int32_t>& counts) {
  counts.clear();
  int32_t left = wish;
  for (size_t role = 0; role < shape.roles.size(); ++role) {
    counts.push_back(role_minimum(shape, role));
    left -= counts.back();
  }
  for (size_t role = 0; role < shape.roles.size(); ++role) {
    const int32_t more = std::clamp(left, 0, std::max(shape.roles[role].count - counts[role], 0));
    counts[role] += more;
    left -= more;
  }
}

bool has_scope(const Shape& shape) {
  const auto asks = [](const ScopeNeed& need) {
    return need.within.kind != LevelNeed::Kind::kNone || need.prefer.kind != LevelNeed::Kind::kNone;
  };
  return std::ranges::any_of(shape.groups, asks, &GroupShape::scope) ||
         std::ranges::any_of(shape.roles, asks, &RoleShape::scope);
}

template <typename Have>
bool GangCheck::holds(const Shape& shape, const Have& have) {
  const auto role_holds = [&](size_t role) { return have(role) >= role_minimum(shape, role); };
  if (shape.gang == GangRule::kNone || shape.groups.size() == 1) {
    int32_t holding = 0;
    for (size_t role = 0; role < shape.roles.size(); ++role) holding += role_holds(role) ? 1 : 0;
    const auto roles = static_cast<int32_t>(shape.roles.size());
    return holding >= (shape.gang == GangRule::kNone ? roles : std::min(roles, shape.groups[0].min));
  }
  group_holds_.assign(shape.groups.size(), 0);
  for (size_t g = shape.groups.size(); g > 0; --g) {  // children come after their parent
    const GroupShape& group = shape.groups[g - 1];
    int32_t holding = 0;
    for (const int32_t role : group.roles) holding += role_holds(static_cast<size_t>(role)) ? 1 : 0;
    for (const int32_t child : group.groups) holding += group_holds_[static_cast<size_t>(child)];
    group_holds_[g - 1] = holding >= group.min ? 1 : 0;
  }
  return group_holds_[0] != 0;
}

bool GangCheck::is_whole(const Shape& shape, std::span<const RoleCounts> counts, Count what) {
  return holds(shape, [&](size_t role) {
    const RoleCounts& c = counts[role];
    return c.running + c.done + (what == Count::kCounted ? c.held : 0);
  });
}

bool GangCheck::is_done(const Shape& shape, std::span<const RoleCounts> counts) {
  return holds(shape, [&](size_t role) { return counts[role].done; });
}

void GangCheck::choose(const Shape& shape, std::span<const RoleCounts> counts, size_t group_index) {
  const GroupShape& group = shape.groups[group_index];
  std::vector<Member> members;
  for (const int32_t role : group.roles) {
    const RoleCounts& c = counts[static_cast<size_t>(role)];
    const bool is_holding = present(c) >= role_minimum(shape, static_cast<size_t>(role));
    members.push_back({.rank = is_holding ? 0 : (present(c) > 0 ? 1 : 2), .order = role, .role = role});
  }
  for (const int32_t child : group.groups) {
    const auto c = static_cast<size_t>(child);
    const int32_t rank = group_holds_[c] != 0 ? 0 : (has_begun(shape, counts, c) ? 1 : 2);
    members.push_back({.rank = rank, .order = static_cast<int32_t>(shape.roles.size()) + child, .group = child});
  }
  std::ranges::sort(members, {}, [](const Member& m) { return std::pair(m.rank, m.order); });
  const size_t needed = std::min(members.size(), static_cast<size_t>(std::max(group.min, 0)));
  for (size_t i = 0; i < needed; ++i) {
    const Member& m = members[i];
    if (m.role >= 0) {
      const auto role = static_cast<size_t>(m.role);
      missing_[role] = std::max(0, role_minimum(shape, role) - present(counts[role]));
    } else if (m.rank != 0) {
      choose(shape, counts, static_cast<size_t>(m.group));
    }
  }
}

std::span<const int32_t> GangCheck::missing(const Shape& shape, std::span<const RoleCounts> counts) {
  missing_.assign(shape.roles.size(), 0);
  group_holds_.assign(shape.groups.size(), 0);
  if (is_whole(shape, counts, Count::kCounted)) return {};
  choose(shape, counts, 0);
  for (size_t role = 0; role < shape.roles.size(); ++role) {
    const RoleCounts& c = counts[role];
    if (missing_[role] > shape.roles[role].count - present(c) - c.releasing) return {};
  }
  return missing_;
}

}  // namespace weft
