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
  Verdict try_job(Transaction& txn, LineId id, JobId job);
  void follow(Transaction& txn, LineId id, JobId job);
  EntryId next_to_follow(LineId id, JobId job) const;
  Verdict standing_refusal(const Line& line, JobId job);
  bool is_bound(const Line& line, JobId job) const;
  bool blocks(const Verdict& verdict) const;
  void refuse(LineId id, JobId job, const Verdict& verdict);
  bool may_reserve(const Line& line, const Verdict& verdict) const;
  void reserve(Transaction& txn, const Line& line, JobId job);
  void leave_turn(LineId id, JobId job);
  Verdict place_beside_leavers(Transaction& txn, const GangRequest& request);
  Verdict place_now_or_later(Transaction& txn, const GangRequest& request);
  bool starts_at_once(const GangRequest& request) const;
  Verdict explain_refusal(Line& line, Verdict verdict);

  Core& core_;
  Lifecycle& lifecycle_;
  Turns turns_;
  GangPlacement placement_;
  std::vector<int32_t> counts_;
  static constexpr int kFollowersMax = 1000;  ///< in a line, looked at for a shorter one
  int32_t reserved_ = 0;                      ///< in this pass
  std::vector<Duration> shortest_refused_;    ///< by LineId: of those a reservation kept back in this pass
};

}  // namespace weft
