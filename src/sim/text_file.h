#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::sim {

/// The first thing in a text that has no place in one. Line and column count from 1, the column in bytes.
struct TextFault {
  uint32_t line = 1;
  uint32_t column = 1;
  std::string message;
};

/// Finds bytes that are not UTF-8 and control characters other than tab, line feed and carriage return.
/// Cost: O(bytes), however long a line is.
std::optional<TextFault> find_text_fault(std::string_view text);

/// All bytes of a file. Errors: it is not there, a directory, not readable, or larger than `bytes_max`.
Result<std::string> read_file(const std::string& path, int64_t bytes_max);

/// The same for a text file. Errors ("file:line:column: …" where there is a place) also: it is empty, or holds what is
/// no text (see find_text_fault()).
Result<std::string> read_text_file(const std::string& path, int64_t bytes_max = int64_t{1} << 31);

}  // namespace weft::sim
