#include "sim/text_file.h"

#include "base/printable.h"
#include "base/text.h"
#include "sim/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace weft::sim {

namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

/// Where the first byte that is not UTF-8 stands, from 0; the size of the line when there is none.
size_t first_bad_byte(std::string_view line) {
  size_t at = 0;
  while (const size_t length = utf8_length(line.substr(at))) at += length;
  return at;
}

}  // namespace

std::optional<TextFault> find_text_fault(std::string_view text) {
  uint32_t line_number = 1;
  for (size_t start = 0; start < text.size(); ++line_number) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    const size_t control = static_cast<size_t>(std::ranges::find_if(line, is_control) - line.begin());
    const size_t bad = first_bad_byte(line);
    if (control < std::min(bad, line.size())) {
      return TextFault{.line = line_number,
                       .column = static_cast<uint32_t>(control) + 1,
                       .message = fmt::format("the control character 0x{:02x} has no place in a text file",
                                              static_cast<unsigned char>(line[control]))};
    }
    if (bad < line.size()) {
      return TextFault{.line = line_number,
                       .column = static_cast<uint32_t>(bad) + 1,
                       .message = fmt::format("the byte 0x{:02x} is not valid UTF-8 here; a UTF-8 text is expected",
                                              static_cast<unsigned char>(line[bad]))};
    }
    start = end + 1;
  }
  return std::nullopt;
}

Result<std::string> read_file(const std::string& path, int64_t bytes_max) {
  const Result<std::unique_ptr<ByteSource>> source = open_plain_bytes(path);
  if (!source) return std::unexpected(source.error());
  std::string content;
  std::vector<char> block(1 << 16);
  while (true) {
    const Result<size_t> count = (*source)->read(block.data(), block.size());
    if (!count) return std::unexpected(count.error());
    if (*count == 0) return content;
    content.append(block.data(), *count);
    if (static_cast<int64_t>(content.size()) <= bytes_max) continue;
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: is larger than {} bytes, which is the most that is read",
                                                      printable(path), format_count(bytes_max)));
  }
}

Result<std::string> read_text_file(const std::string& path, int64_t bytes_max) {
  Result<std::string> content = read_file(path, bytes_max);
  if (!content) return content;
  if (content->empty()) return fail(ErrorCode::kInvalidInput, fmt::format("{}: the file is empty", printable(path)));
  if (const std::optional<TextFault> fault = find_text_fault(*content))
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}:{}:{}: {}", printable(path), fault->line, fault->column, fault->message));
  return content;
}

}  // namespace weft::sim
