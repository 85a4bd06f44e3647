#include "sim/report/run_metrics.h"

#include "base/ids.h"
#include "base/interner.h"
#include "sim/report/run_fairness.h"

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <utility>

namespace weft::sim {

namespace {

/// Sums of seconds and of the rest of each, so that neither rounds nor overflows: a million jobs of a year are too many
/// nanoseconds for 64 bits.
class DurationSum {
 public:
  void add(Duration value) {
    seconds_ += value.ns / 1'000'000'000;
    rest_ns_ += value.ns % 1'000'000'000;
  }
  double mean_of(size_t count) const {
    return (static_cast<double>(seconds_) + static_cast<double>(rest_ns_) / 1e9) / static_cast<double>(count);
  }

 private:
  int64_t seconds_ = 0;
  int64_t rest_ns_ = 0;
};

double number(Duration value) { return in_seconds(value); }
double number(double value) { return value; }

/// Not sorted whole: each place is found among what stands below the one before.
template <typename Value>
Distribution spread_of(std::vector<Value>& values, double mean) {
  const size_t n = values.size();
  Distribution d{.count = n, .mean = mean, .max = number(std::ranges::max(values))};
  auto end = values.end();
  for (const auto& [percent, result] :
       {std::pair{99U, &d.p99}, std::pair{95U, &d.p95}, std::pair{90U, &d.p90}, std::pair{50U, &d.median}}) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::min(n - 1, n * percent / 100));
    std::nth_element(values.begin(), place, end);
    *result = number(*place);
    end = place + 1;
  }
  return d;
}

using Indices = std::vector<uint32_t>;  ///< into RunOutcome::jobs

double gpu_seconds(const JobOutcome& job, Duration time) {
  return static_cast<double>(job.gpu_milli) / 1000 * in_seconds(time);
}

RunGroup measure_group(std::string name, const std::vector<JobOutcome>& jobs, const Indices& members) {
  RunGroup group{.name = std::move(name), .jobs = members.size(), .jct = {}, .waited = {}, .slowdown = {}};
  std::vector<Duration> times, waits;
  std::vector<double> slowdowns;
  for (const uint32_t i : members) {
    const JobOutcome& job = jobs[i];
    group.gpu_seconds += gpu_seconds(job, job.executed);
    group.lost_gpu_seconds += gpu_seconds(job, job.lost);
    group.preempts += job.preempts;
    if (!has_ended(job)) continue;
    times.push_back(job.jct());
    waits.push_back(job.waited());
    slowdowns.push_back(bounded_slowdown(job));
  }
  group.jct = distribution_of(std::move(times));
  group.slowdown = distribution_of(std::move(slowdowns));
  group.waited = distribution_of(std::move(waits));
  return group;
}

struct GroupList {
  std::vector<RunGroup> groups;
  uint64_t left_out = 0;
};

/// The groups that took most GPU time. Empty when no job names one.
GroupList groups_by(const std::vector<JobOutcome>& jobs, std::string JobOutcome::* name) {
  struct Members {
    std::string_view name;
    double gpu_time = 0;
    Indices jobs;
  };
  Interner<UserId> ids;
  std::vector<Members> members;
  for (uint32_t i = 0; i < jobs.size(); ++i) {
    const size_t id = index(ids.intern(jobs[i].*name));
    if (id == members.size()) members.push_back({.name = jobs[i].*name, .jobs = {}});
    members[id].gpu_time += gpu_seconds(jobs[i], jobs[i].executed);
    members[id].jobs.push_back(i);
  }
  if (members.size() == 1 && members.front().name.empty()) return {};
  std::ranges::sort(members, [](const Members& a, const Members& b) {
    return a.gpu_time != b.gpu_time ? a.gpu_time > b.gpu_time : a.name < b.name;
  });
  GroupList list;
  for (const Members& group : members | std::views::take(kGroupsMax)) {
    const std::string_view shown = group.name.empty() ? "(none)" : group.name;
    list.groups.push_back(measure_group(std::string(shown), jobs, group.jobs));
  }
  list.left_out = members.size() - list.groups.size();
  return list;
}

std::vector<RunGroup> groups_by_size(const std::vector<JobOutcome>& jobs) {
  std::array<Indices, kSizeClasses> members;
  for (uint32_t i = 0; i < jobs.size(); ++i) members[size_class(jobs[i].gpus)].push_back(i);
  std::vector<RunGroup> groups;
  for (size_t c = 0; c < kSizeClasses; ++c) {
    if (!members[c].empty()) groups.push_back(measure_group(std::string(size_class_name(c)), jobs, members[c]));
  }
  return groups;
}

/// A mean over time of what is known from each sample to the next.
class TimeMean {
 public:
  void add(double value, double seconds) {
    sum_ += value * seconds;
    seconds_ += seconds;
  }
  double value() const { return seconds_ > 0 ? sum_ / seconds_ : kUnknown; }

 private:
  double sum_ = 0;
  double seconds_ = 0;
};

RunOccupancy measure_occupancy(const RunOutcome& outcome) {
  RunOccupancy result;
  if (outcome.samples.empty() || outcome.total_gpu_milli <= 0) return result;
  const auto total = static_cast<double>(outcome.total_gpu_milli);
  TimeMean fragment, fragment_of_free;
  result.allocation_max = static_cast<double>(outcome.used_gpu_milli_max) / total;
  result.pending_max = outcome.pending_max;
  for (size_t i = 0; i < outcome.samples.size(); ++i) {
    const RunSample& sample = outcome.samples[i];
    const double share = static_cast<double>(sample.used_gpu_milli) / total;
    result.allocation_max = std::max(result.allocation_max, share);
    result.pending_max = std::max(result.pending_max, static_cast<double>(sample.pending));
    if (i + 1 == outcome.samples.size()) break;
    const double lasted = in_seconds(outcome.samples[i + 1].at - sample.at);
    const double free = total - static_cast<double>(sample.used_gpu_milli);
    fragment.add(sample.fragment_gpu_milli / total, lasted);
    if (free > 0) fragment_of_free.add(sample.fragment_gpu_milli / free, lasted);
  }
  result.fragment_mean = fragment.value();
  result.fragment_free_mean = fragment_of_free.value();
  const RunIntegrals& sums = outcome.integrals;
  if (sums.seconds <= 0) return result;
  result.allocation_mean = sums.used_gpu_seconds * 1000 / total / sums.seconds;
  result.pending_mean = sums.pending_seconds / sums.seconds;
  result.pending_gpus_mean = sums.pending_gpu_seconds / sums.seconds;
  result.running_mean = sums.running_seconds / sums.seconds;
  return result;
}

void count_ends(const std::vector<JobOutcome>& jobs, RunMetrics& metrics) {
  for (const JobOutcome& job : jobs) {
    switch (job.how) {
      case JobEnd::kDone: ++metrics.done; break;
      case JobEnd::kFailed: ++metrics.failed; break;
      case JobEnd::kCancelled: ++metrics.cancelled; break;
      case JobEnd::kRejected: ++metrics.rejected; break;
      case JobEnd::kUnfinished: ++metrics.unfinished; break;
    }
  }
}

void measure_span(const RunOutcome& outcome, RunMetrics& metrics) {
  Instant first = kNever;
  Instant last{std::numeric_limits<int64_t>::min()};
  bool is_cut = false;  // was something running when the simulation stopped?
  bool has_end = false;
  for (const JobOutcome& job : outcome.jobs) {
    first = std::min(first, job.submit);
    if (has_ended(job)) {
      last = std::max(last, job.end);
      has_end = true;
    } else if (job.start != kNever) {
      is_cut = true;
    }
  }
  if (has_end) metrics.makespan = in_seconds(last - first);
  if (is_cut && !outcome.samples.empty()) last = std::max(last, outcome.samples.back().at);
  if (outcome.total_gpu_milli > 0 && last > first) {
    metrics.utilization =
        metrics.all.gpu_seconds / (static_cast<double>(outcome.total_gpu_milli) / 1000 * in_seconds(last - first));
  }
}

}  // namespace

Distribution distribution_of(std::vector<Duration> values) {
  if (values.empty()) return {};
  DurationSum sum;
  for (const Duration value : values) sum.add(value);
  return spread_of(values, sum.mean_of(values.size()));
}

Distribution distribution_of(std::vector<double> values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) sum += value;
  return spread_of(values, sum / static_cast<double>(values.size()));
}

double in_seconds(Duration duration) {
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t whole = duration.ns / kSecond, rest = duration.ns % kSecond;
  return static_cast<double>(whole) + static_cast<double>(rest) / 1e9;
}

bool has_ended(const JobOutcome& job) { return job.start != kNever && job.end != kNever; }

double bounded_slowdown(const JobOutcome& job) {
  const Duration run_time = job.run_time > Duration{0} ? job.run_time : job.executed;
  return std::max(1.0, in_seconds(job.jct()) / in_seconds(std::max(run_time, kSlowdownBound)));
}

size_t size_class(int32_t gpus) {
  constexpr std::array<int32_t, kSizeClasses - 1> kMost{1, 4, 8, 16, 64};
  return static_cast<size_t>(std::ranges::lower_bound(kMost, gpus) - kMost.begin());
}

std::string_view size_class_name(size_t size_class) {
  constexpr std::array<std::string_view, kSizeClasses> kNames{"1", "2-4", "5-8", "9-16", "17-64", ">64"};
  return kNames[size_class];
}

RunMetrics measure(const RunOutcome& outcome) {
  RunMetrics metrics;
  Indices everything(outcome.jobs.size());
  for (uint32_t i = 0; i < everything.size(); ++i) everything[i] = i;
  metrics.all = measure_group("", outcome.jobs, everything);
  count_ends(outcome.jobs, metrics);
  measure_span(outcome, metrics);
  metrics.occupancy = measure_occupancy(outcome);
  metrics.fairness = measure_fairness(outcome);
  metrics.by_size = groups_by_size(outcome.jobs);
  GroupList queues = groups_by(outcome.jobs, &JobOutcome::queue);
  metrics.by_queue = std::move(queues.groups);
  metrics.queues_left_out = queues.left_out;
  GroupList users = groups_by(outcome.jobs, &JobOutcome::user);
  metrics.by_user = std::move(users.groups);
  metrics.users_left_out = users.left_out;
  return metrics;
}

}  // namespace weft::sim
