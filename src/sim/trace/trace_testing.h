#pragma once

#include "sim/byte_source.h"
#include "sim/trace/trace_reader.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// What reading a trace came to.
struct ReadTrace {
  std::vector<TraceJob> jobs;  ///< up to the error
  TraceNotes notes;
  std::string error;  ///< empty: none
};

inline ReadTrace drain(Result<std::unique_ptr<TraceReader>> reader) {
  ReadTrace trace;
  if (!reader) {
    trace.error = reader.error().message;
    return trace;
  }
  TraceJob job{.id = "left over", .gpu_models = {"left", "over"}, .priority = 7};
  for (;;) {
    const Result<TraceReader::Step> step = (*reader)->next(job);
    trace.notes = (*reader)->notes();
    if (!step) {
      trace.error = step.error().message;
      const Result<TraceReader::Step> again = (*reader)->next(job);
      if (again || again.error() != step.error()) trace.error += " (and then something else)";
      return trace;
    }
    if (*step == TraceReader::Step::kEnd) return trace;
    trace.jobs.push_back(job);
  }
}

/// Reads a text as a trace called "t", by small pieces.
inline ReadTrace read_text(std::string_view text, const TraceOptions& options = {}) {
  return drain(open_trace(bytes_of(text, "t", 100), options));
}

}  // namespace weft::sim
