#pragma once

#include "sim/trace/csv_fields.h"
#include "sim/trace/trace_rows.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// A format that is one CSV file with a header.
class CsvRows : public TraceRows, protected CsvFields {
 public:
  struct Layout {
    std::vector<CsvTable::Column> columns;
    /// Where in `columns` errors about these point to.
    size_t id = 0;
    size_t submit = 0;
    size_t run_time = 0;
  };
  CsvRows(CsvTable table, const Layout& layout)
      : CsvFields(std::move(table), layout.columns),
        id_(layout.id),
        submit_(layout.submit),
        run_time_(layout.run_time) {}

  Result<Row> next(TraceJob& job) final;
  bool goes_on() const final { return CsvFields::goes_on(); }
  std::unexpected<Error> error_at(Part part, std::string_view message) const final;
  const std::string& name() const final { return CsvFields::name(); }

 protected:
  /// The row as a job, which comes as TraceJob{}; that something is wrong() makes it an error. kEnd is not for it to
  /// say.
  virtual Row read(TraceJob& job) = 0;

 private:
  size_t id_;
  size_t submit_;
  size_t run_time_;
};

/// Opens a table with the columns of `layout` for a reader of type `Rows`.
template <typename Rows>
Result<std::unique_ptr<TraceRows>> open_csv_rows(CsvReader reader, const CsvRows::Layout& layout,
                                                 CsvTable::Unknown unknown = CsvTable::Unknown::kIgnored) {
  Result<CsvTable> table = CsvTable::open(std::move(reader), layout.columns, unknown);
  if (!table) return std::unexpected(std::move(table.error()));
  return std::make_unique<Rows>(std::move(*table), layout);
}

}  // namespace weft::sim
