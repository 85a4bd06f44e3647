#include "scheduler/holders.h"

#include "base/check.h"

namespace weft {

void Holders::add(QueueId queue, JobId job, HolderKind kind) {
  if (of_queue_.size() <= index(queue)) of_queue_.resize(index(queue) + 1);
  WEFT_CHECK(place_[index(job)] == UINT32_MAX, "a job holds something once");
  OfQueue& list = of_queue_[index(queue)];
  place_[index(job)] = static_cast<uint32_t>(list.jobs.size());
  list.jobs.push_back(job);
  ++list.by_priority[kind.priority];
  list.elastic += kind.is_elastic;
}

void Holders::remove(QueueId queue, JobId job, HolderKind kind) {
  OfQueue& list = of_queue_[index(queue)];
  const uint32_t place = place_[index(job)];
  WEFT_CHECK(place < list.jobs.size() && list.jobs[place] == job, "only who holds something lets go of it");
  list.jobs[place] = list.jobs.back();
  place_[index(list.jobs[place])] = place;
  list.jobs.pop_back();
  place_[index(job)] = UINT32_MAX;
  // An entry without jobs stays: nothing is allocated for a priority that was there before.
  --list.by_priority.at(kind.priority);
  list.elastic -= kind.is_elastic;
}

bool Holders::could_give(QueueId queue, int32_t priority) const {
  if (index(queue) >= of_queue_.size()) return false;
  const OfQueue& list = of_queue_[index(queue)];
  if (list.elastic > 0) return true;
  for (const auto& [lower, jobs] : list.by_priority) {
    if (lower >= priority) return false;
    if (jobs > 0) return true;
  }
  return false;
}

}  // namespace weft
