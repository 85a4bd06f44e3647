#pragma once

namespace weft::sim {

/// The share of a standard normal law below `z`.
double normal_share_below(double z);
/// Its inverse for `share` in (0, 1), to 2e-9 of its value: the rational approximation of P. J. Acklam, whose constants
/// these are.
double normal_quantile(double share);

/// A log-normal law that ends at `max`: what would lie above is spread over what lies below.
///   share below x  = N((ln x - mu) / sigma) / N(e),  e = (ln max - mu) / sigma,  N: normal_share_below()
///   mean           = exp(mu + sigma² / 2) · N(e - sigma) / N(e)
/// exp, log and erfc of the platform may differ in the last bit. What is drawn from the law is rounded to whole
/// seconds: a difference could show only where a number of 16 digits lies right at a half, once in some 10^11 jobs.
class LogNormal {
 public:
  struct Shape {
    double mu = 0;
    double sigma = 1;
    double max = 1;
  };
  explicit LogNormal(const Shape& shape);
  /// The law of this mean, by bisection. Requires: 1 < mean < max / 2.
  static LogNormal of_mean(double mean, double sigma, double max);

  /// The law of what is under way at a moment, each weighted by how long it takes: mu + sigma² in place of mu.
  LogNormal under_way() const { return LogNormal({shape_.mu + shape_.sigma * shape_.sigma, shape_.sigma, shape_.max}); }

  double share_below(double x) const;
  double mean() const { return mean_; }
  /// Requires: 0 < share < 1.
  double quantile(double share) const;

 private:
  Shape shape_;
  double whole_;  ///< N(e)
  double mean_;
};

/// Where `falling`, which falls from above 0 at `low` to below it at `high`, is 0: by 80 halvings.
template <typename Function>
double find_root(double low, double high, const Function& falling) {
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (falling(middle) > 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace weft::sim
