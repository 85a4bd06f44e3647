#include "sim/csv.h"

#include "base/printable.h"
#include "base/text.h"
#include "sim/text_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace weft::sim {

namespace {

/// A row of more fields is no row of any table that is read here; without a bound, a file of commas would take forty
/// times its size of memory.
constexpr size_t kFieldsMax = 4096;

}  // namespace

CsvReader::CsvReader(std::string_view content, std::string_view name) : content_(content), name_(printable(name)) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (content_.starts_with(kByteOrderMark)) position_ = line_start_ = kByteOrderMark.size();
}

std::unexpected<Error> CsvReader::error_at(const CsvField& field, std::string_view message) const {
  return fail(ErrorCode::kInvalidInput, fmt::format("{}:{}:{}: {}", name_, field.line, field.column, message));
}

std::unexpected<Error> CsvReader::error_here(std::string_view message) const {
  return error_at({.text = {}, .line = line_, .column = column()}, message);
}

bool CsvReader::take_line_end() {
  if (is_at_end()) return true;
  size_t length = 0;
  if (content_[position_] == '\n') length = 1;
  if (content_.substr(position_, 2) == "\r\n") length = 2;
  if (length == 0) return false;
  position_ += length;
  line_start_ = position_;
  ++line_;
  return true;
}

Result<CsvReader::Step> CsvReader::next(std::vector<CsvField>& fields) {
  fields.clear();
  while (!is_at_end() && take_line_end()) {
  }
  if (is_at_end()) return Step::kEnd;
  for (;;) {
    Result<CsvField> field = content_[position_] == '"' ? read_quoted() : read_field();
    if (!field) return std::unexpected(std::move(field.error()));
    fields.push_back(*field);
    if (fields.size() > kFieldsMax) {
      return error_at(*field, fmt::format("more than {} fields in one line", format_count(kFieldsMax)));
    }
    if (take_line_end()) return Step::kRow;
    if (content_[position_] != ',') return error_here("expected a comma or the end of the line after a quoted field");
    ++position_;
    if (take_line_end()) {  // a comma at the end: one more field, empty
      const auto after = static_cast<uint32_t>(field->column + field->text.size() + 1);
      fields.push_back({.text = {}, .line = field->line, .column = after});
      return Step::kRow;
    }
  }
}

Result<CsvField> CsvReader::read_field() {
  CsvField field{.text = {}, .line = line_, .column = column()};
  const size_t start = position_;
  while (!is_at_end()) {
    const char c = content_[position_];
    if (c == ',' || c == '\n') break;
    if (c == '\r' && content_.substr(position_, 2) == "\r\n") break;
    if (c == '\r') return error_here("a carriage return without a line feed");
    if (c == '"') return error_here("a quote inside a field that does not begin with one");
    ++position_;
  }
  field.text = content_.substr(start, position_ - start);
  return field;
}

Result<CsvField> CsvReader::read_quoted() {
  CsvField field{.text = {}, .line = line_, .column = column()};
  const size_t start = ++position_;
  bool has_doubled = false;
  for (;; ++position_) {
    if (is_at_end()) return error_at(field, "the quoted field that begins here does not end");
    if (content_[position_] == '\n') {
      ++line_;
      line_start_ = position_ + 1;
    }
    if (content_[position_] != '"') continue;
    if (content_.substr(position_, 2) != "\"\"") break;
    has_doubled = true;
    ++position_;
  }
  field.text = content_.substr(start, position_ - start);
  ++position_;
  if (!has_doubled) return field;
  std::string& text = unquoted_.emplace_back();
  for (size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.text[i] == '"') ++i;  // its double
  }
  field.text = text;
  return field;
}

Result<CsvTable> CsvTable::open(std::string_view content, std::string name, const std::vector<Column>& columns) {
  CsvTable table(CsvReader(content, std::move(name)));
  const CsvReader& reader = table.reader_;
  std::vector<CsvField>& header = table.row_;
  const Result<CsvReader::Step> step = table.reader_.next(header);
  if (!step) return std::unexpected(step.error());
  std::vector<std::string_view> names;
  for (const Column& column : columns) names.push_back(column.name);
  if (*step == CsvReader::Step::kEnd) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: no rows; expected the columns {}", reader.name(), fmt::join(names, ",")));
  }
  table.places_.assign(columns.size(), -1);
  table.width_ = header.size();
  for (size_t i = 0; i < header.size(); ++i) {
    const auto found = std::ranges::find(names, header[i].text);
    if (found == names.end()) {
      const std::string_view meant = nearest(header[i].text, names);
      const std::string hint = meant.empty() ? fmt::format("known are {}", fmt::join(names, ", "))
                                             : fmt::format("did you mean '{}'?", meant);
      return reader.error_at(header[i], fmt::format("unknown column {}; {}", quote(header[i].text), hint));
    }
    int32_t& place = table.places_[static_cast<size_t>(found - names.begin())];
    if (place >= 0) return reader.error_at(header[i], fmt::format("the column '{}' stands twice", *found));
    place = static_cast<int32_t>(i);
  }
  for (size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].presence == Presence::kOptional || table.places_[c] >= 0) continue;
    return reader.error_at(header.front(), fmt::format("the column '{}' is missing", columns[c].name));
  }
  return table;
}

Result<CsvReader::Step> CsvTable::next(std::vector<CsvField>& fields) {
  const Result<CsvReader::Step> step = reader_.next(row_);
  if (!step || *step == CsvReader::Step::kEnd) return step;
  if (row_.size() != width_) {
    return reader_.error_at(row_.size() < width_ ? row_.front() : row_[width_],
                            fmt::format("{} fields; expected {}", row_.size(), width_));
  }
  fields.clear();
  for (const int32_t place : places_) {
    fields.push_back(place >= 0 ? row_[static_cast<size_t>(place)]
                                : CsvField{.text = {}, .line = row_.front().line, .column = 1});
  }
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
