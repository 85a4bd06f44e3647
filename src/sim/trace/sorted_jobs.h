#pragma once

#include "sim/trace/trace_job.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::sim {

/// Jobs that came in any order, given back in order of submission, those of one instant as they came. Held packed: some
/// 60 bytes a job.
class SortedJobs {
 public:
  void add(const TraceJob& job);
  /// After the last add().
  void sort();
  size_t size() const { return order_.size(); }
  size_t given() const { return given_; }  ///< by next()
  Instant first_submit() const { return {order_.front().submit_ns}; }
  /// The next job; false: there is none.
  bool next(TraceJob& job);

 private:
  struct Entry {
    int64_t submit_ns;
    uint32_t block;
    uint32_t offset;
  };
  void sort_by_digits(int64_t unit);

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_bytes_ = 0;  ///< of the last
  size_t used_ = 0;         ///< of the last
  std::vector<Entry> order_;
  size_t given_ = 0;
};

}  // namespace weft::sim
