#pragma once

#include "scheduler/core.h"
#include "scheduler/lifecycle.h"
#include "scheduler/rung.h"
#include "scheduler/turns.h"
#include "state/transaction.h"

#include <vector>

namespace weft {

/// Queue by queue in fair order, line by line, gang by gang: whoever fits and may, gets a hold. Greedy backfill: who
/// does not fit lets later ones pass, unless the order is strict. A line that failed is not tried again in the pass.
/// Disturbs nobody.
///
/// Budget: PolicyConfig::pass_steps_max task placements; who is left over is tried in the next pass.
class PlaceRung final : public Rung {
 public:
  PlaceRung(Core& core, Lifecycle& lifecycle) : core_(core), lifecycle_(lifecycle) {}
  std::string_view name() const override { return "place"; }
  void run() override;

 private:
  enum class Lines : uint8_t { kMinimum, kSurplus };
  bool gather(Lines which);
  void pass();
  Verdict try_head(Transaction& txn, LineId id);
  Verdict standing_refusal(const Line& line, JobId job);
  bool is_bound(const Line& line, JobId job) const;
  bool blocks(const Verdict& verdict) const;
  void refuse(LineId id, JobId job, const Verdict& verdict);
  Verdict place_now_or_later(Transaction& txn, const GangRequest& request);
  bool starts_at_once(const GangRequest& request) const;
  Verdict explain_refusal(Line& line, Verdict verdict);

  Core& core_;
  Lifecycle& lifecycle_;
  Turns turns_;
  GangPlacement placement_;
  std::vector<int32_t> counts_;
};

}  // namespace weft
