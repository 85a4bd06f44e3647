#include "placement/fragment_table.h"

#include "base/bits.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <cmath>
#include <compare>

namespace weft {

namespace {

bool is_allowed(const TargetTask& task, DeviceModelId model, ShareMode share) {
  if (task.gpu_milli < 1000 && share == ShareMode::kExclusive) return false;
  return task.models.empty() || std::ranges::binary_search(task.models, model);
}

struct Need {
  int32_t milli = 0;
  int32_t count = 0;
  auto operator<=>(const Need&) const = default;
};

Need need_of(const TargetTask& task) { return {task.gpu_milli, task.gpu_count}; }

template <typename T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

NodeRoom node_room(const ClusterState& state, NodeId node) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  NodeRoom room;
  room.cpu_milli = nodes.free_cpu_milli[n];
  room.whole = static_cast<int32_t>(popcount(state.available(node)));
  const DeviceMask shared = nodes.shared[n] & state.usable(node);
  const int32_t* const free_milli = state.devices().free_milli.data() + nodes.first_device[n];
  for_each_bit(shared, [&](unsigned device) {
    if (free_milli[device] > 0) room.shared[static_cast<size_t>(room.shared_count++)] = free_milli[device];
  });
  return room;
}

size_t FragmentTable::View::level(int64_t cpu_milli) const {
  return static_cast<size_t>(std::ranges::upper_bound(cpu_levels, cpu_milli) - cpu_levels.begin());
}

void FragmentTable::set_workload(const TargetWorkload& workload) {
  views_.clear();
  tasks_.clear();
  int64_t left = kOne;
  for (const TargetTask& task : workload) {
    const int64_t weight = std::clamp<int64_t>(std::llround(task.popularity * static_cast<double>(kOne)), 0, left);
    left -= weight;
    if (task.gpu_count > 0) tasks_.emplace_back(task, weight);
  }
  std::vector<Need> needs;
  for (const auto& [task, weight] : tasks_) needs.push_back(need_of(task));
  sort_unique(needs);
  needs_max_ = needs.size();
}

const FragmentTable::View& FragmentTable::view(DeviceModelId model, ShareMode share) {
  for (const Entry& entry : views_) {
    if (entry.model == model && entry.share == share) return entry.view;
  }
  View view;
  std::vector<Need> needs;
  for (const auto& [task, weight] : tasks_) {
    if (!is_allowed(task, model, share)) continue;
    needs.push_back(need_of(task));
    view.cpu_levels.push_back(task.cpu_milli);
  }
  sort_unique(needs);
  sort_unique(view.cpu_levels);
  for (const Need& need : needs) {
    view.need_milli.push_back(need.milli);
    view.need_count.push_back(need.count);
  }
  for (size_t milli = 0; milli < view.needs_up_to.size(); ++milli) {
    const auto end = std::ranges::upper_bound(view.need_milli, static_cast<int32_t>(milli));
    view.needs_up_to[milli] = static_cast<uint16_t>(end - view.need_milli.begin());
  }
  view.weights.assign((view.cpu_levels.size() + 1) * needs.size(), 0);
  for (const auto& [task, weight] : tasks_) {
    if (!is_allowed(task, model, share)) continue;
    const size_t need = static_cast<size_t>(std::ranges::lower_bound(needs, need_of(task)) - needs.begin());
    const size_t level =
        static_cast<size_t>(std::ranges::lower_bound(view.cpu_levels, task.cpu_milli) - view.cpu_levels.begin());
    for (size_t row = level + 1; row <= view.cpu_levels.size(); ++row)
      view.weights[row * needs.size() + need] += weight;
  }
  views_.push_back({model, share, std::move(view)});
  return views_.back().view;
}

int64_t FragmentTable::usable(const View& view, const NodeRoom& room) {
  const int64_t* const weight = view.row(view.level(room.cpu_milli));
  int64_t sum = 0;
  for (size_t need = 0; need < view.needs(); ++need) {
    const int32_t milli = view.need_milli[need];
    int32_t count = room.whole;
    int32_t free = 1000 * room.whole;
    for (int32_t i = 0; i < room.shared_count; ++i) {
      const int32_t of_device = room.shared[static_cast<size_t>(i)];
      if (of_device < milli) continue;
      ++count;
      free += of_device;
    }
    if (count >= view.need_count[need]) sum += weight[need] * free;
  }
  return sum;
}

int64_t FragmentTable::fragment(const View& view, const NodeRoom& room) {
  return kOne * room.free_milli() - usable(view, room);
}

}  // namespace weft
