#include "engine/local/cpu_zones.h"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace weft::local {

Result<std::vector<CpuZone>> read_cpu_zones() {
  // In a container that hides how the processors lie, the library would say so on our error output, in words of its
  // own.
  ::setenv("HWLOC_HIDE_ERRORS", "2", 0);
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return fail(ErrorCode::kUnavailable, "hwloc cannot start");
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) return fail(ErrorCode::kUnavailable, "hwloc cannot read this machine");

  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> usable(
      hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(raw)), hwloc_bitmap_free);
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> bound(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (hwloc_get_cpubind(raw, bound.get(), HWLOC_CPUBIND_PROCESS) == 0)
    hwloc_bitmap_and(usable.get(), usable.get(), bound.get());

  std::vector<CpuZone> zones;
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> seen(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    // Memory of a second kind (on the package, or far away) is a zone of hwloc over the same CPUs: they count once.
    hwloc_bitmap_and(bound.get(), node->cpuset, usable.get());
    hwloc_bitmap_andnot(bound.get(), bound.get(), seen.get());
    const int cpus = hwloc_bitmap_weight(bound.get());
    if (cpus <= 0) continue;
    hwloc_bitmap_or(seen.get(), seen.get(), bound.get());
    zones.push_back({.kernel_index = node->os_index, .cpus = cpus});
  }
  if (zones.empty()) return fail(ErrorCode::kUnavailable, "hwloc sees no CPU that this process may use");
  std::ranges::sort(zones, {}, &CpuZone::kernel_index);
  return zones;
}

}  // namespace weft::local
