#include "policy/order/orders.h"

namespace weft {

namespace {

/// Earliest deadline first; jobs without one after all others.
class DeadlineOrder final : public JobOrder {
 public:
  std::string_view name() const override { return "deadline"; }
  int64_t rank(const JobKey& key) const override { return key.deadline.ns; }
  RankOf rank_of() const override { return RankOf::kJob; }
};

}  // namespace

std::unique_ptr<JobOrder> make_deadline_order(const ServiceOptions&) { return std::make_unique<DeadlineOrder>(); }

}  // namespace weft
