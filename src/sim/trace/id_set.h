#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// Which ids a trace has had, in at most some 26 bytes each, and in none where they count up: 0, 1, 2, … or job-7,
/// job-8, ….
///
/// Of an id only a hash of 64 bits is kept. Two different ids are taken for one with a chance of n²/2^65: three in a
/// million for ten million jobs. The hash is no secret: who writes a trace against it gets an error for his own trace.
class IdSet {
 public:
  /// False: it was there already.
  bool add(std::string_view id);

 private:
  bool add_hash(uint64_t hash);
  void grow();

  /// Ids that came one after the other: prefix_ and a number from run_first_ to run_end_ - 1.
  std::string prefix_;
  int64_t run_first_ = 0;
  int64_t run_end_ = 0;
  std::vector<uint64_t> slots_;  ///< open addressing; 0: free
  size_t count_ = 0;
};

}  // namespace weft::sim
