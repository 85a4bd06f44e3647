#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/policy.h"
#include "placement/placer.h"
#include "policy/job_order.h"
#include "policy/victim/victim_cost.h"
#include "scheduler/attempts.h"
#include "scheduler/ceiling.h"
#include "scheduler/decision_log.h"
#include "scheduler/gang_counts.h"
#include "scheduler/holders.h"
#include "scheduler/job_book.h"
#include "scheduler/job_lines.h"
#include "scheduler/leavers.h"
#include "scheduler/queue_order.h"
#include "scheduler/quota.h"
#include "scheduler/reservations.h"
#include "scheduler/shares.h"
#include "scheduler/timers.h"
#include "scheduler/turns.h"
#include "scheduler/wake_ups.h"
#include "state/cluster_state.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// The scores of a policy and who owns them. Every placer has its own: a score may keep a cache of one state.
struct ScoreSet {
  std::vector<std::unique_ptr<NodeScore>> owned;
  std::vector<ActiveScore> active;
};

/// What a policy is made of, by the registry.
struct PolicyParts {
  PolicyConfig config;
  std::unique_ptr<JobOrder> job_order;
  std::unique_ptr<QueueOrder> queue_order;
  std::unique_ptr<VictimCost> victim_cost;
  ScoreSet scores;
  ScoreSet query_scores;
};

/// Elect mode: what the parts of the scheduler tell the rung that elects.
struct ElectState {
  uint8_t is_due = 0;          ///< something has happened that may change who is chosen
  uint8_t has_returned = 0;    ///< a job that ran waits again, and not because of an election
  int64_t round = 1;           ///< counts elections
  int64_t arrivals = 0;        ///< jobs that have begun to wait since the last one
  Instant look = kNever;       ///< when time alone may change who is chosen
  std::vector<JobId> adopted;  ///< jobs that came running

  static constexpr int64_t kTurnsPerRound = int64_t{1} << 24;
  /// Of those who begin to wait in this round the first; whoever was stopped in the round has a smaller turn.
  int64_t first_arrival() const { return round * kTurnsPerRound + kTurnsPerRound / 2; }
};

/// What the rungs that make room are told, and tell each other.
struct RoomState {
  uint8_t is_due = 0;     ///< something has happened that may let a plan succeed
  Instant look = kNever;  ///< when time alone may
  Shares shares;
};

/// Everything that the parts of the scheduler share. The parts (lifecycle, rungs, views) hold a reference and no facts
/// of their own.
struct Core {
  explicit Core(PolicyParts policy);

  PolicyParts parts;
  ClusterState state;
  Placer placer;        ///< of the ladder
  Placer query_placer;  ///< of what-ifs and explanations: a question must not change the next answer of the ladder's
  Ceiling ceiling;
  JobBook book;
  AttemptTable attempts;
  JobLines lines;
  Holders holders;
  Leavers leavers;                          ///< ladder
  std::map<JobId, GangPlacement> promises;  ///< places taken for jobs that are being moved there
  Timers timers;
  WakeUps wake_ups;  ///< whom the next pass looks at
  Quota quota;
  DecisionLog log;
  GangCheck gang_check;
  ElectState elect;
  RoomState room;
  ReservationBook reservations;
  Instant now;
  ResourceVector totals;            ///< of all nodes, up or not
  std::vector<JobId> arrivals;      ///< not yet admitted
  std::vector<std::string> errors;  ///< of the present apply()
  uint64_t ignored_events = 0;
  JobId strict_blocker = kNone<JobId>;  ///< strict order: whom everybody behind waits for
  uint8_t is_unfinished = 0;            ///< a rung stopped at its budget: the next apply() goes on

  const PolicyConfig& config() const { return parts.config; }
  const Shape& shape_of(JobId job) const { return state.shapes()[state.jobs().shape[index(job)]]; }
  bool knows(JobId job) const { return index(job) < book.size(); }
  JobState state_of(JobId job) const { return state.jobs().state[index(job)]; }
  /// By what queues are compared: where there is only one, by nothing that costs anything.
  ShareMeasure share_measure() const;
  bool reserves() const {
    return !elects() && config().strict == StrictOrder::kNo && config().backfill.reservation_depth > 0;
  }
  /// Until when the job stays if it starts now, as far as it is known.
  Instant end_if_started(JobId job) const;
  bool elects() const { return parts.config.mode == CycleMode::kElect; }
  /// What the order may read of the job, now.
  JobKey job_key(JobId job) const;
  /// What one try for the line's job asks for, per role; empty where nothing is lacking.
  void fill_request(const Line& line, JobId job, std::vector<int32_t>& counts);
  /// Where the job stands in its line, from now on.
  LineKey line_key(JobId job);
  /// A gang all of whose tasks run or wait, and none comes, goes or has ended: it could go on elsewhere.
  bool is_movable(JobId job) const;
  bool has_ended(JobId job) const { return is_end_state(state_of(job)); }
};

}  // namespace weft
