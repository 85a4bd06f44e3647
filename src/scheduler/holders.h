#pragma once

#include "base/ids.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace weft {

/// What is counted of a job that holds something.
struct HolderKind {
  int32_t priority = 0;
  uint8_t is_elastic = 0;
};

/// The jobs that hold something, queue by queue, in no order that means anything. Cost: add and remove O(log(priorities
/// of the queue)).
class Holders {
 public:
  /// Makes room for ids below `jobs`.
  void resize(size_t jobs) { place_.resize(jobs, UINT32_MAX); }
  /// Requires: not in it.
  void add(QueueId queue, JobId job, HolderKind kind);
  /// Requires: in it, under that queue.
  void remove(QueueId queue, JobId job, HolderKind kind);
  std::span<const JobId> of(QueueId queue) const {
    return index(queue) < of_queue_.size() ? std::span<const JobId>(of_queue_[index(queue)].jobs)
                                           : std::span<const JobId>();
  }
  /// Whether any of the queue is of lower priority than that, or could give tasks and live on.
  bool could_give(QueueId queue, int32_t priority) const;

 private:
  struct OfQueue {
    std::vector<JobId> jobs;
    std::map<int32_t, uint32_t> by_priority;
    uint32_t elastic = 0;
  };

  std::vector<OfQueue> of_queue_;
  std::vector<uint32_t> place_;  ///< by JobId: in the list of its queue
};

}  // namespace weft
