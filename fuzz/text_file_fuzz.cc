// Files of any bytes: what is no text is found where it stands, and what people are shown of it is one line of text.

#include "base/check.h"
#include "base/printable.h"
#include "base/text.h"
#include "sim/csv.h"
#include "sim/text_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

bool is_text(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) || c == '\n' || c == '\r' || c == '\t';
  };
  return weft::is_utf8(text) && std::ranges::all_of(text, is_allowed);
}

void check_fault(std::string_view text) {
  const auto fault = weft::sim::find_text_fault(text);
  WEFT_CHECK(fault.has_value() != is_text(text), "there is a fault where the bytes are no text, and only there");
  if (!fault) return;
  size_t start = 0;
  for (uint32_t line = 1; line < fault->line; ++line) start = text.find('\n', start) + 1;
  const size_t at = start + fault->column - 1;
  WEFT_CHECK(at < text.size() && is_text(text.substr(0, at)), "all before the fault is text");
}

void check_shown(std::string_view text) {
  const std::string line = weft::printable(text);
  WEFT_CHECK(weft::is_utf8(line), "a line is text, whatever the input was");
  for (const char c : line) WEFT_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "a line is one line");
  WEFT_CHECK(weft::printable(line) == line, "what is one line already stays");
  const std::string whole = weft::as_utf8(text);
  WEFT_CHECK(weft::is_utf8(whole) && (whole == text) == weft::is_utf8(text), "only what is no UTF-8 is replaced");
}

void check_rows(std::string_view text) {
  weft::sim::CsvReader reader(text, "f.csv");
  std::vector<weft::sim::CsvField> fields;
  for (;;) {
    const auto step = reader.next(fields);
    if (!step || *step == weft::sim::CsvReader::Step::kEnd) return;
    WEFT_CHECK(!fields.empty() && fields.size() <= 4097, "a row has fields, but not without bound");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_fault(text);
  check_shown(text);
  check_rows(text);
  return 0;
}
