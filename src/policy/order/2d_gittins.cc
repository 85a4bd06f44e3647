#include "policy/order/gittins_index.h"
#include "policy/order/levels.h"
#include "policy/order/orders.h"
#include "policy/order/service.h"

#include <algorithm>

namespace weft {

namespace {

constexpr Duration kUsualQuantum = seconds(3250);

/// The levels of 2d-las, and on one level the Gittins index.
class TwoDimensionalGittinsOrder final : public LevelOrder {
 public:
  explicit TwoDimensionalGittinsOrder(const ServiceOptions& options)
      : LevelOrder(options), index_(options.history, options.quantum > Duration{} ? options.quantum : kUsualQuantum) {}

  std::string_view name() const override { return "2d-gittins"; }
  bool is_steady_until_look(const JobKey&) const override { return false; }  // the index changes as it runs
  int64_t rank(const JobKey& key) const override {
    constexpr int kLevelBits = 7;  // in front of the 63 of the index; rounding that away tells nobody apart
    constexpr int32_t kLevelMax = (1 << kLevelBits) - 1;
    const int64_t level = std::min(key.level, kLevelMax);
    return (level << (63 - kLevelBits)) - (index_.index(service(key)) >> kLevelBits);
  }

 private:
  int64_t service(const JobKey& key) const override { return gpu_time(key.executed, key); }
  int64_t pace_milli(const JobKey& key) const override { return key.gpu_milli > 0 ? key.gpu_milli : 1000; }

  FixedGittins index_;
};

}  // namespace

std::unique_ptr<JobOrder> make_2d_gittins_order(const ServiceOptions& options) {
  return std::make_unique<TwoDimensionalGittinsOrder>(options);
}

}  // namespace weft
