#pragma once

#include "sim/trace/trace_job.h"

#include <cstddef>

namespace weft::sim {

/// A bound on the bytes that pack() writes.
size_t packed_bytes_max(const TraceJob& job);

/// Writes what differs from TraceJob{}: some 40 bytes of a common job, against the 300 of the struct. For traces that
/// must be held whole; not a file format. Returns the end of what was written.
char* pack(const TraceJob& job, char* into);

/// The job that pack() wrote at `from`, every field of it; returns where the next one starts.
const char* unpack(const char* from, TraceJob& job);

/// The submission of the job that pack() wrote at `from`.
Instant packed_submit(const char* from);

/// TraceJob{} again, in the memory that its strings have.
void reset(TraceJob& job);

}  // namespace weft::sim
