#include "policy/order/orders.h"
#include "policy/order/service.h"

namespace weft {

namespace {

/// Shortest remaining service first: remaining time x GPUs.
class SrsfOrder final : public JobOrder {
 public:
  std::string_view name() const override { return "srsf"; }
  int64_t rank(const JobKey& key) const override { return gpu_time(key.remaining, key); }
  RankOf rank_of() const override { return RankOf::kService; }
  Ties ties() const override { return Ties::kWaitingFirst; }
  int64_t fall(const JobKey& key) const override { return key.gpu_milli > 0 ? key.gpu_milli : 1000; }
};

}  // namespace

std::unique_ptr<JobOrder> make_srsf_order(const ServiceOptions&) { return std::make_unique<SrsfOrder>(); }

}  // namespace weft
