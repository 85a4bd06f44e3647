#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/shape.h"

#include <cstdint>
#include <string_view>

namespace weft {

/// What an order may read of a job.
struct JobKey {
  JobId job = kNone<JobId>;
  const Shape* shape = nullptr;
  UserId user = kNone<UserId>;
  Instant submitted;
  Duration estimate = kEndless;  ///< of its whole run

  // Where the running set is elected (PolicyConfig::mode); in the ladder as for a job that has not run.
  Duration executed{0};           ///< wall time it has run so far, over all its starts
  Duration remaining = kEndless;  ///< what is left of the estimate, or what the driver reported last
  Instant deadline = kNever;
  int64_t gpu_milli = 0;  ///< asked for in all
  int32_t level = 0;      ///< how often it has sunk, see JobOrder::sinks()
};

/// The order of the waiting jobs of one queue (ladder), or of all jobs, running and waiting, of the cluster (elect
/// mode). One small file per order under policy/order, one line in policy/registry.cc.
class JobOrder {
 public:
  /// What a rank depends on beside the shape and the submission.
  enum class RankOf : uint8_t {
    kShape,    ///< nothing: the head of a shape's line stands for the line
    kJob,      ///< the job's own facts, none of which change
    kService,  ///< what the job has had or still needs: changes while it runs
  };
  /// Elect mode: who of equal rank goes first.
  enum class Ties : uint8_t {
    kArrival,       ///< who came first
    kWaitingFirst,  ///< whoever waits already before who runs, and that before who comes now: as a stable sort of the
                    ///< last order leaves them when the ranks of those who run have fallen
    kRunningFirst,  ///< who runs; of those who wait, whoever was stopped last before those who have waited on
  };
  /// Elect mode: whether one who comes may take the place of one who runs.
  enum class Disturbs : uint8_t { kNobody, kLaterOnes };

  virtual ~JobOrder() = default;
  virtual std::string_view name() const = 0;
  /// Smaller goes first; equal ranks go by submission, then by JobId (in elect mode as ties() says).
  virtual int64_t rank(const JobKey& key) const = 0;
  virtual RankOf rank_of() const { return RankOf::kShape; }
  virtual Ties ties() const { return Ties::kArrival; }
  /// How fast the rank falls while the job runs, where it falls evenly: to be compared with that of other jobs.
  virtual int64_t fall([[maybe_unused]] const JobKey& key) const { return 0; }
  virtual Disturbs disturbs() const { return Disturbs::kLaterOnes; }

  /// Whether jobs sink to lower levels, which is to be seen at its moment even when nobody waits.
  virtual bool has_levels() const { return false; }
  /// Orders with levels: whether the job has had so much that it sinks by one level now.
  virtual bool sinks([[maybe_unused]] const JobKey& key) const { return false; }
  /// When a job that runs from `now` on is to be looked at again because it may sink, or its rank rise; kNever: it will
  /// not.
  virtual Instant next_look([[maybe_unused]] const JobKey& key, [[maybe_unused]] Instant now) const { return kNever; }
  /// Whether next_look() is to be asked again for every job that runs at every event, not only when one starts or
  /// sinks.
  virtual bool renews_looks() const { return false; }
  /// Whether the job, while it runs, neither sinks nor changes its rank before its next_look(). Requires: it does not
  /// sink now.
  virtual bool is_steady_until_look([[maybe_unused]] const JobKey& key) const { return false; }
};

}  // namespace weft
