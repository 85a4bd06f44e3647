#pragma once

#include "base/result.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::store {

/// Appends numbers and bytes to a string. A number takes 7 bits a byte, low ones first, as few bytes as will do.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<uint8_t>(value | 0x80));
    byte(static_cast<uint8_t>(value));
  }
  /// Small ones, of either sign, are short.
  void signed_number(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    number(bits << 1 ^ (value < 0 ? ~uint64_t{0} : 0));
  }
  /// Eight bytes, low ones first.
  void word(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<uint8_t>(value >> shift));
  }
  void bytes(std::string_view value) {
    number(value.size());
    out_ += value;
  }

 private:
  std::string& out_;
};

/// Reads what a ByteWriter wrote, and nothing beyond it, whatever the bytes. After the first fault every read gives
/// zero or nothing; look at is_good() before acting on what was read. A number must be as short as it can be, so that
/// there is one way only to write a thing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : all_(bytes), rest_(bytes) {}

  bool is_good() const { return fault_ == nullptr; }
  size_t left() const { return rest_.size(); }
  /// `why` names what is wrong here. The first fault stays.
  void refuse(const char* why) {
    if (fault_ != nullptr) return;
    fault_ = why;
    fault_at_ = all_.size() - rest_.size();
    rest_ = {};
  }

  uint8_t byte() {
    if (rest_.empty()) refuse("they end too early");
    if (fault_ != nullptr) return 0;
    const auto value = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t next = byte();
      const uint64_t bits = next & 0x7fU;
      value |= bits << shift;
      if ((next & 0x80U) != 0) continue;
      if ((shift > 0 && bits == 0) || (shift == 63 && bits > 1)) refuse("a number is not as it is written");
      return is_good() ? value : 0;
    }
    refuse("a number does not end");
    return 0;
  }
  int64_t signed_number() {
    const uint64_t bits = number();
    return static_cast<int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~uint64_t{0} : 0));
  }
  uint64_t word() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 8) value |= uint64_t{byte()} << shift;
    return value;
  }
  std::string_view bytes() {
    const uint64_t size = number();
    if (size > rest_.size()) refuse("a length is beyond their end");
    if (fault_ != nullptr) return {};
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }

  /// Error: the first fault, with its place; or that there is more.
  Result<void> finish() {
    if (!rest_.empty()) refuse("there are more than there should be");
    if (is_good()) return {};
    return fail(ErrorCode::kInvalidInput, fmt::format("byte {}: {}", fault_at_, fault_));
  }

 private:
  std::string_view all_;
  std::string_view rest_;
  const char* fault_ = nullptr;
  size_t fault_at_ = 0;
};

}  // namespace weft::store
