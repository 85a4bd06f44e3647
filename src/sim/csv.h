#pragma once

#include "base/result.h"
#include "sim/line_reader.h"
#include "sim/text_window.h"

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

/// How a table is written.
struct CsvDialect {
  enum class Quotes : uint8_t { kRfc4180, kNone };  ///< kNone: a quote is a character like others
  char separator = ',';
  Quotes quotes = Quotes::kRfc4180;
};

/// Reads comma-separated values (RFC 4180) row by row: quoted fields with doubled quotes, commas and line ends inside;
/// LF or CRLF; a byte order mark; a last row without a line end. Blank lines are passed over. A quote inside a bare
/// field, text after a closing quote, an open quote at the end, a lone CR, a row of more than 4,096 fields or of more
/// than 1 MiB are errors. After an error next() goes on with the line behind the one in which the row began, where
/// goes_on().
///
/// Of a text given whole, fields view the content or, where quotes had to be undoubled, memory of the reader, and both
/// must outlive them. Of a stream they are valid until the next row, memory is bounded, and what is no text is an error
/// (see LineReader). Cost: O(bytes), no allocation but for undoubled fields.
class CsvReader {
 public:
  /// `name` is what errors call the file.
  CsvReader(std::string_view content, std::string_view name);
  explicit CsvReader(TextWindow window, CsvDialect dialect = {});

  enum class Step : uint8_t { kRow, kEnd };
  /// Reads the next row into `fields`, or says that there is none.
  Result<Step> next(std::vector<CsvField>& fields);
  bool goes_on() const { return lines_.goes_on(); }

  /// "file:line:column: message" as invalid input.
  std::unexpected<Error> error_at(const CsvField& field, std::string_view message) const;
  const std::string& name() const { return lines_.name(); }

 private:
  /// A field of a row with quotes, by its place in it: a row of several lines moves in memory while it is read.
  struct Span {
    size_t start = 0;
    size_t length = 0;
    uint32_t line = 0;
    uint32_t column = 0;
    uint8_t has_doubled = 0;
  };

  /// The row has no quotes and no carriage returns.
  bool is_bare() const;
  /// Splits such a row. False: it has too many fields.
  bool split_bare(std::vector<CsvField>& fields) const;
  /// Splits any row, and finds what is wrong with it.
  Result<void> split_quoted(std::vector<CsvField>& fields);
  Result<Span> read_bare_span(size_t start);
  Result<Span> read_quoted_span(size_t start);
  bool has_quotes() const { return dialect_.quotes == CsvDialect::Quotes::kRfc4180; }
  std::string_view undoubled(std::string_view text);
  std::unexpected<Error> error_at_offset(size_t offset, std::string_view message) const;
  uint32_t line_at_offset() const { return row_.number + lines_passed_; }
  uint32_t column_of(size_t offset) const { return static_cast<uint32_t>(offset - line_start_) + 1; }

  LineReader lines_;
  CsvDialect dialect_;
  bool keeps_fields_;        ///< of every row, not of the last alone
  uint64_t separators_ = 0;  ///< the separator eight times
  Line row_;
  uint32_t lines_passed_ = 0;  ///< of the row
  size_t line_start_ = 0;      ///< in the row
  std::vector<Span> spans_;
  std::deque<std::string> unquoted_;
};

/// A table whose first row names its columns. Each row must have as many fields as there are names.
class CsvTable {
 public:
  enum class Presence : uint8_t { kRequired, kOptional };
  enum class Unknown : uint8_t { kRefused, kIgnored };  ///< columns that are not asked for
  struct Column {
    std::string_view name;
    Presence presence = Presence::kRequired;
  };

  /// Reads the first row and matches it with `columns`, in any order.
  /// Errors: no rows; a required column missing; an unknown column (with the nearest known one); one twice.
  static Result<CsvTable> open(std::string_view content, std::string name, const std::vector<Column>& columns);
  static Result<CsvTable> open(CsvReader reader, const std::vector<Column>& columns, Unknown unknown);

  /// A table of so many columns without a row that names them.
  static CsvTable without_header(CsvReader reader, size_t columns);

  /// The next row; ends like CsvReader::next().
  Result<CsvReader::Step> next();
  /// A field of the row, by the order of `columns`; the text of an absent optional column is empty.
  CsvField field(size_t column) const;
  std::string_view text(size_t column) const {
    const int32_t place = places_[column];
    return place >= 0 ? row_[static_cast<size_t>(place)].text : std::string_view{};
  }
  /// The next row, all fields of it.
  Result<CsvReader::Step> next(std::vector<CsvField>& fields);
  const CsvReader& reader() const { return reader_; }
  bool has_column(size_t i) const { return places_[i] >= 0; }

 private:
  explicit CsvTable(CsvReader reader) : reader_(std::move(reader)) {}
  Result<void> find_places(const std::vector<Column>& columns, Unknown unknown);

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
