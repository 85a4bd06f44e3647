#pragma once

#include "base/ids.h"
#include "model/device.h"
#include "model/placement.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace weft::sim {

/// Where the jobs of a run are, node by node, and who shares a device with whom: for timelines and for models of speed.
class Places {
 public:
  /// What a job has of one node.
  struct Part {
    uint32_t node = 0;
    int32_t gpus = 0;
    DeviceMask devices = 0;
  };

  /// The job's next start will be there.
  void hold(JobId job, std::span<const TaskPlacement> tasks);
  /// It runs there now.
  void start(JobId job);
  /// It does so no longer; its parts are forgotten. Nothing where it was not known.
  void leave(JobId job);

  /// By node; empty where the job is not known.
  std::span<const Part> of(JobId job) const;
  /// How many jobs run on that of the job's devices that most share, itself among them; at least 1.
  int32_t sharers(JobId job) const;
  /// Calls `each` for every other job that runs on a device of this one, perhaps several times.
  template <typename Each>
  void for_neighbours(JobId job, Each&& each) const {
    for_devices(job, [&](uint64_t device) {
      const auto here = running_.find(device);
      if (here == running_.end()) return;
      for (const JobId other : here->second) {
        if (other != job) each(other);
      }
    });
  }

 private:
  template <typename Each>
  void for_devices(JobId job, Each&& each) const {
    for (const Part& part : of(job)) {
      for (unsigned device = 0; device < kMaxDevicesPerNode; ++device) {
        if ((part.devices >> device & 1) != 0) each(uint64_t{part.node} * kMaxDevicesPerNode + device);
      }
    }
  }

  std::map<JobId, std::vector<Part>> parts_;
  std::map<uint64_t, std::vector<JobId>> running_;  ///< by node and device, those that somebody runs on
};

}  // namespace weft::sim
