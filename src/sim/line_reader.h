#pragma once

#include "base/result.h"
#include "sim/text_window.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::sim {

/// A line, or several that belong together (see LineReader::extend()), without the end of the last.
struct Line {
  std::string_view text;
  uint32_t number = 0;  ///< of the first, from 1
};

/// Of a line, or a row of several. A file that is one endless line is refused after as much.
inline constexpr size_t kLineBytesMax = size_t{1} << 20;

/// Reads a text line by line: LF or CRLF, a last line without an end, a byte order mark at the front.
///
/// Lines that come through a ByteSource are checked: one that is longer than kLineBytesMax, not UTF-8, or holds control
/// characters (see find_text_fault()) is an error "file:line:column: …". After such an error next() goes on with the
/// line behind; after one of the source it cannot, see goes_on(). Of a text given whole only the length is checked.
/// Memory is bounded; no allocation per line.
class LineReader {
 public:
  explicit LineReader(TextWindow window) : window_(std::move(window)) {}

  /// The next line; false: there is none. `line` is valid until the next call of anything.
  Result<bool> next(Line& line);
  /// Makes `line`, which next() gave last, reach to the end of the line behind it; false: there is none.
  Result<bool> extend(Line& line);
  /// next() goes on behind the first line of what was extended.
  void take_back_extension();

  bool goes_on() const { return !is_broken_; }
  bool is_whole() const { return window_.is_whole(); }
  /// What next() gave last has no quotes and no carriage returns; may be false where it has none either.
  bool is_simple() const { return window_.is_simple(); }
  const std::string& name() const { return window_.name(); }
  std::unexpected<Error> error_at(uint32_t line, size_t column, std::string_view message) const;

 private:
  Result<bool> next_slowly(Line& line);
  /// Finds the end of the line that starts `from` bytes behind the front; sets end_ and next_.
  Result<bool> find_end(size_t from);
  Result<void> check(size_t from, uint32_t number);
  Result<void> pass_over_rest_of_line();
  Result<bool> more();

  TextWindow window_;
  uint32_t line_ = 1;        ///< number of the line at the front
  uint32_t lines_here_ = 0;  ///< of what was given last
  size_t end_ = 0;           ///< of what was given last, from the front; without the line's end
  size_t next_ = 0;          ///< where the line behind starts
  size_t first_next_ = 0;    ///< the same for the first line of it
  bool is_too_long_ = false;
  bool is_broken_ = false;
};

}  // namespace weft::sim
