#include "sim/scenario/progress.h"

#include <algorithm>

namespace weft::scenario {

Duration Progress::restore_time(const JobSpec& job) const {
  return job.checkpoint && saved_ > Duration{} ? job.checkpoint->restore : Duration{};
}

void Progress::adopt(Instant started, const JobSpec& job) {
  start(started);
  if (job.checkpoint && job.checkpoint->last) checkpoint_ = std::max(started, Instant{} + *job.checkpoint->last);
}

void Progress::stop(Instant now, const JobSpec& job) {
  if (job.checkpoint) {
    const Instant work_began = since_ + restore_time(job);
    Instant last = checkpoint_ == kNever ? work_began : checkpoint_;
    const Duration every = job.checkpoint->every;
    const Duration passed = now - last - job.checkpoint->save;
    if (every > Duration{} && passed >= every) last = last + Duration{passed.ns / every.ns * every.ns};
    saved_ = saved_ + std::max(Duration{}, last - work_began);
  }
  since_ = checkpoint_ = kNever;
}

Duration Progress::left_of(Duration work, const JobSpec& job) const {
  if (work >= kEndless) return kEndless;
  return std::max(Duration{}, work - saved_) + restore_time(job);
}

}  // namespace weft::scenario
