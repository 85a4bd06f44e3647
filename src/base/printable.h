#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

// Text that others wrote goes to a terminal, or into a message of one line, only through printable().

/// The text with \xNN for every byte that is not UTF-8, and for every byte of what a terminal would take as an order or
/// a line break: control characters, line separators, and those that turn the direction of writing.
std::string printable(std::string_view text);
/// True when printable() would change nothing.
bool is_printable(std::string_view text);

/// The text with U+FFFD in place of each byte that is not UTF-8: for JSON and HTML, which can hold nothing else.
std::string as_utf8(std::string_view text);

/// The bytes of the UTF-8 character at the front (no overlong forms, no surrogates); 0 when there is none.
size_t utf8_length(std::string_view text);

}  // namespace weft
