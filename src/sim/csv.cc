#include "sim/csv.h"

#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace weft::sim {

namespace {

/// A row of more fields is no row of any table that is read here; without a bound, a file of commas would take forty
/// times its size of memory.
constexpr size_t kFieldsMax = 4096;

constexpr size_t kWordBytes = 8;
constexpr uint64_t kOnes = 0x0101010101010101;

/// `bytes` (up to eight) bytes from `at` on, the first in the lowest; zeros behind them.
uint64_t load_word(const char* at, size_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

/// The highest bit of each byte that is zero. No carry from one byte into the next, so all of them are right.
uint64_t zero_bytes(uint64_t word) {
  constexpr uint64_t kLow = kOnes * 0x7F;
  return ~(((word & kLow) + kLow) | word | kLow);
}

}  // namespace

CsvReader::CsvReader(std::string_view content, std::string_view name) : CsvReader(TextWindow(content, name)) {}

CsvReader::CsvReader(TextWindow window, CsvDialect dialect)
    : lines_(std::move(window)), dialect_(dialect), keeps_fields_(lines_.is_whole()) {
  separators_ = kOnes * static_cast<uint8_t>(dialect.separator);
}

std::unexpected<Error> CsvReader::error_at(const CsvField& field, std::string_view message) const {
  return lines_.error_at(field.line, field.column, message);
}

std::unexpected<Error> CsvReader::error_at_offset(size_t offset, std::string_view message) const {
  return lines_.error_at(line_at_offset(), column_of(offset), message);
}

Result<CsvReader::Step> CsvReader::next(std::vector<CsvField>& fields) {
  if (!keeps_fields_ && !unquoted_.empty()) unquoted_.clear();
  do {
    const Result<bool> is_line = lines_.next(row_);
    if (!is_line) return std::unexpected(is_line.error());
    if (!*is_line) {
      fields.clear();
      return Step::kEnd;
    }
  } while (row_.text.empty());
  if (is_bare() && split_bare(fields)) return Step::kRow;
  fields.clear();
  lines_passed_ = 0;
  line_start_ = 0;
  if (Result<void> split = split_quoted(fields); !split) {
    lines_.take_back_extension();
    return std::unexpected(std::move(split.error()));
  }
  return Step::kRow;
}

bool CsvReader::is_bare() const {
  return lines_.is_simple() || (!row_.text.contains('"') && !row_.text.contains('\r'));
}

bool CsvReader::split_bare(std::vector<CsvField>& fields) const {
  const char* const begin = row_.text.data();
  const char* const end = begin + row_.text.size();
  const char* start = begin;
  size_t room = fields.size();
  size_t count = 0;
  const auto add = [&](const char* field_end) {
    if (count == room) fields.resize(room = 2 * room + 4);  // as good as never: rows are as wide as the last one
    fields[count++] = {.text = {start, static_cast<size_t>(field_end - start)},
                       .line = row_.number,
                       .column = static_cast<uint32_t>(start - begin) + 1};
    start = field_end + 1;
  };
  const auto take = [&](const char* at, size_t bytes) {
    for (uint64_t found = zero_bytes(load_word(at, bytes) ^ separators_); found != 0; found &= found - 1)
      add(at + std::countr_zero(found) / 8);
  };
  const char* at = begin;
  for (; end - at >= static_cast<ptrdiff_t>(kWordBytes); at += kWordBytes) take(at, kWordBytes);
  take(at, static_cast<size_t>(end - at));
  add(end);
  if (count != room) fields.resize(count);
  return count <= kFieldsMax;
}

Result<void> CsvReader::split_quoted(std::vector<CsvField>& fields) {
  spans_.clear();
  for (size_t at = 0;; ++at) {
    const bool is_quoted = has_quotes() && at < row_.text.size() && row_.text[at] == '"';
    const Result<Span> span = is_quoted ? read_quoted_span(at) : read_bare_span(at);
    if (!span) return std::unexpected(span.error());
    spans_.push_back(*span);
    if (spans_.size() > kFieldsMax) {
      return lines_.error_at(span->line, span->column,
                             fmt::format("more than {} fields in one line", format_count(kFieldsMax)));
    }
    at = span->start + span->length + (is_quoted ? 1 : 0);
    if (at >= row_.text.size()) break;
    if (row_.text[at] != dialect_.separator)
      return error_at_offset(at, "expected a comma or the end of the line after a quoted field");
  }
  for (const Span& span : spans_) {
    const std::string_view text = row_.text.substr(span.start, span.length);
    fields.push_back(
        {.text = span.has_doubled != 0 ? undoubled(text) : text, .line = span.line, .column = span.column});
  }
  return {};
}

Result<CsvReader::Span> CsvReader::read_bare_span(size_t start) {
  size_t at = start;
  for (; at < row_.text.size() && row_.text[at] != dialect_.separator; ++at) {
    if (row_.text[at] == '"' && has_quotes())
      return error_at_offset(at, "a quote inside a field that does not begin with one");
    if (row_.text[at] == '\r') return error_at_offset(at, "a carriage return without a line feed");
  }
  return Span{.start = start, .length = at - start, .line = line_at_offset(), .column = column_of(start)};
}

Result<CsvReader::Span> CsvReader::read_quoted_span(size_t start) {
  Span span{.start = start + 1, .length = 0, .line = line_at_offset(), .column = column_of(start)};
  for (size_t at = span.start;; ++at) {
    at = std::min(row_.text.find('"', at), row_.text.size());
    if (at == row_.text.size()) {
      const Result<bool> is_more = lines_.extend(row_);
      if (!is_more) return std::unexpected(is_more.error());
      if (!*is_more) {
        return lines_.error_at(span.line, span.column, "the quoted field that begins here does not end");
      }
      ++lines_passed_;
      line_start_ = row_.text.find('\n', at) + 1;
      --at;  // goes on where the line ended
      continue;
    }
    if (at + 1 < row_.text.size() && row_.text[at + 1] == '"') {
      span.has_doubled = 1;
      ++at;
      continue;
    }
    span.length = at - span.start;
    return span;
  }
}

std::string_view CsvReader::undoubled(std::string_view text) {
  std::string& out = unquoted_.emplace_back();
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '"') ++i;  // its double
  }
  return out;
}

Result<CsvTable> CsvTable::open(std::string_view content, std::string name, const std::vector<Column>& columns) {
  return open(CsvReader(content, name), columns, Unknown::kRefused);
}

Result<CsvTable> CsvTable::open(CsvReader reader, const std::vector<Column>& columns, Unknown unknown) {
  CsvTable table(std::move(reader));
  const Result<CsvReader::Step> step = table.reader_.next(table.row_);
  if (!step) return std::unexpected(step.error());
  if (*step == CsvReader::Step::kEnd) {
    std::vector<std::string_view> names;
    for (const Column& column : columns) names.push_back(column.name);
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: no rows; expected the columns {}", table.reader_.name(), fmt::join(names, ",")));
  }
  if (Result<void> found = table.find_places(columns, unknown); !found)
    return std::unexpected(std::move(found.error()));
  return table;
}

Result<void> CsvTable::find_places(const std::vector<Column>& columns, Unknown unknown) {
  const std::vector<CsvField>& header = row_;
  std::vector<std::string_view> names;
  for (const Column& column : columns) names.push_back(column.name);
  places_.assign(columns.size(), -1);
  width_ = header.size();
  for (size_t i = 0; i < header.size(); ++i) {
    const auto found = std::ranges::find(names, header[i].text);
    if (found == names.end()) {
      if (unknown == Unknown::kIgnored) continue;
      const std::string_view meant = nearest(header[i].text, names);
      const std::string hint = meant.empty() ? fmt::format("known are {}", fmt::join(names, ", "))
                                             : fmt::format("did you mean '{}'?", meant);
      return reader_.error_at(header[i], fmt::format("unknown column {}; {}", quote(header[i].text), hint));
    }
    int32_t& place = places_[static_cast<size_t>(found - names.begin())];
    if (place >= 0) return reader_.error_at(header[i], fmt::format("the column '{}' stands twice", *found));
    place = static_cast<int32_t>(i);
  }
  for (size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].presence == Presence::kOptional || places_[c] >= 0) continue;
    return reader_.error_at(header.front(), fmt::format("the column '{}' is missing", columns[c].name));
  }
  return {};
}

CsvTable CsvTable::without_header(CsvReader reader, size_t columns) {
  CsvTable table(std::move(reader));
  table.width_ = columns;
  for (size_t i = 0; i < columns; ++i) table.places_.push_back(static_cast<int32_t>(i));
  return table;
}

Result<CsvReader::Step> CsvTable::next() {
  const Result<CsvReader::Step> step = reader_.next(row_);
  if (!step || *step == CsvReader::Step::kEnd) return step;
  if (row_.size() != width_) {
    return reader_.error_at(row_.size() < width_ ? row_.front() : row_[width_],
                            fmt::format("{} fields; expected {}", row_.size(), width_));
  }
  return step;
}

CsvField CsvTable::field(size_t column) const {
  const int32_t place = places_[column];
  return place >= 0 ? row_[static_cast<size_t>(place)]
                    : CsvField{.text = {}, .line = row_.empty() ? 1 : row_.front().line, .column = 1};
}

Result<CsvReader::Step> CsvTable::next(std::vector<CsvField>& fields) {
  const Result<CsvReader::Step> step = next();
  if (!step || *step == CsvReader::Step::kEnd) return step;
  fields.clear();
  for (size_t column = 0; column < places_.size(); ++column) fields.push_back(field(column));
  return step;
}

std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += c;
  }
  return out + "\"";
}

Result<int64_t> read_integer(const CsvReader& reader, const CsvField& field, std::string_view column,
                             IntegerRange range) {
  int64_t value = 0;
  const char* const begin = field.text.data();
  const char* const end = begin + field.text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  const bool is_number =
      !field.text.empty() && stop == end && (error == std::errc() || error == std::errc::result_out_of_range);
  if (!is_number) {
    return reader.error_at(field, fmt::format("{}: expected a whole number, found {}", column, quote(field.text)));
  }
  if (error != std::errc() || value < range.low || value > range.high) {
    return reader.error_at(field, fmt::format("{}: expected a number from {} to {}, found {}", column,
                                              format_count(range.low), format_count(range.high), quote(field.text)));
  }
  return value;
}

}  // namespace weft::sim
