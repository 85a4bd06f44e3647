#pragma once

#include "base/bits.h"
#include "placement/device_choice.h"
#include "placement/gang_plan.h"
#include "placement/placer.h"
#include "placement/region.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace weft::testing {

/// Whether a gang can be placed in a small world at all, by trying everything. Shares nothing with the search but the
/// tables of facts: it keeps its own books of what is free and reads rules from the shape itself.
class BruteForce {
 public:
  BruteForce(const ClusterState& state, const Shape& shape, std::vector<int32_t> counts, JobId job)
      : state_(state), shape_(shape), counts_(std::move(counts)) {
    for (size_t n = 0; n < state.nodes().size(); ++n) books_.push_back(read_node(n));
    options_.resize(shape.roles.size());
    for (size_t r = 0; r < shape.roles.size(); ++r) list_options(r);
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
    std::vector<Book> before = books_;
    std::string wrong;
    chosen_.clear();
    for (size_t i = 0; i < at.tasks.size() && wrong.empty(); ++i) {
      const TaskPlacement& task = at.tasks[i];
      const Option option{.node = index(task.node),
                          .devices = task.devices,
                          .zone = task.numa_zone,
                          .start = task.mig_start,
                          .profile = task.mig_profile};
      const auto& options = options_[at.role[i]];
      if (std::ranges::find(options, option) == options.end()) wrong = "a task is where it may not be";
      if (wrong.empty() && !fits(at.role[i], option)) wrong = "a task does not fit beside the others";
      if (wrong.empty()) take(at.role[i], option);
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
  struct Device {
    DeviceModelId model{};
    int64_t memory = 0, free_memory = 0;
    int32_t milli = 0;
    bool usable = false, is_free = false, is_shared = false, is_mig = false, is_fixed = false;
    unsigned occupied = 0, compute = 0, busy = 0;
    bool operator==(const Device&) const = default;
  };
  struct Book {
    bool is_there = false;
    int64_t cpu = 0, memory = 0, disk = 0;
    std::vector<int64_t> zone_cpu;
    std::vector<Device> devices;
    bool operator==(const Book&) const = default;
  };
  struct Option {
    size_t node = 0;
    DeviceMask devices = 0;
    uint8_t zone = kNoZone;
    uint8_t start = 0;
    MigProfileIndex profile = kNoProfile;
    bool operator==(const Option&) const = default;
  };

  Book read_node(size_t n) const {
    const NodeTable& nodes = state_.nodes();
    Book book{.is_there = nodes.is_up[n] != 0 && nodes.is_cordoned[n] == 0,
              .cpu = nodes.free_cpu_milli[n],
              .memory = nodes.free_memory_bytes[n],
              .disk = nodes.free_disk_bytes[n],
              .zone_cpu = {},
              .devices = {}};
    for (size_t z = 0; z < nodes.zone_count[n]; ++z)
      book.zone_cpu.push_back(state_.zones().free_cpu_milli[nodes.first_zone[n] + z]);
    for (size_t d = 0; d < nodes.device_count[n]; ++d) {
      const size_t row = nodes.first_device[n] + d;
      const auto has = [&](DeviceMask mask) { return ((mask >> d) & 1U) != 0; };
      book.devices.push_back({.model = state_.devices().model[row],
                              .memory = state_.devices().memory_bytes[row],
                              .free_memory = state_.devices().free_memory_bytes[row],
                              .milli = state_.devices().free_milli[row],
                              .usable = has(nodes.healthy[n]) && !has(nodes.cordoned[n]),
                              .is_free = has(nodes.free[n]),
                              .is_shared = has(nodes.shared[n]),
                              .is_mig = has(nodes.mig[n]),
                              .is_fixed = state_.devices().mig_cut[row] == MigCut::kFixed,
                              .occupied = state_.devices().mig_occupied[row],
                              .compute = state_.devices().mig_compute_used[row],
                              .busy = state_.devices().mig_fixed_busy[row]});
    }
    return book;
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

  bool model_will_do(const Device& device, const DeviceDemand& demand) const {
    if (!demand.models.empty() && std::ranges::find(demand.models, device.model) == demand.models.end()) return false;
    if (device.memory < demand.memory_bytes_min) return false;
    return state_.names().devices.model(device.model).compute_capability >= demand.compute_capability_min;
  }

  bool may_be_on(const TaskDemand& demand, size_t n) const {
    if (!books_[n].is_there || (is_set(demand.node) && index(demand.node) != n)) return false;
    for (const LabelId label : demand.labels) {
      if (std::ranges::find(state_.nodes().labels[n], label) == state_.nodes().labels[n].end()) return false;
    }
    for (const LabelId taint : state_.nodes().taints[n]) {
      if (std::ranges::find(demand.tolerations, taint) == demand.tolerations.end()) return false;
    }
    return true;
  }

  void list_options(size_t role) {
    const TaskDemand& demand = shape_.roles[role].demand;
    for (size_t n = 0; n < books_.size(); ++n) {
      if (!may_be_on(demand, n)) continue;
      const size_t devices = books_[n].devices.size();
      for (DeviceMask mask = 0; mask < (DeviceMask{1} << devices); ++mask) {
        if (device_sets_fit(demand.devices, n, mask)) add_zones(role, {.node = n, .devices = mask});
      }
    }
  }

  /// By number and model only; whether they are free is asked when they are taken.
  bool device_sets_fit(const DeviceDemand& demand, size_t n, DeviceMask mask) const {
    const auto count = static_cast<int32_t>(popcount(mask));
    if (demand.kind == DeviceNeedKind::kNone) return count == 0;
    if (count != (demand.kind == DeviceNeedKind::kWhole ? demand.count : 1)) return false;
    bool will_do = true;
    for_each_bit(mask, [&](unsigned d) { will_do = will_do && model_will_do(books_[n].devices[d], demand); });
    return will_do;
  }

  void add_zones(size_t role, Option option) {
    const TaskDemand& demand = shape_.roles[role].demand;
    if (demand.numa == NumaNeed::kAny) {
      add_instances(role, option);
      return;
    }
    for (size_t z = 0; z < books_[option.node].zone_cpu.size(); ++z) {
      const DeviceMask zone = state_.zones().devices[state_.nodes().first_zone[option.node] + z];
      if ((option.devices & ~zone) != 0) continue;
      option.zone = static_cast<uint8_t>(z);
      add_instances(role, option);
    }
  }

  void add_instances(size_t role, Option option) {
    const DeviceDemand& demand = shape_.roles[role].demand.devices;
    if (demand.kind != DeviceNeedKind::kMig) {
      options_[role].push_back(option);
      return;
    }
    const Device& device = books_[option.node].devices[static_cast<size_t>(std::countr_zero(option.devices))];
    for (const auto& [model, profile] : demand.mig) {
      if (model != device.model) continue;
      for (uint8_t start = 0; start < 8; ++start) {
        option.start = start;
        option.profile = profile;
        options_[role].push_back(option);
      }
    }
  }

  bool fits(size_t role, const Option& option) const {
    const TaskDemand& demand = shape_.roles[role].demand;
    const Book& book = books_[option.node];
    const std::optional<DeviceMask>& allowed = (*allowed_)[option.node];
    if (!allowed || (option.devices & ~*allowed) != 0) return false;
    if (book.cpu < demand.cpu_milli || book.memory < demand.memory_bytes || book.disk < demand.disk_bytes) return false;
    if (option.zone != kNoZone && book.zone_cpu[option.zone] < demand.cpu_milli) return false;
    bool fits = true;
    for_each_bit(option.devices, [&](unsigned d) { fits = fits && device_fits(demand.devices, option, d); });
    return fits;
  }

  bool device_fits(const DeviceDemand& demand, const Option& option, unsigned d) const {
    const Device& device = books_[option.node].devices[d];
    if (!device.usable) return false;
    switch (demand.kind) {
      case DeviceNeedKind::kNone: return true;
      case DeviceNeedKind::kWhole: return device.is_free;
      case DeviceNeedKind::kMilli:
      case DeviceNeedKind::kMemory: {
        const PoolId pool = state_.nodes().pool[option.node];
        if (state_.pools()[index(pool)].share == ShareMode::kExclusive || !(device.is_free || device.is_shared))
          return false;
        const auto [milli, memory] = part_of(demand, device.memory);
        return device.milli >= milli && device.free_memory >= memory;
      }
      case DeviceNeedKind::kMig: {
        if (!device.is_mig) return false;
        const DeviceModel& model = state_.names().devices.model(device.model);
        const MigProfile& profile = model.mig_profiles[option.profile];
        const unsigned slices = ((1U << profile.memory_slices) - 1) << option.start;
        if (((profile.start_mask >> option.start) & 1U) == 0 || (device.occupied & slices) != 0) return false;
        if (device.compute + profile.compute_slices > model.mig_compute_slices) return false;
        return !device.is_fixed || fixed_bit(option, d) != 0;
      }
    }
    return false;
  }

  /// The free fixed instance that the option names.
  unsigned fixed_bit(const Option& option, unsigned d) const {
    const size_t row = state_.nodes().first_device[option.node] + d;
    const auto& fixed = state_.devices().mig_fixed[row];
    for (size_t i = 0; i < fixed.size(); ++i) {
      if (fixed[i].profile == option.profile && fixed[i].start == option.start &&
          ((books_[option.node].devices[d].busy >> i) & 1U) == 0) {
        return 1U << i;
      }
    }
    return 0;
  }

  static std::pair<int32_t, int64_t> part_of(const DeviceDemand& demand, int64_t memory) {
    if (demand.kind == DeviceNeedKind::kMilli) return {demand.milli, memory * demand.milli / 1000};
    if (memory < demand.memory_bytes) return {2000, demand.memory_bytes};
    return {static_cast<int32_t>(demand.memory_bytes * 1000 / memory), demand.memory_bytes};
  }

  void take(size_t role, const Option& option) {
    const TaskDemand& demand = shape_.roles[role].demand;
    Book& book = books_[option.node];
    book.cpu -= demand.cpu_milli;
    book.memory -= demand.memory_bytes;
    book.disk -= demand.disk_bytes;
    if (option.zone != kNoZone) book.zone_cpu[option.zone] -= demand.cpu_milli;
    for_each_bit(option.devices, [&](unsigned d) {
      Device& device = book.devices[d];
      device.is_free = false;
      if (demand.devices.kind == DeviceNeedKind::kMig) {
        const MigProfile& profile = state_.names().devices.model(device.model).mig_profiles[option.profile];
        if (device.is_fixed) device.busy |= fixed_bit(option, d);
        device.occupied |= ((1U << profile.memory_slices) - 1) << option.start;
        device.compute += profile.compute_slices;
      } else if (demand.devices.kind != DeviceNeedKind::kWhole) {
        const auto [milli, memory] = part_of(demand.devices, device.memory);
        device.is_shared = true;
        device.milli -= milli;
        device.free_memory -= memory;
      }
    });
  }

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
      const Option option = options_[role][o];
      if (!fits(role, option)) continue;
      const Book before = books_[option.node];
      take(role, option);
      chosen_.emplace_back(role, option);
      const bool is_same_next = t + 1 < tasks_.size() && tasks_[t + 1] == role;
      const bool is_done = obeys_scopes() && place(t + 1, is_same_next ? o : 0);
      chosen_.pop_back();
      books_[option.node] = before;
      if (is_done) return true;
    }
    return false;
  }

  const ClusterState& state_;
  const Shape& shape_;
  std::vector<int32_t> counts_;
  std::vector<Book> books_;
  std::vector<std::vector<Option>> options_;
  std::vector<int32_t> leaf_group_;
  std::vector<Running> running_;
  std::vector<uint64_t> choices_;
  std::vector<uint32_t> tasks_;
  std::vector<std::pair<uint32_t, Option>> chosen_;
  const Allowed* allowed_ = nullptr;
};

}  // namespace weft::testing
