#include "policy/order/levels.h"
#include "policy/order/orders.h"
#include "policy/order/service.h"

namespace weft {

namespace {

/// Two-dimensional least attained service: by time x GPUs.
class TwoDimensionalLasOrder final : public LevelOrder {
 public:
  using LevelOrder::LevelOrder;
  std::string_view name() const override { return "2d-las"; }

 private:
  int64_t service(const JobKey& key) const override { return gpu_time(key.executed, key); }
  int64_t pace_milli(const JobKey& key) const override { return key.gpu_milli > 0 ? key.gpu_milli : 1000; }
};

}  // namespace

std::unique_ptr<JobOrder> make_2d_las_order(const ServiceOptions& options) {
  return std::make_unique<TwoDimensionalLasOrder>(options);
}

}  // namespace weft
