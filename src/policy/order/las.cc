#include "policy/order/levels.h"
#include "policy/order/orders.h"

namespace weft {

namespace {

/// Least attained service: by the time that a job has run.
class LasOrder final : public LevelOrder {
 public:
  using LevelOrder::LevelOrder;
  std::string_view name() const override { return "las"; }

 private:
  int64_t service(const JobKey& key) const override { return key.executed.ns; }
  int64_t pace_milli(const JobKey&) const override { return 1000; }
};

}  // namespace

std::unique_ptr<JobOrder> make_las_order(const ServiceOptions& options) { return std::make_unique<LasOrder>(options); }

}  // namespace weft
