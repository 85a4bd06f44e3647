#include "base/bits.h"
#include "base/hash.h"
#include "policy/score/device_pick.h"
#include "policy/score/scores.h"

namespace weft {

namespace {

/// One random node of those that fit, one random device of those that fit. The core draws no random numbers: the answer
/// is a hash of the driver's seed, the number of the choice and the node, so that the same run gives the same choices
/// on every machine.
class RandomScore final : public NodeScore {
 public:
  std::string_view name() const override { return "random"; }
  DependsOn depends_on() const override { return DependsOn::kCluster; }

  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const override {
    const uint64_t choice = mix64(mix64(context.seed) ^ context.draw);
    const uint64_t hash = mix64(choice ^ (uint64_t{index(node)} << 32));
    if (is_fraction(demand.devices.kind))
      device = pick(fitting_devices(context.state, node, demand.devices), mix64(hash));
    return static_cast<int32_t>(hash >> 33);
  }

 private:
  static int pick(DeviceMask mask, uint64_t hash) {
    if (mask == 0) return -1;
    for (uint64_t skip = hash % popcount(mask); skip > 0; --skip) mask &= mask - 1;
    return std::countr_zero(mask);
  }
};

}  // namespace

std::unique_ptr<NodeScore> make_random_score() { return std::make_unique<RandomScore>(); }

}  // namespace weft
