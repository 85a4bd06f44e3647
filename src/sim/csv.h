#pragma once

#include "base/result.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// One field and where it starts; line and column count from 1, columns in bytes.
struct CsvField {
  std::string_view text;
  uint32_t line = 0;
  uint32_t column = 0;
};

/// Reads comma-separated values (RFC 4180) row by row: quoted fields with doubled quotes, commas and line ends inside;
/// LF or CRLF; a byte order mark; a last row without a line end. Blank lines are passed over. A quote inside a bare
/// field, text after a closing quote, an open quote at the end, a lone CR and a row of more than 4,096 fields are
/// errors.
///
/// Fields view the content or, where quotes had to be undoubled, memory of the reader; both must outlive them.
/// Cost: O(bytes), no allocation but for undoubled fields.
class CsvReader {
 public:
  /// `name` is what errors call the file.
  CsvReader(std::string_view content, std::string_view name);

  enum class Step : uint8_t { kRow, kEnd };
  /// Reads the next row into `fields`, or says that there is none.
  Result<Step> next(std::vector<CsvField>& fields);

  /// "file:line:column: message" as invalid input.
  std::unexpected<Error> error_at(const CsvField& field, std::string_view message) const;
  const std::string& name() const { return name_; }

 private:
  Result<CsvField> read_field();
  Result<CsvField> read_quoted();
  std::unexpected<Error> error_here(std::string_view message) const;
  uint32_t column() const { return static_cast<uint32_t>(position_ - line_start_) + 1; }
  bool is_at_end() const { return position_ >= content_.size(); }
  /// True when a line end stands here; passes over it.
  bool take_line_end();

  std::string_view content_;
  std::string name_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  std::deque<std::string> unquoted_;
};

/// A table whose first row names its columns. Each row must have as many fields as there are names.
class CsvTable {
 public:
  enum class Presence : uint8_t { kRequired, kOptional };
  struct Column {
    std::string_view name;
    Presence presence = Presence::kRequired;
  };

  /// Reads the first row and matches it with `columns`, in any order.
  /// Errors: no rows; a required column missing; an unknown column (with the nearest known one); one twice.
  static Result<CsvTable> open(std::string_view content, std::string name, const std::vector<Column>& columns);

  /// The next row by the order of `columns`; the text of an absent optional column is empty. Ends like
  /// CsvReader::next().
  Result<CsvReader::Step> next(std::vector<CsvField>& fields);
  const CsvReader& reader() const { return reader_; }
  bool has_column(size_t i) const { return places_[i] >= 0; }

 private:
  explicit CsvTable(CsvReader reader) : reader_(std::move(reader)) {}

  CsvReader reader_;
  std::vector<int32_t> places_;  ///< by index into `columns`; -1: absent
  size_t width_ = 0;
  std::vector<CsvField> row_;
};

/// Text as one field: in quotes where it needs them.
std::string csv_text(std::string_view text);

struct IntegerRange {
  int64_t low = 0;
  int64_t high = 0;
};
/// A whole decimal number in the range; blanks, signs other than a leading minus, fractions, NaN and overflow are
/// errors that name the column.
Result<int64_t> read_integer(const CsvReader& reader, const CsvField& field, std::string_view column,
                             IntegerRange range);

}  // namespace weft::sim
