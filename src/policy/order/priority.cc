#include "policy/order/orders.h"

namespace weft {

namespace {

/// Larger priorities first; submission decides among equals.
class PriorityOrder final : public JobOrder {
 public:
  std::string_view name() const override { return "priority"; }
  int64_t rank(const JobKey& key) const override { return -int64_t{key.shape->priority}; }
};

}  // namespace

std::unique_ptr<JobOrder> make_priority_order(const ServiceOptions&) { return std::make_unique<PriorityOrder>(); }

}  // namespace weft
