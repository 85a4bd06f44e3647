#pragma once

#include "base/hash.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace weft::store {

/// The columns of one row of the table of calls, but for the last.
struct CallRow {
  uint64_t number = 0;
  int64_t at = 0;
  int64_t kind = 0;
  std::string_view told;
  std::string_view decided;
  uint64_t decisions = 0;
  uint64_t hash = 0;
};

/// 32 bits over a row, for its last column: finds damage, not malice. The same on every machine.
inline int64_t check_sum_of(const CallRow& row) {
  RunningHash sum;
  sum.add(row.number);
  sum.add(static_cast<uint64_t>(row.at));
  sum.add(static_cast<uint64_t>(row.kind));
  sum.add(row.decisions);
  sum.add(row.hash);
  for (std::string_view bytes : {row.told, row.decided}) {
    sum.add(static_cast<uint64_t>(bytes.size()));
    while (!bytes.empty()) {
      const std::string_view word_bytes = bytes.substr(0, 8);
      uint64_t word = 0;
      for (size_t i = 0; i < word_bytes.size(); ++i)
        word |= uint64_t{static_cast<unsigned char>(word_bytes[i])} << (8 * i);
      sum.add(word);
      bytes.remove_prefix(word_bytes.size());
    }
  }
  return static_cast<int64_t>(sum.value() >> 32);
}

}  // namespace weft::store
