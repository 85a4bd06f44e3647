#include "policy/order/gittins_index.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace weft {

namespace {

constexpr double kIndexScale = 1e24;  // an index is one over a time in nanoseconds: for most 1e-18 … 1e-9
constexpr double kMost = 9e18;

int64_t scaled(double index) { return static_cast<int64_t>(std::min(index * kIndexScale, kMost)); }

std::vector<int64_t> sorted(std::span<const Duration> past) {
  std::vector<int64_t> out;
  out.reserve(past.size());
  for (const Duration served : past) {
    if (served.ns > 0) out.push_back(served.ns);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

FixedGittins::FixedGittins(std::span<const Duration> past, Duration quantum)
    : quantum_(std::max<int64_t>(quantum.ns, 1)), past_(sorted(past)) {
  sums_.push_back(0);
  for (const int64_t served : past_) sums_.push_back(sums_.back() + static_cast<double>(served));
}

size_t FixedGittins::first_above(int64_t service) const {
  return static_cast<size_t>(std::ranges::upper_bound(past_, service) - past_.begin());
}

int64_t FixedGittins::index(int64_t service) const {
  const size_t first = first_above(service);
  if (first == past_.size()) return 0;
  const int64_t reach = service > std::numeric_limits<int64_t>::max() - quantum_ ? service : service + quantum_;
  const size_t last = first_above(reach);
  const auto ending = static_cast<double>(last - first);
  const double beyond = static_cast<double>(past_.size() - last) * static_cast<double>(quantum_);
  const double within = sums_[last] - sums_[first] - ending * static_cast<double>(service);
  return scaled(ending / (within + beyond));
}

/// With L(a) the number of the past that had more than a, and W(a) their work up to a, all together, G(a) is the
/// steepest fall of L over W from a on: the first edge of the lower convex hull of the points (W, L) behind it. One
/// walk from the last step to the first keeps that hull on a stack.
BestGittins::BestGittins(std::span<const Duration> past) {
  const std::vector<int64_t> served = sorted(past);
  const size_t groups = std::min(served.size(), kStepsMax);
  std::vector<double> left{static_cast<double>(served.size())};  // L at each step
  std::vector<double> work{0};                                   // W at each step
  steps_.push_back(0);
  for (size_t g = 0; g < groups; ++g) {
    const size_t begin = g * served.size() / groups, end = (g + 1) * served.size() / groups;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += static_cast<double>(served[i]);
    const auto mean = static_cast<int64_t>(sum / static_cast<double>(end - begin));
    const auto more = static_cast<double>(served.size() - end);
    if (mean <= steps_.back()) {
      left.back() = more;
      continue;
    }
    work.push_back(work.back() + left.back() * static_cast<double>(mean - steps_.back()));
    left.push_back(more);
    steps_.push_back(mean);
  }
  index_.assign(steps_.size(), 0);
  end_.assign(steps_.size(), -1);
  find_buckets();
  std::vector<size_t> hull;
  for (size_t step = steps_.size(); step-- > 0;) {
    const auto fall_to = [&](size_t to) { return (left[step] - left[to]) / (work[to] - work[step]); };
    while (hull.size() > 1 && fall_to(hull[hull.size() - 2]) >= fall_to(hull.back())) hull.pop_back();
    if (!hull.empty()) {
      index_[step] = scaled(fall_to(hull.back()));
      end_[step] = steps_[hull.back()];
    }
    hull.push_back(step);
  }
}

void BestGittins::find_buckets() {
  first_.assign(bucket_of(std::numeric_limits<int64_t>::max()) + 1, static_cast<uint16_t>(steps_.size()));
  for (size_t step = 0; step < steps_.size(); ++step) {
    uint16_t& first = first_[bucket_of(steps_[step])];
    // The last step before the bucket, unless one stands at its very beginning.
    first = std::min(first, static_cast<uint16_t>(step > 0 ? step - 1 : 0));
  }
  // A bucket without steps has the last one before it.
  uint16_t last = 0;
  for (size_t bucket = 0, step = 0; bucket < first_.size(); ++bucket) {
    if (first_[bucket] == steps_.size()) first_[bucket] = last;
    while (step < steps_.size() && bucket_of(steps_[step]) == bucket) last = static_cast<uint16_t>(step++);
  }
}

/// Eight buckets for each power of two from 8 on; what is less is in the first.
size_t BestGittins::bucket_of(int64_t service) {
  const auto bits = static_cast<uint64_t>(std::max<int64_t>(service, 8));
  const auto shift = static_cast<unsigned>(std::bit_width(bits)) - 4U;
  return (static_cast<size_t>(shift) << 3U) + static_cast<size_t>((bits >> shift) & 7U);
}

size_t BestGittins::step_of(int64_t service) const {
  size_t step = first_[bucket_of(service)];
  while (step + 1 < steps_.size() && steps_[step + 1] <= service) ++step;
  return step;
}

}  // namespace weft
