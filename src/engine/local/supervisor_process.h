#pragma once

#include "base/result.h"
#include "engine/local/file_descriptor.h"
#include "engine/local/task_launch.h"

#include <string>
#include <sys/types.h>

namespace weft::local {

/// A started supervisor as its parent sees it.
struct SupervisorProcess {
  pid_t pid = -1;
  FileDescriptor control;  ///< non-blocking; see control.h
  FileDescriptor handle;   ///< a pidfd: readable when the process has ended
};

/// Starts `program` as the supervisor of `launch`; `label` is shown by ps. Error: a resource of the kernel that could
/// not be had; kUnavailable when it may be there later. `lease_fd` (see lease.h) may be -1.
Result<SupervisorProcess> start_supervisor(const std::string& program, const std::string& label,
                                           const TaskLaunch& launch, int lease_fd);

}  // namespace weft::local
