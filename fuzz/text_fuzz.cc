// The readers of quantities under arbitrary bytes: what is read must be in range and read the same once written again,
// and what is refused must be refused with one short printable line.

#include "base/check.h"
#include "base/text.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace {

template <typename T>
void check_message(const weft::Result<T>& result) {
  if (result) return;
  const std::string& message = result.error().message;
  WEFT_CHECK(result.error().code == weft::ErrorCode::kInvalidInput, "bad text is the user's");
  WEFT_CHECK(message.size() < 500, "a message is short");
  WEFT_CHECK(weft::is_utf8(message), "a message is text, whatever the input was");
  for (const char c : message) WEFT_CHECK(static_cast<unsigned char>(c) >= 0x20, "a message is one line");
}

void check_bytes(std::string_view text) {
  const auto bytes = weft::parse_bytes(text);
  check_message(bytes);
  if (!bytes) return;
  WEFT_CHECK(*bytes >= 0 && *bytes <= weft::kUnlimited, "sizes can be added up");
  WEFT_CHECK(weft::parse_bytes(weft::format_bytes(*bytes)) == bytes, "a size is read as it was written");
  const auto cut = weft::parse_bytes(weft::format_bytes_short(*bytes));
  WEFT_CHECK(cut && *cut <= *bytes, "the short form is cut off, never rounded up");
}

void check_duration(std::string_view text) {
  const auto duration = weft::parse_duration(text);
  check_message(duration);
  if (!duration) return;
  WEFT_CHECK(*duration <= weft::kEndless && weft::Duration{-duration->ns} <= weft::kEndless,
             "spans can be added to instants");
  const auto cut = weft::parse_duration(weft::format_duration(*duration));
  WEFT_CHECK(cut && std::abs(cut->ns) <= std::abs(duration->ns), "a span is cut off, never rounded up");
  WEFT_CHECK(weft::parse_duration(weft::format_duration(*cut)) == cut, "what was cut off once stays");
}

void check_numbers(std::string_view text) {
  const auto milli = weft::parse_milli(text);
  check_message(milli);
  if (milli) {
    WEFT_CHECK(*milli >= 0 && *milli <= weft::kUnlimited, "thousandths can be added up");
    WEFT_CHECK(weft::parse_milli(weft::format_milli(*milli)) == milli, "thousandths are read as they were written");
  }
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  const auto integer = weft::parse_integer(text, kLow, kHigh);
  check_message(integer);
  if (integer) {
    WEFT_CHECK(weft::parse_integer(std::to_string(*integer), *integer, *integer) == integer,
               "an integer is read as it was written");
    WEFT_CHECK(*integer == kHigh || !weft::parse_integer(text, *integer + 1, kHigh), "a range is kept");
    WEFT_CHECK(weft::parse_number(text).has_value(), "every integer is a number");
  }
  const auto number = weft::parse_number(text);
  check_message(number);
  WEFT_CHECK(!number || std::isfinite(*number), "a number is finite");
}

void check_words(std::string_view text) {
  const std::string quoted = weft::quote(text);
  WEFT_CHECK(weft::is_utf8(quoted) && quoted.size() < 300, "a quotation is short text");
  const std::string_view a = text.substr(0, text.size() / 2);
  const std::string_view b = text.substr(text.size() / 2);
  const unsigned distance = weft::edit_distance(a, b, 5);
  WEFT_CHECK(distance <= 5 && distance == weft::edit_distance(b, a, 5), "a distance has no direction");
  WEFT_CHECK((distance == 0) == (a == b), "only equal words have no distance");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_bytes(text);
  check_duration(text);
  check_numbers(text);
  check_words(text);
  return 0;
}
