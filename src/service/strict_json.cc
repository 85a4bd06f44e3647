#include "service/strict_json.h"

#include "base/text.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace weft::service {
namespace {

constexpr size_t kDepthMax = 32;

std::string place(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {} column {}", line, before.size() - line_start + 1);
}

/// Finds a key that its object has twice in a text that is known to be valid JSON; the parser would keep the last one
/// in silence.
class KeyCheck {
 public:
  explicit KeyCheck(std::string_view text) : text_(text) {}

  Result<void> run() {
    for (size_t i = 0; i < text_.size(); ++i) {
      switch (text_[i]) {
        case '{': open_.emplace_back(); break;
        case '}': open_.pop_back(); break;
        case '"': {
          const size_t end = string_end(i);
          if (is_key(end) && !open_.back().insert(plain(i, end)).second) {
            return fail(ErrorCode::kInvalidInput, fmt::format("{}: the key {} is given twice", place(text_, i),
                                                              text_.substr(i, std::min<size_t>(end - i, 60))));
          }
          i = end - 1;
          break;
        }
        default: break;
      }
    }
    return {};
  }

 private:
  /// One behind the closing quote of the string that opens at `start`.
  size_t string_end(size_t start) const {
    size_t i = start + 1;
    while (text_[i] != '"') i += text_[i] == '\\' ? 2 : 1;
    return i + 1;
  }
  bool is_key(size_t end) const {
    const size_t next = text_.find_first_not_of(" \t\r\n", end);
    return next != std::string_view::npos && text_[next] == ':';
  }
  /// The string's text; "a" and "\u0061" are one key.
  std::string plain(size_t start, size_t end) const {
    const std::string_view quoted = text_.substr(start, end - start);
    if (quoted.find('\\') == std::string_view::npos) return std::string(quoted.substr(1, quoted.size() - 2));
    return std::string(boost::json::parse(quoted).as_string());
  }

  std::string_view text_;
  std::vector<std::set<std::string>> open_;
};

}  // namespace

Result<boost::json::value> parse_strict_json(std::string_view text) {
  if (!is_utf8(text)) return fail(ErrorCode::kInvalidInput, "the JSON text is not valid UTF-8");
  boost::json::parse_options options;
  options.max_depth = kDepthMax;
  boost::json::stream_parser parser({}, options);
  boost::system::error_code error;
  size_t used = 0;
  try {
    used = parser.write_some(text, error);
    const size_t rest = error ? std::string_view::npos : text.find_first_not_of(" \t\r\n", used);
    if (rest != std::string_view::npos) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: not valid JSON: something stands behind its end", place(text, rest)));
    }
    if (!error) parser.finish(error);
    if (error)
      return fail(ErrorCode::kInvalidInput, fmt::format("{}: not valid JSON: {}", place(text, used), error.message()));
    boost::json::value value = parser.release();
    if (auto unique = KeyCheck(text).run(); !unique) return std::unexpected(unique.error());
    return value;
  } catch (const std::exception& exception) {
    return fail(ErrorCode::kInvalidInput, fmt::format("the JSON text cannot be read: {}", exception.what()));
  }
}

}  // namespace weft::service
