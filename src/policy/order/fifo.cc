#include "policy/order/orders.h"

namespace weft {

namespace {

/// First come, first served: every job has the same rank, so that submission decides.
class FifoOrder final : public JobOrder {
 public:
  std::string_view name() const override { return "fifo"; }
  int64_t rank(const JobKey&) const override { return 0; }
};

}  // namespace

std::unique_ptr<JobOrder> make_fifo_order(const ServiceOptions&) { return std::make_unique<FifoOrder>(); }

}  // namespace weft
