#pragma once

#include "base/ids.h"
#include "model/queue.h"
#include "model/shape.h"
#include "model/verdict.h"
#include "state/cluster_state.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// What queues allow, as written in their specs. Usage counts what is held, running or being released.
///
/// Rules: a queue and each of its ancestors stay within their limit in every resource, and within their number of
/// running jobs; all jobs of a queue (and of each ancestor) that are not preemptible fit inside its guarantee together.
class Quota {
 public:
  /// What tasks of a shape count, at least: exact but for memory shares and MIG instances, whose charge follows from
  /// the device chosen.
  static ResourceVector least_charge(const ClusterState& state, const Shape& shape, std::span<const int32_t> counts);

  /// Yes, or the first rule that `amount` more for a job of `shape` would break, from the job's queue upward; is_never
  /// as is_beyond(). `new_jobs` counts 1 for a job that holds nothing yet.
  Verdict check(const ClusterState& state, const Shape& shape, const ResourceVector& amount, int32_t new_jobs) const;

  /// `amount` is more than a rule allows even when nothing else runs.
  static bool is_beyond(const ClusterState& state, const Shape& shape, const ResourceVector& amount);

  /// Jobs that hold something, for a queue and its ancestors.
  void add_jobs(const QueueTable& queues, QueueId queue, int32_t change);
  int32_t jobs(QueueId queue) const { return index(queue) < jobs_.size() ? jobs_[index(queue)] : 0; }

 private:
  std::vector<int32_t> jobs_;  ///< by QueueId
};

}  // namespace weft
