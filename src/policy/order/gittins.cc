#include "policy/order/orders.h"
#include "policy/order/service.h"

#include <algorithm>
#include <vector>

namespace weft {

namespace {

/// The Gittins index of Tiresias (Gu et al., NSDI 2019): of a job that has had `a` of service (time x GPUs),
/// G(a) = P(S - a <= D | S > a) / E[min(S - a, D) | S > a], S the service of a job of the past and D how far one looks
/// ahead. Larger goes first. A job that has had more than any of the past comes last.
class GittinsOrder final : public JobOrder {
 public:
  explicit GittinsOrder(const ServiceOptions& options) : quantum_(std::max<int64_t>(options.quantum.ns, 1)) {
    for (const Duration served : options.history) past_.push_back(served.ns);
    std::ranges::sort(past_);
    sums_.push_back(0);
    for (const int64_t served : past_) sums_.push_back(sums_.back() + static_cast<double>(served));
  }

  std::string_view name() const override { return "gittins"; }
  RankOf rank_of() const override { return RankOf::kService; }
  Ties ties() const override { return Ties::kRunningFirst; }

  int64_t rank(const JobKey& key) const override {
    const int64_t had = gpu_time(key.executed, key);
    const size_t first = index_above(had);
    if (first == past_.size()) return 0;
    const int64_t reach = had > std::numeric_limits<int64_t>::max() - quantum_ ? had : had + quantum_;
    const size_t last = index_above(reach);
    const auto ending = static_cast<double>(last - first);
    const double beyond = static_cast<double>(past_.size() - last) * static_cast<double>(quantum_);
    const double within = sums_[last] - sums_[first] - ending * static_cast<double>(had);
    // The same for every order of summation: within and beyond are sums over the sorted past. Scaled to whole numbers.
    return -static_cast<int64_t>(std::min(ending / (within + beyond) * kScale, kMost));
  }

 private:
  static constexpr double kScale = 1e24;  // an index is one over a time in nanoseconds: for most 1e-18 … 1e-9
  static constexpr double kMost = 9e18;

  size_t index_above(int64_t service) const {
    return static_cast<size_t>(std::ranges::upper_bound(past_, service) - past_.begin());
  }

  int64_t quantum_;
  std::vector<int64_t> past_;  ///< sorted
  std::vector<double> sums_;   ///< of the first i
};

}  // namespace

std::unique_ptr<JobOrder> make_gittins_order(const ServiceOptions& options) {
  return std::make_unique<GittinsOrder>(options);
}

}  // namespace weft
