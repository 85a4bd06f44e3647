#include "policy/victim/victim_cost.h"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

class LostWork final : public VictimCost {
 public:
  std::string_view name() const override { return "lost-work"; }

  int64_t cost(const VictimKey& key) const override {
    if (key.started == kNever) return 0;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const int64_t ms = (key.lost + key.restore).ns / 1'000'000;
    // Without GPUs there is still time that is lost.
    const int64_t units = std::max<int64_t>(key.gpu_units, 1);
    return ms > kMost / units ? kMost : units * ms;
  }
};

}  // namespace

std::unique_ptr<VictimCost> make_lost_work_cost() { return std::make_unique<LostWork>(); }

}  // namespace weft
