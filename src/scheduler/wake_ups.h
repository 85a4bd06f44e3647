#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "model/policy.h"
#include "model/verdict.h"
#include "placement/device_choice.h"
#include "scheduler/job_lines.h"
#include "state/cluster_state.h"

#include <cstdint>
#include <vector>

namespace weft {

/// What has happened since the last pass that could turn a "no" into a "yes", and whom it wakes.
///
/// A line that sleeps for want of room was shown to fit nowhere. Since then only the nodes noted here have gained
/// anything, so whatever places it now puts at least one of its tasks on one of them: a line none of whose tasks fits
/// alone on a noted node sleeps on. A line that sleeps because of a queue sleeps until the usage of that very queue
/// falls or queues change. Neither can miss a placement.
class WakeUps {
 public:
  explicit WakeUps(PackOrSpread devices) : chooser_(devices) {}

  /// Devices, CPUs or memory of the node came free.
  void note_freed(NodeId node) {
    note(WakeKind::kCapacityFreed);
    touch(node);
  }
  /// The node arrived or may be used again.
  void note_added(NodeId node) {
    note(WakeKind::kNodeAdded);
    note(WakeKind::kCapacityFreed);
    touch(node);
  }
  /// Usage of the queue and of its ancestors fell.
  void note_queue_freed(QueueId queue, const QueueTable& queues);
  void note_queues_changed() { note(WakeKind::kQueueChanged); }
  /// Something came free, or may be used again, since the last pass.
  bool has_freed() const {
    return (happened_ & (wake_bit(WakeKind::kCapacityFreed) | wake_bit(WakeKind::kNodeAdded))) != 0;
  }
  /// Everybody is to be tried again.
  void note_everything() { wakes_all_ = 1; }

  /// Wakes the lines that what was noted could help. Cost: O(sleepers of the masks hit x nodes noted), bounded by
  /// kNodesLookedAt nodes.
  void wake(JobLines& lines, const ClusterState& state);
  /// True when a task of the line could be on one of the nodes noted. To be asked before the line is tried in the pass
  /// that wake() began.
  bool could_help(const Line& line, const ClusterState& state);
  /// The pass is over: what was noted has had its effect.
  void clear();

 private:
  static constexpr size_t kNodesLookedAt =
      64;  ///< more nodes than that wake everybody: looking would cost more than trying

  void note(WakeKind kind) { happened_ = static_cast<WakeMask>(happened_ | wake_bit(kind)); }
  void touch(NodeId node);
  bool wakes(const Line& line, const ClusterState& state);
  bool fits_alone(const TaskDemand& demand, const ClusterState& state, NodeId node);

  DeviceChooser chooser_;
  WakeMask happened_ = 0;
  uint8_t wakes_all_ = 0;
  std::vector<NodeId> nodes_;
  BitSet is_noted_;  ///< by NodeId
  std::vector<QueueId> queues_;
  BitSet is_queue_noted_;      ///< by QueueId
  std::vector<LineId> woken_;  ///< scratch
};

}  // namespace weft
