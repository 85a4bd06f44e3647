#pragma once

#include "base/result.h"
#include "sim/trace/trace_reader.h"

#include <memory>
#include <span>
#include <string>

namespace weft::sim {

/// Writes jobs in one of the formats, piece by piece, so that its reader gives back what the format can hold of them:
///   weft      everything (the CSV)
///   tiresias  GPUs, submission, run time, model; and `interval`, the time since the job before. Ids are places, from 1
///   philly    GPUs, submission to the second below, run time, queue (`cluster`). Ids are places, from 0
///   swf       GPUs, submission, run time, estimate, how it ended; user, name and queue as numbers. Ids are places,
///   from 1
/// But for weft, several tasks become one number of GPUs that may be anywhere.
class FormatWriter {
 public:
  virtual ~FormatWriter() = default;
  /// Appends the job's row, before the first one also the header. `out` may be written away and cleared between two
  /// jobs. Error: the format cannot hold the job, by its id: a share of a GPU, or no GPUs, but in weft.
  virtual Result<void> write(const TraceJob& job, std::string& out) = 0;
};

/// The formats that can be written, weft first.
std::span<const TraceFormat> written_formats();

/// `epoch`: Unix seconds of Instant{0}. Requires: `format` is one of written_formats().
std::unique_ptr<FormatWriter> make_format_writer(TraceFormat format, int64_t epoch);

}  // namespace weft::sim
