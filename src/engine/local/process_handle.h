#pragma once

#include "engine/local/file_descriptor.h"

#include <sys/types.h>

namespace weft::local {

/// A pidfd: it stays with the process it was opened for, whoever gets the id later, and becomes readable when that
/// process ends. Not open when there is no such process.
FileDescriptor open_process(pid_t pid);
/// 0, or -1 with errno.
int signal_process_handle(const FileDescriptor& handle, int signal);

}  // namespace weft::local
