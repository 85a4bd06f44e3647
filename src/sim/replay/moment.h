#pragma once

#include "base/result.h"
#include "model/view.h"
#include "sim/replay/replay.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::sim {

/// The state of a replayed run at one moment, for people: what there is, who runs where, who waits and why.
struct Moment {
  Instant at;         ///< that was asked for
  Instant last_call;  ///< the present of the core; nothing happened between the two
  store::JournalEnd so_far;
  std::optional<uint64_t> decision;  ///< that was asked for
  ClusterView cluster;
  std::vector<NodeView> nodes;
  std::vector<JobView> running;  ///< held and releasing ones too; in order of their ids, as are the others
  std::vector<JobView> waiting;  ///< with their verdicts
  size_t running_count = 0;      ///< of all; the lists may be cut
  size_t waiting_count = 0;
  std::vector<NumberedDecision> before;  ///< the last ones, oldest first
  std::vector<NumberedDecision> after;   ///< the next ones, as they were recorded
};

/// What a moment shows at most.
struct MomentLimits {
  size_t jobs = SIZE_MAX;  ///< of each list
  size_t decisions = 5;    ///< before and after; of those before at most Replay::kDecisionsKept
};
/// The present moment of `replay`, which can play nothing afterwards. Cost: every waiting job that is shown is
/// explained. Error: what comes next in the journal is damaged.
Result<Moment> take_moment(Replay& replay, const ReplayStop& stop, const MomentLimits& limits);

/// Whole GPUs and parts, as "2", "0.5".
std::string gpus_text(const ResourceVector& request);
/// Where the tasks of a job are: "n0:0-3 n1:0"; empty for nowhere.
std::string places_text(const JobView& job);

/// What is told of a replay; parts that were not asked for are null.
struct ReplayReport {
  const std::string& path;
  Replay& replay;
  const Moment* moment = nullptr;
  const JobView* job = nullptr;
  const std::vector<NumberedDecision>* decisions = nullptr;
};
/// An object: what was run, the totals and whether they are as recorded, then "moment", "job" and "decisions" where
/// asked for. Instants are nanoseconds since the start.
std::string replay_json(const ReplayReport& report);

}  // namespace weft::sim
