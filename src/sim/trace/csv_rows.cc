#include "sim/trace/csv_rows.h"

#include "sim/trace/job_pack.h"

namespace weft::sim {

Result<TraceRows::Row> CsvRows::next(TraceJob& job) {
  const Result<CsvReader::Step> step = CsvFields::next();
  if (!step) return std::unexpected(step.error());
  if (*step == CsvReader::Step::kEnd) return Row::kEnd;
  reset(job);
  const Row row = read(job);
  if (has_error()) return take_error();
  return row;
}

std::unexpected<Error> CsvRows::error_at(Part part, std::string_view message) const {
  switch (part) {
    case Part::kId: return CsvFields::error_at(id_, message);
    case Part::kSubmit: return CsvFields::error_at(submit_, message);
    case Part::kRunTime: break;
  }
  return CsvFields::error_at(run_time_, message);
}

}  // namespace weft::sim
