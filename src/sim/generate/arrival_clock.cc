#include "sim/generate/arrival_clock.h"

#include "base/check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::sim {

namespace {

constexpr double kHour = 3600;

/// Hours from the first midnight.
double hour_of(double at_s) { return std::floor(at_s / kHour); }

size_t index_of(double hour) {
  constexpr double kHoursOfWeek = 168;
  return static_cast<size_t>(hour - std::floor(hour / kHoursOfWeek) * kHoursOfWeek);
}

}  // namespace

ArrivalClock::ArrivalClock(const Week& week, Weekday first_day, double span_s) {
  WEFT_CHECK(span_s > 0, "something comes in some time");
  for (size_t i = 0; i < weights_.size(); ++i)
    weights_[i] = week.hours[i % 24] * week.days[(static_cast<size_t>(first_day) + i / 24) % 7];
  WEFT_CHECK(std::ranges::all_of(weights_, [](double each) { return each > 0; }), "no hour is without arrivals");
  const double scale = span_s / integral(span_s);
  for (double& weight : weights_) weight *= scale;
}

double ArrivalClock::weight(double at_s) const { return weights_[index_of(hour_of(at_s))]; }

double ArrivalClock::integral(double until_s) const {
  const double hours = hour_of(until_s);
  const double whole_week = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  double sum = std::floor(hours / 168) * whole_week;
  for (size_t i = 0; i < index_of(hours); ++i) sum += weights_[i];
  return sum * kHour + (until_s - hours * kHour) * weight(until_s);
}

double ArrivalClock::advance(double from_s, double weighted_s) const {
  double hour = hour_of(from_s);
  for (;;) {
    const double weight = weights_[index_of(hour)];
    const double end_s = (hour + 1) * kHour;
    const double here = (end_s - from_s) * weight;
    if (weighted_s < here) return from_s + weighted_s / weight;
    weighted_s -= here;
    from_s = end_s;
    hour += 1;
  }
}

}  // namespace weft::sim
