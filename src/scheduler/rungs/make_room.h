#pragma once

#include "scheduler/core.h"
#include "scheduler/lifecycle.h"
#include "scheduler/rung.h"
#include "scheduler/rungs/room_search.h"
#include "scheduler/rungs/units.h"
#include "scheduler/shares.h"
#include "scheduler/turns.h"

#include <string_view>
#include <vector>

namespace weft {

/// The rungs that disturb those who run, so that somebody who waits can start. Those who were refused for want of room
/// are asked in fair order; a plan is proven in a transaction before anybody is told to stop, and what it frees belongs
/// to whom it was freed for (see Lifecycle::hold).
///
/// consolidate: jobs are moved, and each must land again.
/// reclaim: a queue takes back what is its own from queues above theirs (see ClaimRule).
/// preempt: inside a queue, from jobs of lower priority; also together with the two others.
class MakeRoomRung final : public Rung {
 public:
  enum class Kind : uint8_t { kConsolidate, kReclaim, kPreempt };

  MakeRoomRung(Core& core, Lifecycle& lifecycle, Kind kind) : core_(core), lifecycle_(lifecycle), kind_(kind) {}
  std::string_view name() const override;
  void run() override;

 private:
  enum class Lines : uint8_t { kMinimum, kSurplus };
  void make_room(Lines which);
  void gather(Lines which);
  bool may_be_helped(const Line& line) const;
  bool could_be_helped(const Line& line);
  bool is_anybody_above(QueueId but) const;
  bool is_patient(JobId job);
  bool try_line(LineId id);
  void collect(const Taker& taker, QueueId queue);
  void carry_out(JobId job, const RoomPlan& plan);
  void stop_victims(const RoomPlan& plan, QueueId taker);
  StopCause cause_of(const Unit& unit, QueueId taker) const;

  Core& core_;
  Lifecycle& lifecycle_;
  const Kind kind_;
  Turns turns_;
  Units units_{core_};
  RoomPlan plan_;
  std::vector<int32_t> counts_;
  std::vector<JobId> stopped_;  ///< scratch
  BitSet is_out_;               ///< lines that were tried in vain
};

}  // namespace weft
