#pragma once

#include "sim/trace/id_set.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_rows.h"

#include <limits>
#include <memory>
#include <optional>

namespace weft::sim {

/// The jobs of a format with the checks that all share: an id that stands twice or is missing, run times of zero or
/// less, a submission before that of the row above, no jobs at all. Counts what is left out, and leaves out bad rows
/// where that was asked for.
class CheckedRows {
 public:
  enum class Order : uint8_t { kAny, kBySubmission };
  CheckedRows(std::unique_ptr<TraceRows> rows, TraceFormat format, BadRows bad_rows, Order order);

  /// After an error or the end: the same again.
  Result<TraceReader::Step> next(TraceJob& job);
  const TraceNotes& notes() const { return notes_; }
  TraceNotes& notes() { return notes_; }
  const TraceRows& rows() const { return *rows_; }

 private:
  bool is_good(const TraceJob& job);
  Error fault_of(const TraceJob& job) const;
  void skip(const Error& fault);
  Error empty_trace() const;

  std::unique_ptr<TraceRows> rows_;
  TraceNotes notes_;
  BadRows bad_rows_;
  bool makes_ids_;
  Order order_;
  IdSet ids_;
  Instant last_submit_{std::numeric_limits<int64_t>::min()};
  std::optional<Error> failure_;
  bool is_at_end_ = false;
};

}  // namespace weft::sim
