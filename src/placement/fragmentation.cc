#include "placement/fragmentation.h"

#include "base/bits.h"
#include "base/hash.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace weft {

namespace {

bool is_mixed(const ClusterState& state, size_t node) {
  const PoolId pool = state.nodes().pool[node];
  return is_set(pool) && state.pools()[index(pool)].is_mixed();
}

}  // namespace

std::vector<FreeDevice> free_devices(const ClusterState& state, NodeId node) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  const DeviceMask whole = state.available(node);
  const DeviceMask shared = nodes.shared[n] & state.usable(node);
  std::vector<FreeDevice> free;
  for_each_bit(whole | shared, [&](unsigned device) {
    const size_t row = nodes.first_device[n] + device;
    const bool is_whole = ((whole >> device) & 1U) != 0;
    free.push_back({device, state.devices().model[row], is_whole ? 1000 : state.devices().free_milli[row]});
  });
  return free;
}

double fragmentation_of(std::span<const FreeDevice> free, const NodeRest& rest, const TargetWorkload& workload) {
  int64_t total = 0;
  for (const FreeDevice& device : free) total += device.milli;
  double fragmentation = 0;
  for (const TargetTask& task : workload) {
    int32_t hosts = 0;
    int64_t usable = 0;
    for (const FreeDevice& device : free) {
      const bool is_allowed = task.models.empty() || std::ranges::binary_search(task.models, device.model);
      if (!is_allowed || device.milli < task.gpu_milli) continue;
      ++hosts;
      usable += device.milli;
    }
    const bool fits = task.gpu_count > 0 && hosts >= task.gpu_count && rest.cpu_milli >= task.cpu_milli &&
                      (rest.share != ShareMode::kExclusive || task.gpu_milli >= 1000);
    fragmentation += task.popularity * static_cast<double>(fits ? total - usable : total);
  }
  return fragmentation;
}

double node_fragmentation(const ClusterState& state, NodeId node, const TargetWorkload& workload) {
  const NodeTable& nodes = state.nodes();
  const size_t n = index(node);
  if (!is_set(nodes.pool[n])) return 0;
  const NodeRest rest{.cpu_milli = nodes.free_cpu_milli[n], .share = state.pools()[index(nodes.pool[n])].share};
  return fragmentation_of(free_devices(state, node), rest, workload);
}

void FragmentationMeter::set_workload(TargetWorkload workload) {
  workload_ = std::move(workload);
  table_.set_workload(workload_);
  is_fresh_ = false;
}

void FragmentationMeter::refresh(const ClusterState& state, size_t node) {
  const PoolId pool = state.nodes().pool[node];
  if (!is_set(pool)) return;
  fragment_sum_ -= fragment_by_node_[node];
  free_sum_ -= free_by_node_[node];
  const NodeRoom room = node_room(state, make_id<NodeId>(node));
  free_by_node_[node] = room.free_milli();
  if (workload_.empty()) {
    fragment_by_node_[node] = 0;
  } else if (is_mixed(state, node)) {
    const double fragmentation = node_fragmentation(state, make_id<NodeId>(node), workload_);
    fragment_by_node_[node] = std::llround(fragmentation * static_cast<double>(FragmentTable::kOne));
  } else {
    const Pool& p = state.pools()[index(pool)];
    fragment_by_node_[node] = FragmentTable::fragment(table_.view(p.models.front(), p.share), room);
  }
  fragment_sum_ += fragment_by_node_[node];
  free_sum_ += free_by_node_[node];
}

void FragmentationMeter::refresh_all(const ClusterState& state) {
  const size_t count = state.nodes().size();
  fragment_by_node_.assign(count, 0);
  free_by_node_.assign(count, 0);
  fragment_sum_ = free_sum_ = total_sum_ = 0;
  for (size_t node = 0; node < count; ++node) {
    total_sum_ += 1000 * int64_t{state.nodes().device_count[node]};
    refresh(state, node);
  }
}

FragmentationView FragmentationMeter::measure(const ClusterState& state) {
  const uint64_t changes = state.change_count();
  const bool is_behind = changes - seen_changes_ > state.changes_kept();
  if (!is_fresh_ || is_behind || seen_structure_ != state.structure_version() ||
      fragment_by_node_.size() != state.nodes().size()) {
    refresh_all(state);
  } else {
    for (uint64_t i = seen_changes_; i != changes; ++i) refresh(state, index(state.changed_node(i)));
  }
  seen_changes_ = changes;
  seen_structure_ = state.structure_version();
  is_fresh_ = true;
  return {.gpu_milli_total = total_sum_,
          .gpu_milli_free = free_sum_,
          .fragment_milli = static_cast<double>(fragment_sum_) / static_cast<double>(FragmentTable::kOne)};
}

namespace {

uint64_t shape_hash(const TargetTask& task) {
  RunningHash hash;
  hash.add(static_cast<uint64_t>(task.cpu_milli));
  hash.add(static_cast<uint64_t>(task.gpu_count));
  hash.add(static_cast<uint64_t>(task.gpu_milli));
  for (const DeviceModelId model : task.models) hash.add(index(model));
  return hash.value();
}

bool is_same_shape(const TargetTask& a, const TargetTask& b) {
  return a.cpu_milli == b.cpu_milli && a.gpu_count == b.gpu_count && a.gpu_milli == b.gpu_milli && a.models == b.models;
}

}  // namespace

TargetWorkload target_workload(const std::vector<TargetTask>& tasks, double coverage) {
  struct Counted {
    TargetTask task;
    double count = 0;
  };
  std::vector<Counted> shapes;                        // in order of first appearance
  std::unordered_multimap<uint64_t, size_t> by_hash;  // looked up, never iterated as a whole
  double total = 0;
  for (const TargetTask& task : tasks) {
    const double count = task.popularity > 0 ? task.popularity : 1;
    total += count;
    const uint64_t hash = shape_hash(task);
    auto [candidate, end] = by_hash.equal_range(hash);
    while (candidate != end && !is_same_shape(shapes[candidate->second].task, task)) ++candidate;
    if (candidate != end) {
      shapes[candidate->second].count += count;
    } else {
      by_hash.emplace(hash, shapes.size());
      shapes.push_back({task, count});
    }
  }
  std::ranges::stable_sort(shapes, std::ranges::greater{}, &Counted::count);
  double covered = 0;
  TargetWorkload workload;
  for (const Counted& shape : shapes) {
    if (covered >= coverage * total) break;
    covered += shape.count;
    workload.push_back(shape.task);
    workload.back().popularity = shape.count;
  }
  for (TargetTask& task : workload) task.popularity /= covered;
  return workload;
}

}  // namespace weft
