#include "sim/simulation/service_history.h"

#include "sim/simulation/job_mapping.h"
#include "sim/simulation/run_clock.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace weft::sim {

namespace {

__extension__ using Wide = __int128;

/// A bucket has the values of one power of two that agree in so many bits behind the first.
constexpr int kBits = 10;
constexpr size_t kBuckets = size_t{64 - kBits} << kBits;

size_t bucket_of(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  const auto width = static_cast<int>(std::bit_width(bits));
  if (width <= kBits + 1) return bits;
  const int dropped = width - (kBits + 1);
  return (static_cast<size_t>(dropped) << kBits) + static_cast<size_t>(bits >> dropped);
}

}  // namespace

void ServiceHistory::put(Duration service) {
  Bucket& bucket = buckets_[bucket_of(service.ns)];
  ++bucket.count;
  bucket.sum += service.ns;
}

void ServiceHistory::add(Duration service) {
  if (service.ns <= 0) return;
  ++count_;
  if (!buckets_.empty()) return put(service);
  all_.push_back(service);
  if (all_.size() <= kSamplesMax) return;
  buckets_.resize(kBuckets);
  for (const Duration each : all_) put(each);
  all_ = {};
}

std::vector<Duration> ServiceHistory::samples() const {
  std::vector<Duration> samples = all_;
  std::ranges::sort(samples);
  if (buckets_.empty()) return samples;
  samples.reserve(kSamplesMax);
  size_t bucket = 0;
  uint64_t passed = buckets_[0].count;
  for (size_t i = 0; i < kSamplesMax; ++i) {
    const auto rank = static_cast<uint64_t>((static_cast<Wide>(2 * i + 1) * count_) / (2 * kSamplesMax));
    while (passed <= rank) passed += buckets_[++bucket].count;
    const Bucket& at = buckets_[bucket];
    samples.push_back(Duration{static_cast<int64_t>(at.sum / static_cast<Wide>(at.count))});
  }
  return samples;
}

Duration service_of(Duration run_time, int64_t gpu_milli) {
  const Wide service = static_cast<Wide>(run_time.ns) * (gpu_milli > 0 ? gpu_milli : 1000) / 1000;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return Duration{service > kMost ? kMost : static_cast<int64_t>(service)};
}

Result<ServiceHistory> read_history(TraceReader& trace, Rules rules) {
  ServiceHistory history;
  TraceJob job;
  while (true) {
    const Result<TraceReader::Step> step = trace.next(job);
    if (!step) return std::unexpected(step.error());
    if (*step == TraceReader::Step::kEnd) return history;
    history.add(service_of(run_time_by(rules, job), gpu_milli_of(job)));
  }
}

}  // namespace weft::sim
