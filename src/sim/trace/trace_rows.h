#pragma once

#include "base/result.h"
#include "sim/trace/trace_job.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::sim {

/// One format's rows as they stand in its file, whatever their order: what each reader of a format is. The checks that
/// all formats share (ids that stand twice, run times, order, an empty trace) are made above it, by CheckedRows.
class TraceRows {
 public:
  enum class Row : uint8_t { kJob, kLeftOut, kEnd };
  /// What the instants of the jobs count from.
  enum class Clock : uint8_t {
    kTrace,  ///< the trace's own epoch, see epoch()
    kUnix,   ///< 1970; whoever reads moves them to the first submission
  };
  enum class Part : uint8_t { kId, kSubmit, kRunTime };

  virtual ~TraceRows() = default;
  /// The next row into `job`, every field of it. Error: what is wrong with this row, or with the file; afterwards
  /// next() goes on with the row behind where goes_on().
  virtual Result<Row> next(TraceJob& job) = 0;
  virtual bool goes_on() const = 0;
  /// An error of the last row: "file:line:column: message".
  virtual std::unexpected<Error> error_at(Part part, std::string_view message) const = 0;
  /// What the file is called; printable.
  virtual const std::string& name() const = 0;

  /// The file has no ids: those of the jobs are made up, each another.
  virtual bool makes_ids() const { return false; }
  virtual Clock clock() const { return Clock::kTrace; }
  /// Unix seconds of Instant{0}, as far as the file has said by now; 0: it does not say.
  virtual int64_t epoch() const { return 0; }
};

}  // namespace weft::sim
