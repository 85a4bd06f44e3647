#pragma once

#include "base/result.h"
#include "sim/byte_source.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace weft::sim {

/// The part of a text that is being looked at: what is not yet passed over stands in one piece of memory, and more is
/// read behind it on demand. A byte order mark at the front is passed over.
class TextWindow {
 public:
  /// A whole text, which must outlive the window.
  TextWindow(std::string_view content, std::string_view name);
  explicit TextWindow(std::unique_ptr<ByteSource> source);

  /// What is here and not passed over. Valid until more().
  std::string_view rest() const { return {data_ + position_, end_ - position_}; }
  void pass(size_t bytes) { position_ += bytes; }
  /// Reads more behind rest(). False: there is no more.
  Result<bool> more();
  /// The first bytes of the text, up to `size` and all of it where it is shorter; passes over nothing.
  Result<std::string_view> head(size_t size);

  /// True where all that is here is printable ASCII, tabs and line ends: then nobody need look for faults.
  bool is_plain() const { return is_plain_; }
  /// True where nothing that is here is a quote or a carriage return; may be false where there is none either.
  bool is_simple() const { return is_simple_; }
  /// The whole text was there from the start (and was checked by whoever gave it).
  bool is_whole() const { return source_ == nullptr; }
  const std::string& name() const { return name_; }

 private:
  void make_room();
  void look_at(std::string_view text);

  std::unique_ptr<ByteSource> source_;  ///< none: the whole text is here
  std::string name_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  const char* data_ = nullptr;
  size_t position_ = 0;
  size_t end_ = 0;
  bool is_started_ = false;
  bool is_at_end_ = false;
  bool is_plain_ = true;
  bool is_simple_ = true;
};

/// True for text without control characters (tabs and line ends apart) and without bytes over 0x7E.
bool is_plain_text(std::string_view text);

}  // namespace weft::sim
