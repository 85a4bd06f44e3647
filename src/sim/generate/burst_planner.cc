#include "sim/generate/burst_planner.h"

#include "base/check.h"

#include <algorithm>
#include <cmath>

namespace weft::sim {

std::span<const Burst> BurstPlanner::plan(uint64_t jobs) {
  WEFT_CHECK(jobs > 0 && jobs <= kBlockJobs, "a block is not empty and not too large");
  bursts_.clear();
  placed_.clear();
  count_jobs(jobs);
  for (uint32_t i = 0; i < classes_.size(); ++i) plan_class(i, counts_[i]);
  gather();
  random_.shuffle(bursts_);
  for (Burst& burst : bursts_) random_.shuffle(burst.jobs);
  return bursts_;
}

void BurstPlanner::gather() {
  ends_.assign(bursts_.size(), 0);
  for (const Placed& placed : placed_) ++ends_[placed.burst];
  jobs_.resize(placed_.size());
  size_t end = 0;
  for (size_t i = 0; i < bursts_.size(); ++i) {
    bursts_[i].jobs = std::span(jobs_).subspan(end, ends_[i]);
    end += ends_[i];
    ends_[i] = end;
  }
  for (const Placed& placed : placed_) jobs_[--ends_[placed.burst]] = placed.job;
}

void BurstPlanner::count_jobs(uint64_t jobs) {
  counts_.resize(classes_.size());
  // The fractions lie end to end on a line; a comb of width 1 with a random start says which count.
  double line = random_.unit();
  uint64_t given = 0;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const double expected = classes_[i].share * static_cast<double>(jobs);
    counts_[i] = static_cast<uint64_t>(expected);
    line += expected - std::floor(expected);
    if (line >= 1) {
      line -= 1;
      ++counts_[i];
    }
    given += counts_[i];
  }
  // What rounding of the shares leaves over, one job at most, is of the commonest class.
  const auto commonest = std::ranges::max_element(classes_, {}, &JobClass::share);
  const auto at = static_cast<size_t>(commonest - classes_.begin());
  counts_[at] += jobs;
  counts_[at] -= given;
}

TraceEnd BurstPlanner::draw_end(const EndShares& ends) {
  const double at = random_.unit();
  if (at < ends.failed) return TraceEnd::kFailed;
  return at < ends.failed + ends.cancelled ? TraceEnd::kCancelled : TraceEnd::kDone;
}

uint64_t BurstPlanner::draw_length(const JobClass& of) {
  constexpr double kPareto = 1.1;
  constexpr double kLongest = 64;
  if (of.is_long != 0 || of.gpu_milli > 8000) return random_.below(7) > 0 ? 1 : 2 + random_.below(3);
  if (random_.below(5) > 0) return 1;
  return static_cast<uint64_t>(std::min(kLongest, 1 + std::pow(1 - random_.unit(), -1 / kPareto)));
}

uint32_t BurstPlanner::new_burst(uint32_t class_index, double intended_s) {
  bursts_.push_back({.class_index = class_index, .intended_s = intended_s});
  return static_cast<uint32_t>(bursts_.size() - 1);
}

void BurstPlanner::plan_class(uint32_t class_index, uint64_t jobs) {
  const JobClass& of = classes_[class_index];
  going_.clear();
  failed_.clear();
  for (uint64_t j = 0; j < jobs; ++j) {
    // Never 0: a law has no quantile there.
    const double share = (static_cast<double>(j) + random_.unit() + 0x1.0p-54) / static_cast<double>(jobs);
    double run_time_s = of.run_time_s.quantile(std::min(share, 1 - 0x1.0p-53));
    if (of.is_under_way != 0) run_time_s *= random_.unit();
    const PlannedJob job{.run_time_s = std::max(int64_t{std::llround(run_time_s)}, int64_t{1}),
                         .end = draw_end(of.ends)};
    (job.end == TraceEnd::kFailed ? failed_ : going_).push_back(job);
  }
  if (of.is_under_way != 0) std::ranges::sort(going_, {}, &PlannedJob::run_time_s);
  const size_t first = bursts_.size();
  for (size_t j = 0; j < going_.size();) {
    const size_t until = std::min<size_t>(going_.size(), j + draw_length(of));
    const uint32_t burst = new_burst(class_index, static_cast<double>(going_[until - 1].run_time_s));
    for (; j < until; ++j) placed_.push_back({.burst = burst, .job = going_[j]});
  }
  const size_t end = bursts_.size();
  for (const PlannedJob& job : failed_) {
    const double intended_s = static_cast<double>(job.run_time_s) / (0.05 + 0.95 * random_.unit());
    const auto longer = std::span(bursts_).subspan(first, end - first);
    const auto joined = std::ranges::lower_bound(longer, intended_s, {}, &Burst::intended_s);
    const auto at = first + static_cast<size_t>(joined - longer.begin());
    placed_.push_back({.burst = at < end ? static_cast<uint32_t>(at) : new_burst(class_index, intended_s), .job = job});
  }
}

}  // namespace weft::sim
