#include "sim/trace/json_objects.h"

#include "base/text.h"
#include "sim/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace weft::sim {

namespace {

/// Follows the brackets of a text, byte by byte, without those in strings.
class Brackets {
 public:
  /// The depth after `c`.
  int64_t take(char c) {
    if (is_in_string_) {
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (c == '\\') {
        is_escaped_ = true;
      } else if (c == '"') {
        is_in_string_ = false;
      }
      return depth_;
    }
    if (c == '"') is_in_string_ = true;
    if (c == '{' || c == '[') ++depth_;
    if (c == '}' || c == ']') --depth_;
    return depth_;
  }
  int64_t depth() const { return depth_; }
  bool is_in_string() const { return is_in_string_; }

 private:
  int64_t depth_ = 0;
  bool is_in_string_ = false;
  bool is_escaped_ = false;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

void JsonObjects::pass(size_t bytes) {
  std::string_view passed = window_.rest().substr(0, bytes);
  for (size_t end = passed.find('\n'); end != std::string_view::npos; end = passed.find('\n')) {
    ++line_;
    column_ = 1;
    passed.remove_prefix(end + 1);
  }
  column_ += static_cast<uint32_t>(passed.size());
  window_.pass(bytes);
}

std::unexpected<Error> JsonObjects::error_at(size_t offset, std::string_view message) const {
  std::string_view before = window_.rest().substr(0, offset);
  uint32_t line = line_;
  uint32_t column = column_;
  for (size_t end = before.find('\n'); end != std::string_view::npos; end = before.find('\n')) {
    ++line;
    column = 1;
    before.remove_prefix(end + 1);
  }
  column += static_cast<uint32_t>(before.size());
  return fail(ErrorCode::kInvalidInput, fmt::format("{}:{}:{}: {}", name(), line, column, message));
}

std::unexpected<Error> JsonObjects::broken(std::string_view message) {
  is_broken_ = true;
  return error_at(0, message);
}

Result<char> JsonObjects::next_sign() {
  for (;;) {
    const std::string_view rest = window_.rest();
    size_t blanks = 0;
    while (blanks < rest.size() && is_blank(rest[blanks])) ++blanks;
    pass(blanks);
    if (!window_.rest().empty()) return window_.rest().front();
    const Result<bool> is_more = window_.more();
    if (!is_more) {
      is_broken_ = true;
      return std::unexpected(is_more.error());
    }
    if (!*is_more) return '\0';
  }
}

Result<size_t> JsonObjects::find_end_of_object() {
  Brackets brackets;
  for (size_t at = 0;; ++at) {
    while (at == window_.rest().size()) {
      if (at > kObjectBytesMax) {
        return broken(fmt::format("the object that begins here does not end within {} bytes",
                                  format_count(static_cast<int64_t>(kObjectBytesMax))));
      }
      const Result<bool> is_more = window_.more();
      if (!is_more) {
        is_broken_ = true;
        return std::unexpected(is_more.error());
      }
      if (!*is_more) return broken("the object that begins here does not end; the file is cut off");
    }
    if (brackets.take(window_.rest()[at]) == 0) return at + 1;
  }
}

Result<bool> JsonObjects::next(std::string_view& object) {
  pass(given_);
  given_ = 0;
  Result<char> sign = next_sign();
  if (!sign) return std::unexpected(std::move(sign.error()));
  if (!is_started_) {
    is_started_ = true;
    is_list_ = *sign == '[';
    if (is_list_) pass(1);
    if (is_list_) sign = next_sign();
    if (!sign) return std::unexpected(std::move(sign.error()));
  } else if (is_after_object_ && *sign == ',' && is_list_) {
    pass(1);
    sign = next_sign();
    if (!sign) return std::unexpected(std::move(sign.error()));
    if (*sign == ']') return broken("expected another object behind the comma");
  } else if (is_after_object_ && is_list_ && *sign != ']' && *sign != '\0') {
    return broken("expected a comma or the end of the list behind an object");
  }
  if (*sign == ']' && is_list_) {
    pass(1);
    is_list_ = false;
    const Result<char> last = next_sign();
    if (!last) return std::unexpected(last.error());
    if (*last != '\0') return broken("expected nothing behind the end of the list");
    return false;
  }
  if (*sign == '\0') {
    if (is_list_) return broken("the list does not end; the file is cut off");
    return false;
  }
  if (*sign != '{') return broken(fmt::format("expected an object, found {}", quote(window_.rest().substr(0, 1))));
  const Result<size_t> end = find_end_of_object();
  if (!end) return std::unexpected(end.error());
  given_ = *end;
  is_after_object_ = true;
  object = window_.rest().substr(0, given_);
  if (given_ > kObjectBytesMax) {
    return error_at(
        0, fmt::format("the object has {} bytes; expected at most {}", format_count(static_cast<int64_t>(given_)),
                       format_count(static_cast<int64_t>(kObjectBytesMax))));
  }
  if (window_.is_plain()) return true;
  if (const std::optional<TextFault> fault = find_text_fault(object)) {
    size_t offset = 0;
    for (uint32_t line = 1; line < fault->line; ++line) offset = object.find('\n', offset) + 1;
    return error_at(offset + fault->column - 1, fault->message);
  }
  return true;
}

size_t place_of_key(std::string_view object, std::string_view key) {
  Brackets brackets;
  size_t string_start = 0;
  for (size_t at = 0; at < object.size(); ++at) {
    const bool was_in_string = brackets.is_in_string();
    brackets.take(object[at]);
    if (brackets.depth() != 1) continue;
    if (!was_in_string && brackets.is_in_string()) string_start = at + 1;
    if (!was_in_string || brackets.is_in_string()) continue;
    if (object.substr(string_start, at - string_start) != key) continue;
    size_t value = at + 1;
    while (value < object.size() && is_blank(object[value])) ++value;
    if (value == object.size() || object[value] != ':') continue;
    ++value;
    while (value < object.size() && is_blank(object[value])) ++value;
    return value;
  }
  return 0;
}

}  // namespace weft::sim
