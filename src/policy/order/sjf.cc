#include "policy/order/orders.h"

namespace weft {

namespace {

/// Shortest job first, by the estimate of its whole run. Nobody who runs is stopped for it.
class SjfOrder final : public JobOrder {
 public:
  std::string_view name() const override { return "sjf"; }
  int64_t rank(const JobKey& key) const override { return key.estimate.ns; }
  RankOf rank_of() const override { return RankOf::kJob; }
  Disturbs disturbs() const override { return Disturbs::kNobody; }
};

}  // namespace

std::unique_ptr<JobOrder> make_sjf_order(const ServiceOptions&) { return std::make_unique<SjfOrder>(); }

}  // namespace weft
