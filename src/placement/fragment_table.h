#pragma once

#include "base/ids.h"
#include "model/device.h"
#include "placement/node_score.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace weft {

class ClusterState;

/// What of a node's devices is free, in the form that fragmentation is computed from.
struct NodeRoom {
  int64_t cpu_milli = 0;
  int32_t whole = 0;                               ///< usable devices that nobody has
  int32_t shared_count = 0;                        ///< used places of `shared`
  std::array<int32_t, kMaxDevicesPerNode> shared;  ///< free milli of the usable devices that are shared and not full
  int32_t free_milli() const {
    int32_t sum = 1000 * whole;
    for (int32_t i = 0; i < shared_count; ++i) sum += shared[static_cast<size_t>(i)];
    return sum;
  }
};

/// Reads the room of a node whose devices are all of one model.
NodeRoom node_room(const ClusterState& state, NodeId node);

/// A target workload prepared for the fragmentation of many nodes. Popularities become integer weights that sum to kOne
/// exactly, so that a result is the same whatever the compiler does, and equal rooms have equal fragmentation to the
/// last bit.
///
/// With usable(v) = the free milli on devices with at least v milli free, the definition turns into
///   F = free - sum over the needs (v, n) of weight(v, n, cpu) * usable(v) where at least n devices have v free,
/// where weight(v, n, cpu) is the popularity of all allowed shapes of n devices with v milli that need at most the free
/// `cpu`.
///
/// Cost: building O(workload x device models); one F: O(needs x shared devices) and no allocation.
class FragmentTable {
 public:
  static constexpr int64_t kOne = int64_t{1} << 32;

  /// Devices of one model and sharing mode see the same workload. Needs stand by rising milli, then by rising count.
  struct View {
    std::vector<int64_t> cpu_levels;           ///< ascending, distinct
    std::vector<int32_t> need_milli;           ///< per device
    std::vector<int32_t> need_count;           ///< devices
    std::vector<int64_t> weights;              ///< (cpu_levels + 1) rows of needs
    std::array<uint16_t, 1001> needs_up_to{};  ///< by milli: how many needs take at most so much of a device

    size_t needs() const { return need_milli.size(); }
    /// How many of the levels the free CPUs reach: the row of weights that counts.
    size_t level(int64_t cpu_milli) const;
    const int64_t* row(size_t level) const { return weights.data() + level * needs(); }
  };

  /// Forgets what was prepared; views are built when first asked for.
  void set_workload(const TargetWorkload& workload);
  /// The reference stays valid until the next set_workload().
  const View& view(DeviceModelId model, ShareMode share);
  /// At least as many as any view has.
  size_t needs_max() const { return needs_max_; }

  /// Fragmentation in milli-GPU x kOne.
  static int64_t fragment(const View& view, const NodeRoom& room);
  /// What fragment() subtracts from the free milli x kOne.
  static int64_t usable(const View& view, const NodeRoom& room);

 private:
  struct Entry {
    DeviceModelId model;
    ShareMode share;
    View view;
  };
  std::vector<std::pair<TargetTask, int64_t>> tasks_;  ///< GPU shapes with their weights
  std::deque<Entry> views_;                            ///< a handful; searched from the front
  size_t needs_max_ = 0;
};

}  // namespace weft
