#include "base/printable.h"

#include <fmt/format.h>

namespace weft {

namespace {

/// Requires: one UTF-8 character.
bool is_order(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;  // U+0080 to U+009F
  if (character.size() != 3 || byte(0) != 0xE2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||  // U+2028 to U+202E
         (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);    // U+2066 to U+2069
}

enum class Piece { kGood, kOrder, kNoText };

/// Calls `visit(piece, bytes)` for each character, and for each byte that belongs to none.
template <typename Visit>
void for_each_character(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view bytes = text.substr(0, length == 0 ? 1 : length);
    visit(length == 0 ? Piece::kNoText : is_order(bytes) ? Piece::kOrder : Piece::kGood, bytes);
    text.remove_prefix(bytes.size());
  }
}

}  // namespace

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto is_continuation = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return text.empty() ? 0 : 1;
  if (lead < 0xC2) return 0;  // a continuation byte, or the overlong C0 and C1
  if (lead < 0xE0) return is_continuation(1) ? 2 : 0;
  if (lead < 0xF0) {
    const bool is_overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool is_surrogate = lead == 0xED && byte(1) >= 0xA0;
    return is_continuation(1) && is_continuation(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (lead > 0xF4) return 0;
  const bool is_overlong = lead == 0xF0 && byte(1) < 0x90;
  const bool is_beyond = lead == 0xF4 && byte(1) >= 0x90;
  return is_continuation(1) && is_continuation(2) && is_continuation(3) && !is_overlong && !is_beyond ? 4 : 0;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](Piece piece, std::string_view bytes) {
    if (piece == Piece::kGood) {
      out += bytes;
      return;
    }
    for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  });
  return out;
}

bool is_printable(std::string_view text) {
  bool is_good = true;
  for_each_character(text, [&](Piece piece, std::string_view) { is_good = is_good && piece == Piece::kGood; });
  return is_good;
}

std::string as_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(
      text, [&](Piece piece, std::string_view bytes) { out += piece == Piece::kNoText ? "\xEF\xBF\xBD" : bytes; });
  return out;
}

}  // namespace weft
