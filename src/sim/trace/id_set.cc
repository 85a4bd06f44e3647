#include "sim/trace/id_set.h"

#include "base/hash.h"

#include <algorithm>
#include <cstring>

namespace weft::sim {

namespace {

/// Eight bytes at a time.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = mix64(text.size());
  while (!text.empty()) {
    uint64_t word = 0;
    const size_t count = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), count);
    hash = mix64(hash ^ word);
    text.remove_prefix(count);
  }
  return std::max(hash, uint64_t{1});
}

/// An id as a text and the number behind it.
struct Numbered {
  std::string_view prefix;
  int64_t number = -1;  ///< below 0: none
};

/// The number is one only as it would be written: "7", not "07".
Numbered numbered(std::string_view id) {
  constexpr size_t kDigitsMax = 18;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t start = id.size();
  while (start > 0 && is_digit(id[start - 1])) --start;
  const std::string_view digits = id.substr(start);
  if (digits.empty() || digits.size() > kDigitsMax || (digits[0] == '0' && digits.size() > 1)) return {id, -1};
  int64_t number = 0;
  for (const char c : digits) number = number * 10 + (c - '0');
  return {id.substr(0, start), number};
}

}  // namespace

bool IdSet::add(std::string_view id) {
  const auto [prefix, number] = numbered(id);
  if (number >= 0) {
    if (run_first_ == run_end_ && count_ == 0) {
      prefix_ = prefix;
      run_first_ = run_end_ = number;
    }
    if (prefix == prefix_) {
      if (number >= run_first_ && number < run_end_) return false;
      // Only while the set is empty: afterwards the id might be in it.
      if (number == run_end_ && count_ == 0) {
        ++run_end_;
        return true;
      }
    }
  }
  return add_hash(hash_of(id));
}

bool IdSet::add_hash(uint64_t hash) {
  if (count_ * 8 >= slots_.size() * 5) grow();
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    if (slots_[at] == hash) return false;
    if (slots_[at] != 0) continue;
    slots_[at] = hash;
    ++count_;
    return true;
  }
}

void IdSet::grow() {
  const std::vector<uint64_t> old = std::move(slots_);
  slots_.assign(std::max(old.size() * 2, size_t{1} << 10), 0);
  const size_t mask = slots_.size() - 1;
  for (const uint64_t hash : old) {
    if (hash == 0) continue;
    size_t at = hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = hash;
  }
}

}  // namespace weft::sim
