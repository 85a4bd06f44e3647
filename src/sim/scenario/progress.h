#pragma once

#include "base/units.h"
#include "model/job.h"

namespace weft::scenario {

/// How far the work of one job has come, over all its starts. While it runs, a checkpoint is begun every
/// CheckpointSpec::every after the last one (or after the start) and counts once it is saved, which takes
/// CheckpointSpec::save beside the work. A stop loses what was done since the last checkpoint that counts; the next
/// start first restores that one, if there is any. Without checkpoints every start begins from nothing.
class Progress {
 public:
  bool is_running() const { return since_ != kNever; }
  /// Requires: it does not run.
  void start(Instant now) { since_ = now; }
  /// The same of a job that runs since before the scenario's start.
  void adopt(Instant started, const JobSpec& job);
  /// Requires: it runs.
  void stop(Instant now, const JobSpec& job);

  /// Work that a start needs not do again.
  Duration saved() const { return saved_; }
  /// How long the next start takes for `work` in all, the restoring included; kEndless stays so.
  Duration left_of(Duration work, const JobSpec& job) const;

 private:
  Duration restore_time(const JobSpec& job) const;

  Duration saved_{0};
  Instant since_ = kNever;       ///< of the present start
  Instant checkpoint_ = kNever;  ///< the last one before the scenario's start, of the present start
};

}  // namespace weft::scenario
