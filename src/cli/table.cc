#include "cli/table.h"

#include "base/check.h"
#include "base/printable.h"

#include <algorithm>
#include <cstdint>

namespace weft::cli {
namespace {

/// Takes one character off the front. Text from outside was checked for UTF-8 before; a stray byte counts as one
/// character.
uint32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  size_t size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  size = std::min(size, text.size());
  uint32_t code = size == 1 ? first : first & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  text.remove_prefix(size);
  return code;
}

/// East Asian wide characters and emoji take two columns, combining marks none. The blocks, not every exception in
/// them.
size_t width_of(uint32_t code) {
  if ((code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) || (code >= 0xfe00 && code <= 0xfe0f))
    return 0;
  const bool is_wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                       (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                       (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                       (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) ||
                       (code >= 0x20000 && code <= 0x3fffd);
  return is_wide ? 2 : 1;
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) width += width_of(take_character(text));
  return width;
}

std::string shortened(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  size_t used = 1;  // of the …
  while (!text.empty()) {
    std::string_view rest = text;
    const size_t next = width_of(take_character(rest));
    if (used + next > width) break;
    out += text.substr(0, text.size() - rest.size());
    used += next;
    text = rest;
  }
  return width == 0 ? "" : out + "…";
}

void Table::add(std::vector<std::string> row) {
  WEFT_CHECK(row.size() == columns_.size(), "a row has a cell for each column");
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<size_t>& widths, size_t width) const {
  std::string out;
  size_t used = 0;
  for (size_t c = 0; c < cells.size(); ++c) {
    const bool is_last = c + 1 == cells.size();
    const std::string cell = is_last && width > used ? shortened(cells[c], width - used) : cells[c];
    const size_t blanks = widths[c] - std::min(widths[c], display_width(cell));
    if (columns_[c].align == Align::kRight) out.append(blanks, ' ');
    out += cell;
    if (columns_[c].align == Align::kLeft) out.append(blanks, ' ');
    out += "  ";
    used += widths[c] + 2;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string Table::text(size_t width) const {
  std::vector<std::string> headings;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
    widths.push_back(display_width(column.heading));
  }
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string out = line(headings, widths, width);
  for (const auto& row : rows_) out += line(row, widths, width);
  return out;
}

}  // namespace weft::cli
