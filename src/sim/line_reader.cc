#include "sim/line_reader.h"

#include "base/text.h"
#include "sim/text_file.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace weft::sim {

std::unexpected<Error> LineReader::error_at(uint32_t line, size_t column, std::string_view message) const {
  return fail(ErrorCode::kInvalidInput, fmt::format("{}:{}:{}: {}", name(), line, column, message));
}

Result<bool> LineReader::more() {
  Result<bool> is_more = window_.more();
  if (!is_more) is_broken_ = true;
  return is_more;
}

Result<bool> LineReader::find_end(size_t from) {
  size_t searched = from;
  for (;;) {
    const std::string_view rest = window_.rest();
    const void* const found =
        searched < rest.size() ? std::memchr(rest.data() + searched, '\n', rest.size() - searched) : nullptr;
    if (found != nullptr) {
      end_ = static_cast<size_t>(static_cast<const char*>(found) - rest.data());
      next_ = end_ + 1;
      if (end_ > from && rest[end_ - 1] == '\r') --end_;
      break;
    }
    searched = rest.size();
    if (searched > kLineBytesMax) {
      end_ = next_ = searched;
      is_too_long_ = true;
      break;
    }
    const Result<bool> is_more = more();
    if (!is_more) return is_more;
    if (*is_more) continue;
    if (from >= rest.size()) return false;
    end_ = next_ = rest.size();
    break;
  }
  if (end_ <= kLineBytesMax) return true;
  const std::string limit = format_count(static_cast<int64_t>(kLineBytesMax));
  if (from > 0) return error_at(line_, 1, fmt::format("the row that begins here does not end within {} bytes", limit));
  return error_at(line_, kLineBytesMax + 1,
                  fmt::format("the row goes on here; expected its end within {} bytes", limit));
}

Result<void> LineReader::check(size_t from, uint32_t number) {
  if (window_.is_whole() || window_.is_plain()) return {};
  const std::string_view text = window_.rest().substr(from, end_ - from);
  if (is_plain_text(text)) return {};
  const std::optional<TextFault> fault = find_text_fault(text);
  if (!fault) return {};
  return error_at(number, fault->column, fault->message);
}

Result<void> LineReader::pass_over_rest_of_line() {
  while (is_too_long_) {
    const std::string_view rest = window_.rest();
    const size_t end = rest.find('\n');
    if (end != std::string_view::npos) {
      window_.pass(end + 1);
      is_too_long_ = false;
      break;
    }
    window_.pass(rest.size());
    const Result<bool> is_more = more();
    if (!is_more) return std::unexpected(is_more.error());
    if (!*is_more) is_too_long_ = false;
  }
  return {};
}

Result<bool> LineReader::next(Line& line) {
  window_.pass(next_);
  line_ += lines_here_;
  next_ = end_ = 0;
  lines_here_ = 0;
  // As nearly every line goes: it is here whole, and of plain text.
  const std::string_view rest = window_.rest();
  const bool is_usual = !is_too_long_ && !rest.empty() && window_.is_plain();
  const void* const found = is_usual ? std::memchr(rest.data(), '\n', rest.size()) : nullptr;
  if (found == nullptr) return next_slowly(line);
  end_ = static_cast<size_t>(static_cast<const char*>(found) - rest.data());
  if (end_ > kLineBytesMax) return next_slowly(line);
  next_ = first_next_ = end_ + 1;
  if (end_ > 0 && rest[end_ - 1] == '\r') --end_;
  lines_here_ = 1;
  line = {.text = rest.substr(0, end_), .number = line_};
  return true;
}

Result<bool> LineReader::next_slowly(Line& line) {
  if (is_too_long_) {
    if (const Result<void> passed = pass_over_rest_of_line(); !passed) return std::unexpected(passed.error());
  }
  const Result<bool> found = find_end(0);
  first_next_ = next_;
  if (!found) {
    lines_here_ = is_broken_ ? 0 : 1;
    return found;
  }
  if (!*found) return false;
  lines_here_ = 1;
  if (const Result<void> checked = check(0, line_); !checked) return std::unexpected(checked.error());
  line = {.text = window_.rest().substr(0, end_), .number = line_};
  return true;
}

Result<bool> LineReader::extend(Line& line) {
  const size_t from = next_;
  const Result<bool> found = find_end(from);
  if (!found || !*found) {
    line.text = window_.rest().substr(0, end_);
    return found;
  }
  ++lines_here_;
  if (const Result<void> checked = check(from, line_ + lines_here_ - 1); !checked)
    return std::unexpected(checked.error());
  line.text = window_.rest().substr(0, end_);
  return true;
}

void LineReader::take_back_extension() {
  if (next_ == first_next_) return;
  next_ = first_next_;
  lines_here_ = 1;
  is_too_long_ = false;
}

}  // namespace weft::sim
