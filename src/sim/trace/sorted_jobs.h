#pragma once

#include "sim/trace/trace_job.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::sim {

/// Jobs that came in any order, given back in order of submission, those of one instant as they came. Held packed: some
/// 60 bytes a job. Much of the time goes into memory that is touched for the first time, so nothing is kept twice, and
/// nothing grows by being copied.
class SortedJobs {
 public:
  void add(const TraceJob& job);
  /// After the last add().
  void sort();
  size_t size() const { return size_; }
  size_t given() const { return given_; }  ///< by next()
  Instant first_submit() const { return {first_ns_}; }
  /// The next job; false: there is none.
  bool next(TraceJob& job);

 private:
  /// Packed jobs one behind the other, or a single large one.
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::vector<uint32_t> starts;
  };
  void note_submit(int64_t submit_ns);
  /// Calls `visit(place, submission in ns)` for each job as they came.
  template <typename Visit>
  void for_each_place(Visit&& visit) const;
  void sort_by_digits(unsigned time_bits);
  void sort_by_comparing();
  const char* packed(size_t i) const;

  std::vector<Block> blocks_;
  size_t used_ = 0;  ///< of the last, in bytes
  size_t room_ = 0;  ///< in the last behind them
  size_t size_ = 0;
  int64_t first_ns_ = 0;  ///< the earliest submission
  int64_t last_ns_ = 0;
  int64_t unit_ns_ = 1'000'000'000;  ///< divides the distances of submissions
  uint8_t is_in_order_ = 1;          ///< as they came
  unsigned place_bits_ = 0;
  std::vector<uint64_t> keys_;  ///< sorted; in the low bits the place of a job
  size_t given_ = 0;
};

}  // namespace weft::sim
