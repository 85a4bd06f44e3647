#include "policy/order/gittins_index.h"
#include "policy/order/orders.h"
#include "policy/order/service.h"

#include <optional>

namespace weft {

namespace {

__extension__ using Wide = __int128;

/// The Gittins index over time x GPUs; larger goes first. A job that has had more than any of the past comes last.
class GittinsOrder final : public JobOrder {
 public:
  explicit GittinsOrder(const ServiceOptions& options) : quantum_(options.quantum) {
    if (quantum_ > Duration{}) {
      fixed_.emplace(options.history, quantum_);
    } else {
      best_.emplace(options.history);
    }
  }

  std::string_view name() const override { return "gittins"; }
  RankOf rank_of() const override { return RankOf::kService; }
  Ties ties() const override { return Ties::kRunningFirst; }

  int64_t rank(const JobKey& key) const override {
    const int64_t had = gpu_time(key.executed, key);
    return -(best_ ? best_->index(had) : fixed_->index(had));
  }

  /// Until its stretch is over nothing speaks against a job that has come to run.
  Instant next_look(const JobKey& key, Instant now) const override {
    const int64_t had = gpu_time(key.executed, key);
    const int64_t left = best_ ? best_->stretch_end(had) - had : (fixed_->index(had) > 0 ? quantum_.ns : 0);
    if (left <= 0) return kNever;
    const int64_t gpu_milli = key.gpu_milli > 0 ? key.gpu_milli : 1000;
    const Wide wait = (static_cast<Wide>(left) * 1000 + gpu_milli - 1) / gpu_milli;
    return wait < kEndless.ns ? now + Duration{static_cast<int64_t>(wait)} : kNever;
  }

 private:
  Duration quantum_;
  std::optional<FixedGittins> fixed_;
  std::optional<BestGittins> best_;
};

}  // namespace

std::unique_ptr<JobOrder> make_gittins_order(const ServiceOptions& options) {
  return std::make_unique<GittinsOrder>(options);
}

}  // namespace weft
