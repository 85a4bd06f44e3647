#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::local {

/// What the control groups of a process leave it; kUnlimited where they set nothing.
struct CgroupLimits {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
};

/// `membership` is the text of /proc/PID/cgroup, `mount` where the groups' files are. Understands version 2, version 1
/// and both at once. A limit of any group above counts; in a container whose own path is not visible the mount itself
/// stands for it.
CgroupLimits read_cgroup_limits(std::string_view membership, const std::string& mount);

}  // namespace weft::local
