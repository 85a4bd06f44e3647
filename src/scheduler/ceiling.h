#pragma once

#include "model/event.h"
#include "model/policy.h"
#include "placement/placer.h"
#include "scheduler/gang_counts.h"
#include "scheduler/job_lines.h"
#include "state/cluster_state.h"

#include <memory>
#include <vector>

namespace weft {

/// The cluster as it would be if nothing ran and everything were healthy: a second state that is told of structure
/// only. What the same placer cannot place there can never run here. Nodes only come, so a yes holds for ever and a no
/// until the structure changes.
class Ceiling {
 public:
  Ceiling(const PolicyConfig& config, std::vector<ActiveScore> scores) : placer_(config, std::move(scores)) {}

  // Structure, in the order in which the real state takes it.
  ClusterState& state() { return state_; }

  /// The spec behind a shape of the real state, at its first sight: names are resolved against this state's own
  /// vocabulary.
  void learn(ShapeId shape, const JobSpec& spec);

  /// Whether no job of the line could ever run. Remembered in the line. Cost: one placement in an empty cluster per
  /// line and, for a no, per change of structure. An own line (of a gang that runs in part) is never given up.
  bool is_never(Line& line);
  /// The verdict of the empty cluster; only for a line that is_never().
  Verdict explain(const Line& line);
  /// The same question for a spec that is not in any line.
  Verdict judge(const JobSpec& spec);

 private:
  Result<Shape> resolve(const JobSpec& spec);
  Verdict place(ShapeId own, int32_t role);

  ClusterState state_;
  Placer placer_;
  GangPlacement scratch_;
  std::vector<int32_t> counts_;
  std::vector<ShapeId> own_shapes_;  ///< by ShapeId of the real state
};

/// What one try for a line asks for, per role: every role's minimum, or one task of one role.
void fill_counts(const Shape& shape, int32_t role, std::vector<int32_t>& counts);

}  // namespace weft
