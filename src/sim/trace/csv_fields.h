#pragma once

#include "sim/csv.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::sim {

inline constexpr IntegerRange kGpus{.low = 0, .high = 1'000'000};

/// The rows of a table, and their fields as values. What is wrong with a field is kept, the first of a row, so a reader
/// may take field after field and ask once in the end, by has_error().
class CsvFields {
 public:
  CsvFields(CsvTable table, std::vector<CsvTable::Column> columns)
      : table_(std::move(table)), columns_(std::move(columns)) {}

  Result<CsvReader::Step> next() {
    ++index_;
    return table_.next();
  }
  bool goes_on() const { return table_.reader().goes_on(); }
  const std::string& name() const { return table_.reader().name(); }

  bool has_column(size_t column) const { return table_.has_column(column); }
  std::string_view text(size_t column) const { return table_.text(column); }
  bool is_empty(size_t column) const { return text(column).empty(); }

  int64_t integer(size_t column, IntegerRange range);
  /// The same; also "8.0", as some tables write whole numbers.
  int64_t rounded(size_t column, IntegerRange range);
  /// A decimal number times `unit` (10^3 … 10^9), rounded down: of seconds, nanoseconds.
  int64_t decimal(size_t column, int64_t unit = 1'000'000'000);
  /// Nanoseconds since 1970.
  int64_t date_time(size_t column);

  void wrong(size_t column, std::string_view message);
  bool has_error() const { return error_.has_value(); }
  std::unexpected<Error> take_error() { return std::unexpected(*std::exchange(error_, std::nullopt)); }
  std::unexpected<Error> error_at(size_t column, std::string_view message) const {
    return table_.reader().error_at(table_.field(column), message);
  }
  /// Rows before this one, without the header.
  int64_t index() const { return index_; }

 private:
  int64_t integer_of(const CsvField& field, size_t column, IntegerRange range);

  CsvTable table_;
  std::vector<CsvTable::Column> columns_;
  std::optional<Error> error_;
  int64_t index_ = -1;
};

}  // namespace weft::sim
