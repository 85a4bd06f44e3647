#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "model/job.h"
#include "model/node.h"
#include "model/placement.h"
#include "scheduler/scheduler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::service {

enum class CancelMode : uint8_t {
  kGraceful,  ///< TERM, the job's grace, KILL
  kKill,      ///< KILL at once
};

/// What an engine knows of one task; the core forgets the tasks of a job that has ended.
struct TaskDetail {
  std::optional<TaskPlacement> placement;  ///< what it has or had
  int32_t pid = 0;                         ///< 0: not running yet
  std::optional<int32_t> exit_status;      ///< 128 + signal when a signal ended it
  bool is_stopped = false;                 ///< it was told to stop
};

struct OutputFiles {
  std::string output;
  std::string error;         ///< equal to `output` when both streams go to one file
  bool is_begun = true;      ///< false: the task was never started, and nothing in the files is its own
  int64_t output_begin = 0;  ///< bytes that were there before it
  int64_t error_begin = 0;
};

/// What the service needs from the process that it is part of: the core, a way to change things, and facts that neither
/// holds. The service never changes the core itself: every change is an event that the owner applies and hands to its
/// engine.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Scheduler& scheduler() = 0;
  /// Requires: what_if() gave no Error and did not say never.
  virtual Result<JobId> submit(JobSpec spec) = 0;
  /// Requires: the job exists and has not ended.
  virtual void cancel(JobId job, CancelMode mode) = 0;

  // Requires for all below: the job or node exists.
  virtual const JobSpec& spec(JobId job) const = 0;
  /// Why the engine or the core ended or refused it, in words; empty when there is nothing to say.
  virtual std::string message(JobId job) const = 0;
  /// By task; shorter than the job where the last ones have never had a place.
  virtual std::vector<TaskDetail> tasks(JobId job) const = 0;
  virtual Result<OutputFiles> files(JobId job, int32_t task) const = 0;
  virtual const NodeSpec& node_spec(NodeId node) const = 0;

  /// Milliseconds since 1970 of a moment of the core's time.
  virtual int64_t wall_ms(Instant at) const = 0;
  /// True once the server ends: nothing new is accepted.
  virtual bool is_stopping() const = 0;
  /// True when it ends and nothing of any job is left: there will be no more news.
  virtual bool is_over() const = 0;
};

}  // namespace weft::service
