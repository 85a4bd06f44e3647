#include "sim/simulation/places.h"

#include "base/bits.h"

#include <algorithm>

namespace weft::sim {

void Places::hold(JobId job, std::span<const TaskPlacement> tasks) {
  std::vector<Part>& parts = parts_[job];
  parts.clear();
  for (const TaskPlacement& at : tasks) {
    const auto node = static_cast<uint32_t>(index(at.node));
    if (parts.empty() || parts.back().node != node) parts.push_back({.node = node});
    parts.back().gpus += static_cast<int32_t>(popcount(at.devices));
    parts.back().devices |= at.devices;
  }
}

void Places::start(JobId job) {
  for_devices(job, [&](uint64_t device) { running_[device].push_back(job); });
}

void Places::leave(JobId job) {
  for_devices(job, [&](uint64_t device) {
    const auto here = running_.find(device);
    if (here == running_.end()) return;
    std::erase(here->second, job);
    if (here->second.empty()) running_.erase(here);
  });
  parts_.erase(job);
}

std::span<const Places::Part> Places::of(JobId job) const {
  const auto known = parts_.find(job);
  return known == parts_.end() ? std::span<const Part>() : known->second;
}

int32_t Places::sharers(JobId job) const {
  size_t most = 1;
  for_devices(job, [&](uint64_t device) {
    const auto here = running_.find(device);
    if (here != running_.end()) most = std::max(most, here->second.size());
  });
  return static_cast<int32_t>(most);
}

}  // namespace weft::sim
