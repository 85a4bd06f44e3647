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

 private:
  std::vector<RunSample> samples_;
  Duration gap_{0};
};

}  // namespace weft::sim
