#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/policy.h"
#include "placement/placer.h"
#include "policy/job_order.h"
#include "scheduler/attempts.h"
#include "scheduler/ceiling.h"
#include "scheduler/decision_log.h"
#include "scheduler/gang_counts.h"
#include "scheduler/job_book.h"
#include "scheduler/job_lines.h"
#include "scheduler/queue_order.h"
#include "scheduler/quota.h"
#include "scheduler/timers.h"
#include "scheduler/wake_ups.h"
#include "state/cluster_state.h"

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
  ScoreSet scores;
  ScoreSet query_scores;
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
  Timers timers;
  WakeUps wake_ups;  ///< whom the next pass looks at
  Quota quota;
  DecisionLog log;
  GangCheck gang_check;
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
  bool has_ended(JobId job) const { return is_end_state(state_of(job)); }
};

}  // namespace weft
