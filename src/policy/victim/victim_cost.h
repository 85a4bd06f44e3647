#pragma once

#include "base/ids.h"
#include "base/units.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace weft {

/// What a choice of victims may read of something that can be taken: a task above its job's minimum, or a whole gang.
struct VictimKey {
  uint8_t is_surplus = 0;
  int32_t priority = 0;
  int64_t gpu_units = 0;     ///< that come free, see kGpuUnits
  Duration lost{0};          ///< time that ran since the last checkpoint, or since the start
  Duration restore{0};       ///< to begin again from there
  Instant started = kNever;  ///< kNever: it holds its place, but has not started
};

/// How dear it is to take something. One small file per rule under policy/victim.
class VictimCost {
 public:
  virtual ~VictimCost() = default;
  virtual std::string_view name() const = 0;
  /// Smaller is given up first, among those of one kind and priority.
  virtual int64_t cost(const VictimKey& key) const = 0;
};

/// GPU-time: what was done since the last checkpoint and what it takes to restore, times the GPUs; in kGpuUnits x ms.
std::unique_ptr<VictimCost> make_lost_work_cost();

}  // namespace weft
