#include "state/cluster_state.h"
#include "state/mig_layout.h"

#include <bit>

namespace weft {
namespace {

unsigned only_device(DeviceMask devices) { return static_cast<unsigned>(std::countr_zero(devices)); }

bool has_instance_at(const ClusterState& state, size_t row, const TaskPlacement& at) {
  const DeviceTable& devices = state.devices();
  const DeviceModel& model = state.names().devices.model(devices.model[row]);
  const MigProfile& profile = model.mig_profiles[at.mig_profile];
  return (devices.mig_occupied[row] & mig_slices(profile, at.mig_start)) == 0 &&
         devices.mig_compute_used[row] + profile.compute_slices <= model.mig_compute_slices;
}

}  // namespace

bool ClusterState::has_room_at(const TaskDemand& demand, const TaskPlacement& at) const {
  const size_t n = index(at.node);
  if (demand.cpu_milli > nodes_.free_cpu_milli[n] || demand.memory_bytes > nodes_.free_memory_bytes[n] ||
      demand.disk_bytes > nodes_.free_disk_bytes[n])
    return false;
  if (at.numa_zone != kNoZone && demand.cpu_milli > zones_.free_cpu_milli[nodes_.first_zone[n] + at.numa_zone])
    return false;
  switch (at.kind) {
    case DeviceNeedKind::kNone: return true;
    case DeviceNeedKind::kWhole: return (at.devices & ~nodes_.free[n]) == 0;
    case DeviceNeedKind::kMilli:
    case DeviceNeedKind::kMemory: {
      const size_t row = nodes_.first_device[n] + only_device(at.devices);
      return (at.devices & (nodes_.free[n] | nodes_.shared[n])) != 0 && at.milli <= devices_.free_milli[row] &&
             at.memory_bytes <= devices_.free_memory_bytes[row];
    }
    case DeviceNeedKind::kMig: return has_instance_at(*this, nodes_.first_device[n] + only_device(at.devices), at);
  }
  return false;
}

}  // namespace weft
