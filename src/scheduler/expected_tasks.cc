#include "scheduler/expected_tasks.h"

#include <algorithm>
#include <optional>

namespace weft {
namespace {

constexpr uint32_t kUncounted = UINT32_MAX;

/// Nothing where no devices are asked for, and for shares by memory and MIG instances, which have no size in
/// thousandths of any device.
std::optional<TargetTask> target_of(const TaskDemand& demand) {
  TargetTask task{.cpu_milli = demand.cpu_milli, .models = demand.devices.models};
  if (demand.devices.kind == DeviceNeedKind::kWhole && demand.devices.count > 0) {
    task.gpu_count = demand.devices.count;
    task.gpu_milli = 1000;
    return task;
  }
  if (demand.devices.kind == DeviceNeedKind::kMilli) {
    task.gpu_count = 1;
    task.gpu_milli = demand.devices.milli;
    return task;
  }
  return std::nullopt;
}

bool is_same_kind(const TargetTask& a, const TargetTask& b) {
  return a.cpu_milli == b.cpu_milli && a.gpu_count == b.gpu_count && a.gpu_milli == b.gpu_milli && a.models == b.models;
}

}  // namespace

uint32_t ExpectedTasks::kind_of(const TaskDemand& demand) {
  const std::optional<TargetTask> wanted = target_of(demand);
  if (!wanted) return kUncounted;
  const auto found = std::ranges::find_if(kinds_, [&](const TargetTask& kind) { return is_same_kind(kind, *wanted); });
  if (found != kinds_.end()) return static_cast<uint32_t>(found - kinds_.begin());
  if (kinds_.size() >= kKindsMax) return kUncounted;
  kinds_.push_back(*wanted);
  return static_cast<uint32_t>(kinds_.size() - 1);
}

void ExpectedTasks::note(ShapeId id, const Shape& shape) {
  if (is_told_) return;
  if (index(id) >= of_shape_.size()) of_shape_.resize(index(id) + 1);
  std::vector<RoleKind>& roles = of_shape_[index(id)];
  if (roles.empty()) {
    for (const RoleShape& role : shape.roles) roles.push_back({.kind = kind_of(role.demand), .count = role.count});
  }
  for (const RoleKind& role : roles) {
    if (role.kind == kUncounted) continue;
    kinds_[role.kind].popularity += role.count;
    seen_ += static_cast<uint64_t>(role.count);
    ++version_;
  }
}

void ExpectedTasks::tell(const std::vector<ExpectedTask>& tasks, const DeviceCatalogue& models) {
  std::vector<TargetTask> targets;
  for (const ExpectedTask& task : tasks) {
    TargetTask target{.cpu_milli = task.cpu_milli, .gpu_count = task.gpu_count, .gpu_milli = task.gpu_milli};
    for (const std::string& name : task.models) {
      if (const DeviceModelId id = models.find(name); is_set(id)) target.models.push_back(id);
    }
    std::ranges::sort(target.models);
    targets.push_back(std::move(target));
  }
  told_ = target_workload(targets, kCoverage);
  is_told_ = true;
  ++version_;
}

}  // namespace weft
