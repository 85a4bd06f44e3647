#include "policy/order/gittins_index.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

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

SortedNumbers::SortedNumbers(std::vector<int64_t> sorted) : numbers_(std::move(sorted)) {
  if (numbers_.empty()) return;
  before_.resize(bucket_of(numbers_.back()) + 2);
  for (const int64_t number : numbers_) ++before_[bucket_of(number) + 1];
  for (size_t bucket = 1; bucket < before_.size(); ++bucket) before_[bucket] += before_[bucket - 1];
}

/// As many buckets for each power of two as a bucket's number has low bits; what is smaller has one of its own.
size_t SortedNumbers::bucket_of(int64_t number) {
  constexpr unsigned kLowBits = 8;
  const auto bits = static_cast<uint64_t>(std::max<int64_t>(number, 0));
  const auto width = static_cast<unsigned>(std::bit_width(bits));
  const unsigned shift = width > kLowBits + 1 ? width - kLowBits - 1 : 0;
  return (size_t{shift} << kLowBits) + static_cast<size_t>(bits >> shift);
}

size_t SortedNumbers::up_to(int64_t number) const {
  const size_t bucket = bucket_of(number);
  if (bucket + 1 >= before_.size()) return numbers_.size();
  // Halved without a branch: which half it is nobody could foresee.
  size_t first = before_[bucket];
  size_t count = before_[bucket + 1] - first;
  while (count > 0) {
    const size_t half = (count + 1) / 2;
    first += numbers_[first + half - 1] <= number ? half : 0;
    count -= half;
  }
  return first;
}

FixedGittins::FixedGittins(std::span<const Duration> past, Duration quantum)
    : quantum_(std::max<int64_t>(quantum.ns, 1)), past_(sorted(past)) {
  sums_.push_back(0);
  for (const int64_t served : past_.all()) sums_.push_back(sums_.back() + static_cast<double>(served));
}

int64_t FixedGittins::index(int64_t service) const {
  const size_t past = past_.all().size();
  const size_t first = past_.up_to(service);
  if (first == past) return 0;
  const int64_t reach = service > std::numeric_limits<int64_t>::max() - quantum_ ? service : service + quantum_;
  const size_t last = past_.up_to(reach);
  const auto ending = static_cast<double>(last - first);
  const double beyond = static_cast<double>(past - last) * static_cast<double>(quantum_);
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
  std::vector<int64_t> steps{0};
  for (size_t g = 0; g < groups; ++g) {
    const size_t begin = g * served.size() / groups, end = (g + 1) * served.size() / groups;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += static_cast<double>(served[i]);
    const auto mean = static_cast<int64_t>(sum / static_cast<double>(end - begin));
    const auto more = static_cast<double>(served.size() - end);
    if (mean <= steps.back()) {
      left.back() = more;
      continue;
    }
    work.push_back(work.back() + left.back() * static_cast<double>(mean - steps.back()));
    left.push_back(more);
    steps.push_back(mean);
  }
  index_.assign(steps.size(), 0);
  end_.assign(steps.size(), -1);
  std::vector<size_t> hull;
  for (size_t step = steps.size(); step-- > 0;) {
    const auto fall_to = [&](size_t to) { return (left[step] - left[to]) / (work[to] - work[step]); };
    while (hull.size() > 1 && fall_to(hull[hull.size() - 2]) >= fall_to(hull.back())) hull.pop_back();
    if (!hull.empty()) {
      index_[step] = scaled(fall_to(hull.back()));
      end_[step] = steps[hull.back()];
    }
    hull.push_back(step);
  }
  steps_ = SortedNumbers(std::move(steps));
}

}  // namespace weft
