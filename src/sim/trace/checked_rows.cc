#include "sim/trace/checked_rows.h"

#include "base/text.h"
#include "sim/trace/numbers.h"

#include <fmt/format.h>

namespace weft::sim {

CheckedRows::CheckedRows(std::unique_ptr<TraceRows> rows, TraceFormat format, BadRows bad_rows, Order order)
    : rows_(std::move(rows)), bad_rows_(bad_rows), makes_ids_(rows_->makes_ids()), order_(order) {
  notes_.format = format;
}

Result<TraceReader::Step> CheckedRows::next(TraceJob& job) {
  while (!failure_ && !is_at_end_) {
    const Result<TraceRows::Row> row = rows_->next(job);
    if (!row) {
      skip(row.error());
    } else if (*row == TraceRows::Row::kLeftOut) {
      ++notes_.left_out;
    } else if (*row == TraceRows::Row::kEnd) {
      is_at_end_ = true;
      if (notes_.rows == 0) failure_ = empty_trace();
    } else if (!is_good(job)) {
      skip(fault_of(job));
    } else {
      if (notes_.rows++ == 0) notes_.epoch = rows_->epoch();
      last_submit_ = job.submit;
      return TraceReader::Step::kJob;
    }
  }
  if (failure_) return std::unexpected(*failure_);
  return TraceReader::Step::kEnd;
}

void CheckedRows::skip(const Error& fault) {
  if (bad_rows_ == BadRows::kRefuse || !rows_->goes_on()) {
    failure_ = fault;
  } else if (notes_.skipped++ == 0) {
    notes_.first_skipped = fault.message;
  }
}

bool CheckedRows::is_good(const TraceJob& job) {
  if (job.id.empty() || job.run_time <= Duration{0} || job.run_time.ns > kTraceTimeMax) return false;
  if (order_ == Order::kBySubmission && job.submit < last_submit_) return false;
  return makes_ids_ || ids_.add(job.id);
}

Error CheckedRows::fault_of(const TraceJob& job) const {
  using Part = TraceRows::Part;
  const auto at = [&](Part part, std::string_view message) { return rows_->error_at(part, message).error(); };
  if (job.id.empty()) return at(Part::kId, "the job has no id; expected one");
  if (job.run_time <= Duration{0})
    return at(Part::kRunTime, fmt::format("the job runs for {} s; expected more than 0", job.run_time.seconds()));
  if (job.run_time.ns > kTraceTimeMax)
    return at(Part::kRunTime, fmt::format("the job runs for {:.0f} s; expected at most {}", job.run_time.seconds(),
                                          format_count(kTraceTimeMax / 1'000'000'000)));
  if (order_ == Order::kBySubmission && job.submit < last_submit_) {
    return at(Part::kSubmit,
              fmt::format("the job was submitted {} s before the one above; expected jobs in order of submission",
                          (last_submit_ - job.submit).seconds()));
  }
  return at(Part::kId, fmt::format("the id {} stands twice; expected one job of an id", quote(job.id)));
}

Error CheckedRows::empty_trace() const {
  std::string why;
  if (notes_.left_out > 0)
    why += fmt::format("; {} never ran to an end or asked for nothing",
                       format_count(static_cast<int64_t>(notes_.left_out)));
  if (notes_.skipped > 0) {
    why += fmt::format("; {} bad rows were skipped, the first: {}", format_count(static_cast<int64_t>(notes_.skipped)),
                       notes_.first_skipped);
  }
  return {ErrorCode::kInvalidInput, fmt::format("{}: no jobs; expected at least one{}", rows_->name(), why)};
}

}  // namespace weft::sim
