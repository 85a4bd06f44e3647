// weft's own CSV: a column for each field of TraceJob, and one for the epoch.

#include "base/text.h"
#include "sim/trace/csv_rows.h"
#include "sim/trace/formats.h"
#include "sim/trace/numbers.h"
#include "sim/trace/weft_fields.h"

#include <fmt/format.h>

#include <vector>

namespace weft::sim {

namespace {

class WeftCsvRows final : public CsvRows {
 public:
  WeftCsvRows(CsvTable table, const Layout& layout) : CsvRows(std::move(table), layout) {
    for (size_t i = 0; i < weft_fields().size(); ++i) {
      if (has_column(i)) present_.push_back(i);
    }
  }
  int64_t epoch() const override { return epoch_; }

 private:
  Row read(TraceJob& job) override {
    for (const size_t i : present_) {
      const std::string_view field = text(i);
      if (field.empty()) continue;
      if (!weft_fields()[i].read(field, job))
        wrong(i, fmt::format("expected {}, found {}", weft_fields()[i].expected, quote(field)));
    }
    if (is_empty(kWeftSubmitField)) wrong(kWeftSubmitField, "expected a number of seconds, found nothing");
    if (is_empty(kWeftRunTimeField)) wrong(kWeftRunTimeField, "expected a number of seconds, found nothing");
    if (const std::string_view fault = weft_job_fault(job); !fault.empty()) wrong(kWeftIdField, fault);
    read_epoch();
    return Row::kJob;
  }
  void read_epoch() {
    const size_t column = weft_fields().size();
    if (is_empty(column)) return;
    const int64_t epoch = integer(column, {.low = 0, .high = kTraceTimeMax / 1'000'000'000});
    if (epoch_ != 0 && epoch != epoch_) wrong(column, fmt::format("expected the {} of the rows above", epoch_));
    epoch_ = epoch;
  }

  std::vector<size_t> present_;
  int64_t epoch_ = 0;
};

}  // namespace

OpenedRows open_weft_csv_rows(TextWindow file) {
  CsvRows::Layout layout{.columns = {}, .id = kWeftIdField, .submit = kWeftSubmitField, .run_time = kWeftRunTimeField};
  for (const WeftField& field : weft_fields()) {
    const bool is_needed = layout.columns.size() <= kWeftRunTimeField;
    layout.columns.push_back({field.name, is_needed ? CsvTable::Presence::kRequired : CsvTable::Presence::kOptional});
  }
  layout.columns.push_back({"epoch", CsvTable::Presence::kOptional});
  return open_csv_rows<WeftCsvRows>(CsvReader(std::move(file)), layout, CsvTable::Unknown::kRefused);
}

}  // namespace weft::sim
