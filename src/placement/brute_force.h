#pragma once

#include "base/bits.h"
#include "placement/placer.h"
#include "placement/plain_books.h"
#include "placement/region.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {

/// Whether a gang can be placed in a small world at all, by trying everything. Shares nothing with the search but the
/// tables of facts: what is free stands in books of its own, and the rules are read from the shape itself.
class BruteForce {
 public:
  BruteForce(const ClusterState& state, const Shape& shape, std::vector<int32_t> counts, JobId job)
      : state_(state), shape_(shape), counts_(std::move(counts)), books_(state) {
    for (const RoleShape& role : shape.roles) options_.push_back(books_.options_of(role.demand));
    leaf_group_.assign(shape.roles.size(), 0);
    for (size_t g = 0; g < shape.groups.size(); ++g) {
      for (const int32_t role : shape.groups[g].roles) leaf_group_[static_cast<size_t>(role)] = static_cast<int32_t>(g);
    }
    find_running(job);
    list_choices();
  }

  /// Every node's devices that may be used; a node with none set may not be used at all (tasks without devices
  /// included).
  using Allowed = std::vector<std::optional<DeviceMask>>;
  Allowed everywhere() const { return Allowed(state_.nodes().size(), ~DeviceMask{0}); }

  bool is_possible(const Allowed& allowed) {
    allowed_ = &allowed;
    for (const uint64_t roles : choices_) {
      tasks_.clear();
      for (size_t r = 0; r < shape_.roles.size(); ++r) {
        if (((roles >> r) & 1U) == 0) continue;
        for (int32_t t = 0; t < counts_[r]; ++t) tasks_.push_back(static_cast<uint32_t>(r));
      }
      chosen_.clear();
      if (place(0)) return true;
    }
    return false;
  }

  /// What is wrong with an answer; empty when it is right.
  std::string check(const GangPlacement& at) {
    uint64_t roles = 0;
    std::vector<int32_t> found(shape_.roles.size(), 0);
    for (const uint16_t role : at.role) ++found[role];
    for (size_t r = 0; r < found.size(); ++r) {
      if (found[r] != 0 && found[r] != counts_[r]) return "a role is placed in part";
      if (found[r] != 0) roles |= uint64_t{1} << r;
    }
    if (std::ranges::find(choices_, roles) == choices_.end()) return "the wrong members are placed";
    if (!std::ranges::is_sorted(at.role)) return "tasks do not stand role by role";
    const Allowed all = everywhere();
    allowed_ = &all;
    PlainBooks before = books_;
    std::string wrong;
    chosen_.clear();
    for (size_t i = 0; i < at.tasks.size() && wrong.empty(); ++i) {
      const TaskPlacement& task = at.tasks[i];
      const TaskOption option{.node = index(task.node),
                              .devices = task.devices,
                              .zone = task.numa_zone,
                              .start = task.mig_start,
                              .profile = task.mig_profile};
      const auto& options = options_[at.role[i]];
      if (std::ranges::find(options, option) == options.end()) wrong = "a task is where it may not be";
      if (wrong.empty() && !fits(at.role[i], option)) wrong = "a task does not fit beside the others";
      if (wrong.empty()) books_.take(demand_of(at.role[i]), option);
      chosen_.emplace_back(at.role[i], option);
      if (wrong.empty() && !obeys_scopes()) wrong = "a scope lies apart";
    }
    chosen_.clear();
    books_ = std::move(before);
    return wrong;
  }

  /// The places of one task that runs already.
  struct Running {
    uint32_t role = 0;
    NodeId node = kNone<NodeId>;
    DeviceMask devices = 0;
  };
  const std::vector<Running>& running() const { return running_; }

 private:
  const TaskDemand& demand_of(size_t role) const { return shape_.roles[role].demand; }
  bool fits(size_t role, const TaskOption& option) const {
    return books_.fits(demand_of(role), option, (*allowed_)[option.node]);
  }

  void find_running(JobId job) {
    if (!is_set(job) || !is_set(state_.jobs().first_task[index(job)])) return;
    const size_t first = index(state_.jobs().first_task[index(job)]);
    for (size_t t = first; t < first + state_.jobs().task_count[index(job)]; ++t) {
      if (state_.tasks().state[t] != TaskState::kRunning) continue;
      running_.push_back(
          {state_.tasks().role[t], state_.tasks().placement[t].node, state_.tasks().placement[t].devices});
    }
  }

  enum class Member : uint8_t { kRole, kGroup };

  bool has_running(Member kind, int32_t member) const {
    return std::ranges::any_of(running_, [&](const Running& task) {
      if (kind == Member::kRole) return task.role == static_cast<uint32_t>(member);
      for (int32_t g = leaf_group_[task.role]; g >= 0; g = shape_.groups[static_cast<size_t>(g)].parent) {
        if (g == member) return true;
      }
      return false;
    });
  }

  /// All sets of roles that a group may start: for each group exactly as many members as it still needs.
  std::vector<uint64_t> sets_of(const GroupShape& group) const {
    std::vector<std::vector<uint64_t>> asked;
    int32_t running = 0;
    for (const int32_t role : group.roles) {
      if (counts_[static_cast<size_t>(role)] > 0) {
        asked.push_back({uint64_t{1} << role});
      } else {
        running += has_running(Member::kRole, role) ? 1 : 0;
      }
    }
    for (const int32_t child : group.groups) {
      std::vector<uint64_t> sets = sets_of(shape_.groups[static_cast<size_t>(child)]);
      std::erase(sets, 0);
      if (!sets.empty()) {
        asked.push_back(std::move(sets));
      } else {
        running += has_running(Member::kGroup, child) ? 1 : 0;
      }
    }
    const auto members = static_cast<int32_t>(asked.size());
    int32_t needed = group.min - running;
    if (needed <= 0 || needed > members) needed = members;
    std::vector<uint64_t> sets;
    for (uint32_t subset = 0; subset < (1U << members); ++subset) {
      if (static_cast<int32_t>(popcount(subset)) != needed) continue;
      std::vector<uint64_t> joined{0};
      for_each_bit(subset, [&](unsigned m) {
        std::vector<uint64_t> next;
        for (const uint64_t a : joined) {
          for (const uint64_t b : asked[m]) next.push_back(a | b);
        }
        joined = std::move(next);
      });
      sets.insert(sets.end(), joined.begin(), joined.end());
    }
    return sets;
  }
  void list_choices() { choices_ = sets_of(shape_.groups[0]); }

  /// Where a task lies at a level: an arbitrary number that is equal for tasks of one domain, -1 for none.
  int64_t place_at(const LevelNeed& level, size_t node, DeviceMask devices) const {
    switch (level.kind) {
      case LevelNeed::Kind::kNone: return 0;
      case LevelNeed::Kind::kNode: return static_cast<int64_t>(node);
      case LevelNeed::Kind::kNvlink: {
        if (devices == 0) return static_cast<int64_t>(node) * 100 + 99;  // on the node, in no island of its own
        const auto& islands = state_.layouts()[state_.nodes().layout[node]].islands;
        for (size_t i = 0; i < islands.size(); ++i) {
          if ((devices & ~islands[i]) == 0) return static_cast<int64_t>(node) * 100 + static_cast<int64_t>(i);
        }
        return -1;
      }
      case LevelNeed::Kind::kLevel: {
        const DomainId domain = state_.nodes().domains[node][index(level.level)];
        return is_set(domain) ? static_cast<int64_t>(index(domain)) : -1;
      }
    }
    return -1;
  }

  bool lie_together(const LevelNeed& level, const std::function<bool(size_t)>& is_of_scope) const {
    if (level.kind == LevelNeed::Kind::kNone) return true;
    int64_t common = -2;
    int64_t common_node = -2;
    const auto add = [&](size_t node, DeviceMask devices) {
      const int64_t place = place_at(level, node, devices);
      if (place < 0) return false;
      if (level.kind == LevelNeed::Kind::kNvlink && devices == 0) {
        if (common_node != -2 && common_node != static_cast<int64_t>(node)) return false;
        common_node = static_cast<int64_t>(node);
        return true;
      }
      if (level.kind == LevelNeed::Kind::kNvlink) {
        if (common_node != -2 && common_node != static_cast<int64_t>(node)) return false;
        common_node = static_cast<int64_t>(node);
      }
      if (common != -2 && common != place) return false;
      common = place;
      return true;
    };
    for (const Running& task : running_) {
      if (is_of_scope(task.role) && !add(index(task.node), task.devices)) return false;
    }
    for (const auto& [role, option] : chosen_) {
      if (is_of_scope(role) && !add(option.node, option.devices)) return false;
    }
    return true;
  }

  bool obeys_scopes() const {
    for (size_t r = 0; r < shape_.roles.size(); ++r) {
      if (!lie_together(shape_.roles[r].scope.within, [&](size_t role) { return role == r; })) return false;
    }
    for (size_t g = 0; g < shape_.groups.size(); ++g) {
      const auto is_inside = [&](size_t role) {
        for (int32_t at = leaf_group_[role]; at >= 0; at = shape_.groups[static_cast<size_t>(at)].parent) {
          if (static_cast<size_t>(at) == g) return true;
        }
        return false;
      };
      if (!lie_together(shape_.groups[g].scope.within, is_inside)) return false;
    }
    return true;
  }

  /// Equal tasks take options in ascending order.
  bool place(size_t t, size_t first = 0) {
    if (t == tasks_.size()) return true;
    const uint32_t role = tasks_[t];
    for (size_t o = first; o < options_[role].size(); ++o) {
      const TaskOption option = options_[role][o];
      if (!fits(role, option)) continue;
      const PlainBooks::NodeBook before = books_.node(option.node);
      books_.take(demand_of(role), option);
      chosen_.emplace_back(role, option);
      const bool is_same_next = t + 1 < tasks_.size() && tasks_[t + 1] == role;
      const bool is_done = obeys_scopes() && place(t + 1, is_same_next ? o : 0);
      chosen_.pop_back();
      books_.put_back(option.node, before);
      if (is_done) return true;
    }
    return false;
  }

  const ClusterState& state_;
  const Shape& shape_;
  std::vector<int32_t> counts_;
  PlainBooks books_;
  std::vector<std::vector<TaskOption>> options_;
  std::vector<int32_t> leaf_group_;
  std::vector<Running> running_;
  std::vector<uint64_t> choices_;
  std::vector<uint32_t> tasks_;
  std::vector<std::pair<uint32_t, TaskOption>> chosen_;
  const Allowed* allowed_ = nullptr;
};

}  // namespace weft::testing
