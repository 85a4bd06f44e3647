#include "scheduler/holders.h"

#include "base/check.h"

namespace weft {

void Holders::add(QueueId queue, JobId job) {
  if (of_queue_.size() <= index(queue)) of_queue_.resize(index(queue) + 1);
  WEFT_CHECK(place_[index(job)] == UINT32_MAX, "a job holds something once");
  place_[index(job)] = static_cast<uint32_t>(of_queue_[index(queue)].size());
  of_queue_[index(queue)].push_back(job);
}

void Holders::remove(QueueId queue, JobId job) {
  std::vector<JobId>& list = of_queue_[index(queue)];
  const uint32_t place = place_[index(job)];
  WEFT_CHECK(place < list.size() && list[place] == job, "only who holds something lets go of it");
  list[place] = list.back();
  place_[index(list[place])] = place;
  list.pop_back();
  place_[index(job)] = UINT32_MAX;
}

}  // namespace weft
