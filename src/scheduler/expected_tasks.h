#pragma once

#include "model/catalogue.h"
#include "model/shape.h"
#include "placement/fragmentation.h"
#include "placement/node_score.h"
#include "scheduler/scheduler.h"

#include <cstdint>
#include <vector>

namespace weft {

/// What tasks are expected to come: what the driver said, or else what jobs have asked for so far. Of jobs only tasks
/// that ask for whole devices or thousandths of one count: a task without devices says nothing about which free ones
/// are of use. Memory is bounded by kKindsMax kinds of tasks and a word per shape and role; kinds beyond that are not
/// counted.
class ExpectedTasks {
 public:
  static constexpr size_t kKindsMax = 1024;
  static constexpr double kCoverage = 0.95;

  /// A job of the shape has come. Cost: O(roles), O(kinds) at the shape's first sight.
  void note(ShapeId id, const Shape& shape);
  /// The driver knows better: from now on only this counts, as it stands. Unknown model names are left out.
  void tell(const std::vector<ExpectedTask>& tasks, const DeviceCatalogue& models);

  /// Grows with every change of what is expected.
  uint64_t version() const { return version_; }
  /// Tasks counted so far; 0 once the driver has told.
  uint64_t seen() const { return is_told_ ? 0 : seen_; }
  /// Nothing to measure by: no task counted, or none told.
  bool is_empty() const { return is_told_ ? told_.empty() : seen_ == 0; }
  TargetWorkload workload() const { return is_told_ ? told_ : target_workload(kinds_, kCoverage); }

 private:
  struct RoleKind {
    uint32_t kind = 0;
    int32_t count = 0;
  };
  uint32_t kind_of(const TaskDemand& demand);

  std::vector<TargetTask> kinds_;                ///< popularity: tasks seen
  std::vector<std::vector<RoleKind>> of_shape_;  ///< by ShapeId
  TargetWorkload told_;
  bool is_told_ = false;
  uint64_t seen_ = 0;
  uint64_t version_ = 0;
};

}  // namespace weft
