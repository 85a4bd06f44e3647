#include "sim/text_window.h"

#include "base/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weft::sim {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr size_t kFirstCapacity = size_t{256} << 10;

/// 1 for a byte that has no place in plain text. Written for the compiler to take many bytes at a time.
constexpr uint8_t is_odd(uint8_t byte) {
  const auto is_outside = static_cast<uint8_t>(static_cast<uint8_t>(byte - 0x20) > 0x5E);
  const auto is_no_tab_or_feed = static_cast<uint8_t>(static_cast<uint8_t>(byte - '\t') > 1);
  const auto is_no_return = static_cast<uint8_t>(byte != '\r');
  return is_outside & is_no_tab_or_feed & is_no_return;
}

}  // namespace

namespace {

struct Look {
  uint8_t has_odd = 0;
  uint8_t has_signs = 0;  ///< quotes or carriage returns
};

Look look(std::string_view text) {
  constexpr size_t kBlock = 256;  // of a fixed size, for the same reason
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  const auto* const end = at + text.size();
  uint8_t odd = 0;
  uint8_t signs = 0;
  for (; end - at >= static_cast<ptrdiff_t>(kBlock); at += kBlock) {
    for (size_t i = 0; i < kBlock; ++i) odd = odd | is_odd(at[i]);
    for (size_t i = 0; i < kBlock; ++i)
      signs = signs | static_cast<uint8_t>(at[i] == '"') | static_cast<uint8_t>(at[i] == '\r');
  }
  for (; at != end; ++at) {
    odd = odd | is_odd(*at);
    signs = signs | static_cast<uint8_t>(*at == '"') | static_cast<uint8_t>(*at == '\r');
  }
  return {odd, signs};
}

}  // namespace

bool is_plain_text(std::string_view text) { return look(text).has_odd == 0; }

void TextWindow::look_at(std::string_view text) {
  const Look seen = look(text);
  is_plain_ = is_plain_ && seen.has_odd == 0;
  is_simple_ = is_simple_ && seen.has_signs == 0;
}

TextWindow::TextWindow(std::string_view content, std::string_view name)
    : name_(printable(name)),
      data_(content.data()),
      end_(content.size()),
      is_started_(true),
      is_at_end_(true),
      is_simple_(false) {
  if (content.starts_with(kByteOrderMark)) position_ = kByteOrderMark.size();
}

TextWindow::TextWindow(std::unique_ptr<ByteSource> source) : source_(std::move(source)), name_(source_->name()) {}

void TextWindow::make_room() {
  const size_t kept = end_ - position_;
  if (kept > capacity_ / 2 || capacity_ == 0) {
    const size_t capacity = std::max(kFirstCapacity, capacity_ * 2);
    auto buffer = std::make_unique_for_overwrite<char[]>(capacity);
    if (kept > 0) std::memcpy(buffer.get(), data_ + position_, kept);
    buffer_ = std::move(buffer);
    capacity_ = capacity;
  } else if (position_ > 0) {
    std::memmove(buffer_.get(), data_ + position_, kept);
  }
  data_ = buffer_.get();
  position_ = 0;
  end_ = kept;
}

Result<bool> TextWindow::more() {
  if (is_at_end_) return false;
  const bool has_passed = position_ > 0;  // perhaps over what was not plain
  make_room();
  if (has_passed && !(is_plain_ && is_simple_)) {
    is_plain_ = is_simple_ = true;
    look_at(rest());
  }
  const size_t before = end_;
  do {
    const Result<size_t> count = source_->read(buffer_.get() + end_, capacity_ - end_);
    if (!count) return std::unexpected(count.error());
    is_at_end_ = *count == 0;
    look_at({data_ + end_, *count});
    end_ += *count;
  } while (!is_started_ && end_ < kByteOrderMark.size() && !is_at_end_);
  if (!is_started_) {
    is_started_ = true;
    if (rest().starts_with(kByteOrderMark)) {
      position_ = kByteOrderMark.size();
      is_plain_ = is_simple_ = true;
      look_at(rest());
    }
  }
  return end_ > before;
}

Result<std::string_view> TextWindow::head(size_t size) {
  while (rest().size() < size) {
    const Result<bool> is_more = more();
    if (!is_more) return std::unexpected(is_more.error());
    if (!*is_more) break;
  }
  return rest().substr(0, size);
}

}  // namespace weft::sim
