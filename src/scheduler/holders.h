#pragma once

#include "base/ids.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// The jobs that hold something, queue by queue, in no order that means anything. Cost: add and remove O(1).
class Holders {
 public:
  /// Makes room for ids below `jobs`.
  void resize(size_t jobs) { place_.resize(jobs, UINT32_MAX); }
  /// Requires: not in it.
  void add(QueueId queue, JobId job);
  /// Requires: in it, under that queue.
  void remove(QueueId queue, JobId job);
  std::span<const JobId> of(QueueId queue) const {
    return index(queue) < of_queue_.size() ? std::span<const JobId>(of_queue_[index(queue)]) : std::span<const JobId>();
  }

 private:
  std::vector<std::vector<JobId>> of_queue_;
  std::vector<uint32_t> place_;  ///< by JobId: in the list of its queue
};

}  // namespace weft
