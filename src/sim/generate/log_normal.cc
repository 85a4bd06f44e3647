#include "sim/generate/log_normal.h"

#include <algorithm>
#include <cmath>

namespace weft::sim {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;

/// Numerator over denominator of the tail, from `root` = sqrt(-2 ln share).
double tail_quantile(double root) {
  const double above =
      ((((-7.784894002430293e-03 * root - 3.223964580411365e-01) * root - 2.400758277161838e+00) * root -
        2.549732539343734e+00) *
           root +
       4.374664141464968e+00) *
          root +
      2.938163982698783e+00;
  const double below = (((7.784695709041462e-03 * root + 3.224671290700398e-01) * root + 2.445134137142996e+00) * root +
                        3.754408661907416e+00) *
                           root +
                       1;
  return above / below;
}

}  // namespace

double normal_share_below(double z) { return 0.5 * std::erfc(-z * kSqrtHalf); }

double normal_quantile(double share) {
  constexpr double kTail = 0.02425;
  if (share < kTail) return tail_quantile(std::sqrt(-2 * std::log(share)));
  if (share > 1 - kTail) return -tail_quantile(std::sqrt(-2 * std::log(1 - share)));
  const double q = share - 0.5;
  const double r = q * q;
  const double above = ((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
                         1.383577518672690e+02) *
                            r -
                        3.066479806614716e+01) *
                           r +
                       2.506628277459239e+00;
  const double below = ((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
                         6.680131188771972e+01) *
                            r -
                        1.328068155288572e+01) *
                           r +
                       1;
  return above / below * q;
}

LogNormal::LogNormal(const Shape& shape) : shape_(shape) {
  const double end = (std::log(shape.max) - shape.mu) / shape.sigma;
  whole_ = normal_share_below(end);
  mean_ = std::exp(shape.mu + shape.sigma * shape.sigma / 2) * normal_share_below(end - shape.sigma) / whole_;
}

LogNormal LogNormal::of_mean(double mean, double sigma, double max) {
  const auto law = [&](double mu) { return LogNormal({.mu = mu, .sigma = sigma, .max = max}); };
  // A log-normal law has its mean above its median; the end at `max` moves that, but not beyond these bounds.
  const double log_max = std::log(max);
  return law(find_root(std::log(mean) - sigma * sigma - 1, log_max + sigma * sigma,
                       [&](double mu) { return mean - law(mu).mean(); }));
}

double LogNormal::share_below(double x) const {
  return std::min(1.0, normal_share_below((std::log(x) - shape_.mu) / shape_.sigma) / whole_);
}

double LogNormal::quantile(double share) const {
  return std::min(shape_.max, std::exp(shape_.mu + shape_.sigma * normal_quantile(share * whole_)));
}

}  // namespace weft::sim
