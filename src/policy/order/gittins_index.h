#pragma once

#include "base/units.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Numbers of 0 and above in rising order, and how many of them are at most as large as one that is asked for.
/// Cost: some nanoseconds a question: a table leads to those within 0.4 % of it, among which is searched.
class SortedNumbers {
 public:
  SortedNumbers() = default;
  explicit SortedNumbers(std::vector<int64_t> sorted);
  size_t up_to(int64_t number) const;
  const std::vector<int64_t>& all() const { return numbers_; }

 private:
  static size_t bucket_of(int64_t number);

  std::vector<int64_t> numbers_;
  std::vector<uint32_t> before_;  ///< by bucket: how many are in those before it; up to the last that has one
};

// The Gittins index: of a job that has had `a` of service, S the service of a job of the past,
//   G(a) = P(S - a <= D | S > a) / E[min(S - a, D) | S > a]
// the chance that it ends within the next D for what this will take. Larger goes first. Both classes give it times
// kIndexScale as a whole number, the same on every machine: sums go over the sorted past.

/// For a stretch D that is given.
/// Cost: some nanoseconds a question.
class FixedGittins {
 public:
  FixedGittins(std::span<const Duration> past, Duration quantum);
  /// 0: of those of the past none had more.
  int64_t index(int64_t service) const;

 private:
  int64_t quantum_;
  SortedNumbers past_;
  std::vector<double> sums_;  ///< of the first i
};

/// For the D that makes G(a) largest. The past is gathered into at most kStepsMax groups of equal size, each as its
/// mean: the index changes at these steps only.
/// Cost: O(past x log past) once, some nanoseconds a question.
class BestGittins {
 public:
  static constexpr size_t kStepsMax = 512;

  explicit BestGittins(std::span<const Duration> past);
  /// 0: of those of the past none had more.
  int64_t index(int64_t service) const { return index_[step_of(service)]; }
  /// The service at which the stretch ends for which the index was worked out: until then it does not fall. Negative:
  /// there is none.
  int64_t stretch_end(int64_t service) const { return end_[step_of(service)]; }

 private:
  size_t step_of(int64_t service) const { return steps_.up_to(service) - 1; }

  SortedNumbers steps_;         ///< from 0 on
  std::vector<int64_t> index_;  ///< from that step on
  std::vector<int64_t> end_;
};

}  // namespace weft
