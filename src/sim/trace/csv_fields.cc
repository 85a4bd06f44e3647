#include "sim/trace/csv_fields.h"

#include "base/text.h"
#include "sim/trace/numbers.h"

#include <fmt/format.h>

namespace weft::sim {

void CsvFields::wrong(size_t column, std::string_view message) {
  if (!error_) error_ = error_at(column, fmt::format("{}: {}", columns_[column].name, message)).error();
}

int64_t CsvFields::integer(size_t column, IntegerRange range) {
  // As nearly every number goes: a few digits, in the range.
  const std::string_view digits = text(column);
  if (!digits.empty() && digits.size() <= 18) {
    int64_t value = 0;
    bool is_number = true;
    for (const char c : digits) {
      is_number = is_number && c >= '0' && c <= '9';
      value = value * 10 + (c - '0');
    }
    if (is_number && value >= range.low && value <= range.high) return value;
  }
  return integer_of(table_.field(column), column, range);
}

int64_t CsvFields::integer_of(const CsvField& field, size_t column, IntegerRange range) {
  Result<int64_t> value = read_integer(table_.reader(), field, columns_[column].name, range);
  if (value) return *value;
  if (!error_) error_ = std::move(value.error());
  return range.low;
}

int64_t CsvFields::rounded(size_t column, IntegerRange range) {
  CsvField field = table_.field(column);
  const size_t point = field.text.find('.');
  if (point != std::string_view::npos && point + 1 < field.text.size() &&
      field.text.find_first_not_of('0', point + 1) == std::string_view::npos)
    field.text = field.text.substr(0, point);
  return integer_of(field, column, range);
}

int64_t CsvFields::decimal(size_t column, int64_t unit) {
  int64_t value = 0;
  const NumberFault fault = read_decimal(text(column), unit, value);
  if (fault == NumberFault::kNone) return value;
  if (fault == NumberFault::kTooLarge) {
    wrong(column,
          fmt::format("expected at most {}, found {}", format_count(kTraceTimeMax / unit), quote(text(column))));
  } else {
    wrong(column, fmt::format("expected a number, found {}", quote(text(column))));
  }
  return 0;
}

int64_t CsvFields::date_time(size_t column) {
  if (const std::optional<int64_t> instant = read_date_time(text(column))) return *instant;
  wrong(column, fmt::format("expected a date and a time such as 2020-06-09 18:41:01, found {}", quote(text(column))));
  return 0;
}

}  // namespace weft::sim
