#include "model/shape.h"

#include "base/check.h"
#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <type_traits>

namespace weft {
namespace {

// One add() per struct. Each takes its struct apart by name, so that a new field does not compile until it is hashed
// here too.

template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
void add(RunningHash& hash, T value) {
  hash.add(static_cast<uint64_t>(value));
}

void add(RunningHash& hash, double value) {
  hash.add(std::bit_cast<uint64_t>(value == 0 ? 0.0 : value));
}  // -0.0 == 0.0

template <typename A, typename B>
void add(RunningHash& hash, const std::pair<A, B>& pair) {
  add(hash, pair.first);
  add(hash, pair.second);
}

void add(RunningHash& hash, const LevelNeed& need) {
  const auto& [kind, level] = need;
  add(hash, kind);
  add(hash, level);
}

void add(RunningHash& hash, const ScopeNeed& scope) {
  const auto& [within, prefer] = scope;
  add(hash, within);
  add(hash, prefer);
}

void add(RunningHash& hash, const DataLocation& location) {
  const auto& [node, bytes] = location;
  add(hash, node);
  add(hash, bytes);
}

template <typename T>
void add(RunningHash& hash, const std::vector<T>& list);

void add(RunningHash& hash, const Elasticity& elasticity) {
  const auto& [step, scaling_curve] = elasticity;
  add(hash, step);
  add(hash, scaling_curve);
}

void add(RunningHash& hash, const DeviceDemand& demand) {
  const auto& [kind, count, milli, memory_bytes, mig, models, memory_bytes_min, compute_capability_min] = demand;
  add(hash, kind);
  add(hash, count);
  add(hash, milli);
  add(hash, memory_bytes);
  add(hash, mig);
  add(hash, models);
  add(hash, memory_bytes_min);
  add(hash, compute_capability_min);
}

void add(RunningHash& hash, const TaskDemand& demand) {
  const auto& [cpu_milli, memory_bytes, disk_bytes, devices, node, labels, tolerations, numa, network] = demand;
  add(hash, cpu_milli);
  add(hash, memory_bytes);
  add(hash, disk_bytes);
  add(hash, devices);
  add(hash, node);
  add(hash, labels);
  add(hash, tolerations);
  add(hash, numa);
  add(hash, network);
}

void add(RunningHash& hash, const RoleShape& role) {
  const auto& [count, min, demand, scope] = role;
  add(hash, count);
  add(hash, min);
  add(hash, demand);
  add(hash, scope);
}

void add(RunningHash& hash, const GroupShape& group) {
  const auto& [parent, roles, groups, min, scope] = group;
  add(hash, parent);
  add(hash, roles);
  add(hash, groups);
  add(hash, min);
  add(hash, scope);
}

template <typename T>
void add(RunningHash& hash, const std::vector<T>& list) {
  add(hash, list.size());
  for (const T& item : list) add(hash, item);
}

/// Tasks of the `min` members of `group` that need the fewest: the rest need not start.
int32_t min_tasks_of(const Shape& shape, const GroupShape& group, const std::vector<int32_t>& tasks_of_group) {
  std::vector<int32_t> members;
  for (const int32_t role : group.roles) members.push_back(shape.roles[static_cast<size_t>(role)].min);
  for (const int32_t child : group.groups) members.push_back(tasks_of_group[static_cast<size_t>(child)]);
  std::ranges::sort(members);
  const size_t needed = std::min(members.size(), static_cast<size_t>(std::max(group.min, 0)));
  return std::accumulate(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(needed), 0);
}

}  // namespace

int32_t Shape::task_count() const {
  int32_t total = 0;
  for (const RoleShape& role : roles) total += role.count;
  return total;
}

int32_t Shape::min_task_count() const {
  if (gang == GangRule::kNone) return 1;
  WEFT_CHECK(!groups.empty(), "a shape has at least group 0, the job itself");
  std::vector<int32_t> tasks_of_group(groups.size(), 0);
  for (size_t i = groups.size(); i > 0; --i) {  // children come after their parent
    tasks_of_group[i - 1] = min_tasks_of(*this, groups[i - 1], tasks_of_group);
  }
  return tasks_of_group[0];
}

uint64_t shape_key(const Shape& shape) {
  const auto& [queue, priority, is_preemptible, qos, gang, roles, groups, elasticity, data] = shape;
  RunningHash hash;
  add(hash, queue);
  add(hash, priority);
  add(hash, is_preemptible);
  add(hash, qos);
  add(hash, gang);
  add(hash, roles);
  add(hash, groups);
  add(hash, elasticity);
  add(hash, data);
  return hash.value();
}

namespace {

/// kGpuUnits * part / whole rounded down, without overflow; kUnlimited when it is more.
int64_t gpu_units_of(int64_t part, int64_t whole) {
  WEFT_CHECK(whole > 0 && whole <= kUnlimited / kGpuUnits, "a device has memory, and less than 300 TiB");
  if (part / whole >= kUnlimited / kGpuUnits) return kUnlimited;
  return part / whole * kGpuUnits + part % whole * kGpuUnits / whole;
}

}  // namespace

ResourceVector queue_charge(const TaskDemand& demand, int64_t device_memory_bytes, unsigned mig_compute_slices,
                            unsigned mig_compute_slices_of_model) {
  ResourceVector charge{.gpu_units = 0, .cpu_milli = demand.cpu_milli, .memory_bytes = demand.memory_bytes};
  switch (demand.devices.kind) {
    case DeviceNeedKind::kNone: break;
    case DeviceNeedKind::kWhole: charge.gpu_units = demand.devices.count * kGpuUnits; break;
    case DeviceNeedKind::kMilli: charge.gpu_units = demand.devices.milli * (kGpuUnits / 1000); break;
    case DeviceNeedKind::kMemory:
      charge.gpu_units = gpu_units_of(demand.devices.memory_bytes, device_memory_bytes);
      break;
    case DeviceNeedKind::kMig:
      WEFT_CHECK(mig_compute_slices_of_model > 0, "a model with MIG has compute slices");
      charge.gpu_units = kGpuUnits * mig_compute_slices / mig_compute_slices_of_model;
      break;
  }
  return charge;
}

}  // namespace weft
