#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

/// Rows of text under a heading, columns aligned by the characters that a terminal shows.
class Table {
 public:
  enum class Align : unsigned char { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Requires: one cell per column.
  void add(std::vector<std::string> row);
  bool is_empty() const { return rows_.empty(); }

  /// With `width` > 0 the last column is cut so that no line is longer. Lines end in newlines, without blanks before
  /// them.
  std::string text(size_t width) const;

 private:
  std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths, size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// How many columns of a terminal the text takes: one for each character of valid UTF-8, two for a wide one, none for a
/// combining one.
size_t display_width(std::string_view text);
/// At most `width` columns of it, with … in place of what was cut off.
std::string shortened(std::string_view text, size_t width);

}  // namespace weft::cli
