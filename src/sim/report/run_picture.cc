#include "sim/report/run_picture.h"

#include "sim/report/node_timeline.h"
#include "sim/report/run_metrics.h"

#include <algorithm>

namespace weft::sim {

namespace {

double seconds_from(Instant epoch, Instant at) { return in_seconds(at - epoch); }

UseStep step_of(const RunSample& sample, Instant epoch) {
  return {.at = seconds_from(epoch, sample.at),
          .used_gpus = static_cast<double>(sample.used_gpu_milli) / 1000,
          .pending_gpus = static_cast<double>(sample.pending_gpu_milli) / 1000,
          .pending = static_cast<double>(sample.pending),
          .running = static_cast<double>(sample.running)};
}

void add_weighted(UseStep& sum, const UseStep& step, double weight) {
  sum.used_gpus += step.used_gpus * weight;
  sum.pending_gpus += step.pending_gpus * weight;
  sum.pending += step.pending * weight;
  sum.running += step.running * weight;
}

/// Means over `count` equal times, so that a peak between two of them still counts for what it was.
std::vector<UseStep> mean_steps(const std::vector<UseStep>& steps, size_t count, double width) {
  std::vector<UseStep> means;
  const double begin = steps.front().at;
  size_t next = 0;  // the step that is in force at the end of the time before
  for (size_t i = 0; i < count; ++i) {
    const double from = begin + width * static_cast<double>(i), to = from + width;
    UseStep mean{.at = from};
    while (true) {
      const double start = std::max(from, steps[next].at);
      const double end = next + 1 < steps.size() ? std::min(to, steps[next + 1].at) : to;
      add_weighted(mean, steps[next], std::max(end - start, 0.0) / width);
      if (next + 1 >= steps.size() || steps[next + 1].at > to) break;
      ++next;
    }
    means.push_back(mean);
  }
  UseStep last = steps.back();
  last.at = begin + width * static_cast<double>(count);
  means.push_back(last);
  return means;
}

void draw_steps(const RunOutcome& outcome, Instant epoch, size_t limit, RunPicture& picture) {
  for (const RunSample& sample : outcome.samples) picture.steps.push_back(step_of(sample, epoch));
  if (picture.steps.size() <= limit || limit < 2) return;
  const double length = picture.steps.back().at - picture.steps.front().at;
  if (!(length > 0)) return;
  picture.step_seconds = length / static_cast<double>(limit - 1);
  picture.steps = mean_steps(picture.steps, limit - 1, picture.step_seconds);
}

/// Points at even shares, the first and the last value among them.
std::vector<CdfPoint> cdf_of(std::vector<Duration>& values, size_t limit) {
  std::ranges::sort(values);
  std::vector<CdfPoint> points;
  const size_t n = values.size();
  const size_t count = std::min(n, std::max<size_t>(limit, 2));
  for (size_t i = 0; i < count; ++i) {
    const size_t place = count > 1 ? i * (n - 1) / (count - 1) : 0;
    const size_t upto = static_cast<size_t>(std::ranges::upper_bound(values, values[place]) - values.begin());
    const CdfPoint point{.seconds = in_seconds(values[place]),
                         .share = static_cast<double>(upto) / static_cast<double>(n)};
    if (points.empty() || points.back().seconds != point.seconds) points.push_back(point);
  }
  return points;
}

}  // namespace

RunPicture draw(const RunOutcome& outcome, const PictureLimits& limits) {
  RunPicture picture;
  if (outcome.jobs.empty()) return picture;
  Instant epoch = kNever, last{0};
  std::vector<Duration> times, waits;
  for (const JobOutcome& job : outcome.jobs) {
    epoch = std::min(epoch, job.submit);
    if (!has_ended(job)) continue;
    last = std::max(last, job.end);
    times.push_back(job.jct());
    waits.push_back(job.waited());
  }
  draw_steps(outcome, epoch, limits.steps, picture);
  picture.jct = cdf_of(times, limits.cdf_points);
  picture.waited = cdf_of(waits, limits.cdf_points);
  picture.timeline = draw_node_timeline(outcome, epoch, limits);
  picture.length = std::max(seconds_from(epoch, last), picture.steps.empty() ? 0 : picture.steps.back().at);
  return picture;
}

}  // namespace weft::sim
