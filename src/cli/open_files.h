#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::cli {

// File descriptors of a server: every running task takes two, every client one, and two more while it follows a job.

/// Raises the limit of this process as far as it may. Returns the limit as it was; 0 when it cannot be read.
uint64_t raise_open_files_limit();
/// How many more descriptors this process may open.
uint64_t open_files_left();
/// How many connections a server with so many descriptors left may have, so that jobs can still be started beside them.
/// At least one.
size_t connections_max(uint64_t open_files_left);

}  // namespace weft::cli
