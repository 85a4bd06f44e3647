#pragma once

#include "sim/generate/profile.h"

#include <array>

namespace weft::sim {

/// When things happen that come at a rate which follows the hours of a week: a Poisson process whose intensity at the
/// time t, in seconds from the first midnight, is the mean rate times weight(t). The weights are scaled so that their
/// mean from 0 to `span_s` is 1, whatever part of a week that is: over the span the mean rate is the mean rate.
/// Uses only + - * / of doubles, so that it is the same on every machine.
class ArrivalClock {
 public:
  ArrivalClock(const Week& week, Weekday first_day, double span_s);

  /// The time behind `from_s` until which the weights add up to `weighted_s` seconds.
  double advance(double from_s, double weighted_s) const;
  double weight(double at_s) const;

 private:
  double integral(double until_s) const;

  std::array<double, 168> weights_{};  ///< by hour from the first midnight
};

}  // namespace weft::sim
