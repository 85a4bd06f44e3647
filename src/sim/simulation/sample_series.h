#pragma once

#include "sim/simulation/outcome.h"

#include <vector>

namespace weft::sim {

/// The cluster over time, in bounded memory: when it grows too long every second sample is dropped, and from then on
/// samples that follow the last one closely take its place.
class SampleSeries {
 public:
  static constexpr size_t kSamplesMax = 4096;

  /// Whether the next sample, taken at `at`, is one more and does not take the place of the last.
  bool opens(Instant at) const { return samples_.size() < 2 || at - samples_[samples_.size() - 2].at >= gap_; }

  void add(const RunSample& sample) {
    integrate(sample.at);
    last_ = sample;
    if (!opens(sample.at)) {
      samples_.back() = sample;
      return;
    }
    samples_.push_back(sample);
    if (samples_.size() < kSamplesMax) return;
    size_t kept = 0;
    for (size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
    samples_.resize(kept);
    gap_ = (samples_.back().at - samples_.front().at) * 2;
    gap_.ns /= static_cast<int64_t>(kSamplesMax);
  }
  std::vector<RunSample> take() { return std::move(samples_); }
  /// Over every sample that was added, kept or not.
  const RunIntegrals& integrals() const { return integrals_; }

 private:
  /// The last sample lasted until now.
  void integrate(Instant now) {
    if (last_.at == kNever) return;
    const double lasted = (now - last_.at).seconds();
    integrals_.seconds += lasted;
    integrals_.used_gpu_seconds += lasted * static_cast<double>(last_.used_gpu_milli) / 1000;
    integrals_.pending_gpu_seconds += lasted * static_cast<double>(last_.pending_gpu_milli) / 1000;
    integrals_.running_seconds += lasted * last_.running;
    integrals_.pending_seconds += lasted * last_.pending;
  }

  std::vector<RunSample> samples_;
  RunSample last_{.at = kNever};
  RunIntegrals integrals_;
  Duration gap_{0};
};

}  // namespace weft::sim
