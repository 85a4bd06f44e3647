#pragma once

#include "sim/trace/trace_job.h"

#include <cstdint>
#include <span>
#include <string>

namespace weft::sim {

/// weft's own formats, see docs/guide/traces.md. What is written is read back equal, field by field, where texts are
/// UTF-8 without control characters and jobs are such as the readers give.

/// Writes the CSV piece by piece: `out` may be written away and cleared between two jobs.
class TraceCsvWriter {
 public:
  /// `epoch`: Unix seconds of Instant{0}; 0: not told.
  explicit TraceCsvWriter(int64_t epoch = 0) : epoch_(epoch) {}
  /// Appends the row, before the first one also the header.
  void write(const TraceJob& job, std::string& out);

 private:
  int64_t epoch_;
  bool has_header_ = false;  ///< written
};

std::string trace_csv(std::span<const TraceJob> jobs, int64_t epoch = 0);

/// For people to read and write by hand: some hundred thousand jobs at most can be read back.
std::string trace_yaml(std::span<const TraceJob> jobs, int64_t epoch = 0);

}  // namespace weft::sim
