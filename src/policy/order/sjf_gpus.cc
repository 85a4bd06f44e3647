#include "policy/order/orders.h"

namespace weft {

namespace {

/// Fewest GPUs first, whatever the run time; who has more is stopped for who has fewer.
class SjfGpusOrder final : public JobOrder {
 public:
  std::string_view name() const override { return "sjf-gpus"; }
  int64_t rank(const JobKey& key) const override { return key.gpu_milli; }
  RankOf rank_of() const override { return RankOf::kJob; }
};

}  // namespace

std::unique_ptr<JobOrder> make_sjf_gpus_order(const ServiceOptions&) { return std::make_unique<SjfGpusOrder>(); }

}  // namespace weft
