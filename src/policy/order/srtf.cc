#include "policy/order/orders.h"

namespace weft {

namespace {

/// Shortest remaining time first.
class SrtfOrder final : public JobOrder {
 public:
  std::string_view name() const override { return "srtf"; }
  int64_t rank(const JobKey& key) const override { return key.remaining.ns; }
  RankOf rank_of() const override { return RankOf::kService; }
  Ties ties() const override { return Ties::kWaitingFirst; }
};

}  // namespace

std::unique_ptr<JobOrder> make_srtf_order(const ServiceOptions&) { return std::make_unique<SrtfOrder>(); }

}  // namespace weft
