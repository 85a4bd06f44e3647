#include "sim/report/json_writer.h"

#include "base/check.h"
#include "base/printable.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

namespace weft::sim {

void JsonWriter::open(std::string_view key, char begin, char end) {
  begin_value(key);
  text_ += begin;
  levels_.push_back({.end = end});
}

void JsonWriter::close() {
  WEFT_CHECK(!levels_.empty(), "only what was opened is closed");
  const Level level = levels_.back();
  levels_.pop_back();
  if (level.values > 0) new_line();
  text_ += level.end;
}

void JsonWriter::add(std::string_view key, std::string_view text) {
  begin_value(key);
  add_text(text);
}

void JsonWriter::add(std::string_view key, double number) {
  add_literal(key, std::isfinite(number) ? fmt::format("{}", number) : "null");
}

std::string JsonWriter::take() {
  WEFT_CHECK(levels_.empty(), "a JSON value is taken when it is whole");
  return std::exchange(text_, {}) + "\n";
}

void JsonWriter::add_literal(std::string_view key, std::string_view literal) {
  begin_value(key);
  text_ += literal;
}

void JsonWriter::begin_value(std::string_view key) {
  if (levels_.empty()) return;
  if (levels_.back().values++ > 0) text_ += ',';
  new_line();
  if (levels_.back().end == ']') return;
  add_text(key);
  text_ += ": ";
}

void JsonWriter::add_text(std::string_view text) {
  text_ += '"';
  for (const char c : as_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (byte < 0x20) {
      fmt::format_to(std::back_inserter(text_), "\\u{:04x}", byte);
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(2 * levels_.size(), ' ');
}

}  // namespace weft::sim
