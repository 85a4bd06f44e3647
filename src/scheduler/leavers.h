#pragma once

#include "base/ids.h"
#include "model/placement.h"
#include "model/queue.h"
#include "model/shape.h"
#include "model/view.h"
#include "state/tables.h"
#include "state/transaction.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// An attempt that is to start once somebody has gone.
struct AttemptName {
  JobId job = kNone<JobId>;
  uint32_t number = 0;
  bool operator==(const AttemptName&) const = default;
};

/// Tasks that were told to stop and are still there. What they hold has gone back to the indices, so that others can
/// be planned onto it; those who get it wait until the leavers in their way have gone.
///
/// Cost: add and remove O(log leavers); find_in_the_way O(leavers on the nodes of the placement), and O(leavers) where
/// a queue's limit binds; hide and reveal O(leavers).
class Leavers {
 public:
  bool is_empty() const { return leavers_.empty(); }
  size_t size() const { return leavers_.size(); }

  /// Whether the job of a leaver waits again when it has gone.
  enum class Returns : uint8_t { kNo, kYes };
  /// The task has been told to stop; what it held has been given back in the indices.
  void add(const QueueTable& queues, const Shape& shape, const TaskDemand& demand, const TaskPlacement& at,
           Returns returns);
  /// The task is gone. Returns those who waited for it.
  std::vector<AttemptName> remove(const QueueTable& queues, TaskId task);
  void wait_for(TaskId leaver, AttemptName attempt) { leavers_.at(leaver).waiting.push_back(attempt); }

  /// Who must be gone before a job of the shape can start at `placed`, which has been taken; in order. `uncharged` is
  /// what of it is not in the usage of its queue yet.
  std::vector<TaskId> find_in_the_way(const ClusterState& state, const Shape& shape,
                                      std::span<const TaskPlacement> placed, const ResourceVector& uncharged) const;

  /// Takes what the leavers still occupy, as far as nobody has been planned onto it: what is free then is free now.
  void hide(Transaction& txn);
  /// The reverse. Requires: nothing of what hide() took was given back meanwhile.
  void reveal(Transaction& txn);

  /// What those of the queue and below held that wait again.
  ResourceVector returning(QueueId queue) const {
    return index(queue) < leaving_.size() ? leaving_[index(queue)].returning : ResourceVector{};
  }
  /// Devices of the node that leavers are on.
  DeviceMask devices(NodeId node) const;
  /// What of the node is really free now.
  void subtract(NodeView& view) const;

 private:
  struct Leaver {
    QueueId queue = kNone<QueueId>;
    uint8_t is_firm = 0;  ///< of a job that is not preemptible
    uint8_t returns = 0;
    TaskDemand amounts;  ///< CPUs, memory and disk only
    TaskPlacement at;
    std::vector<AttemptName> waiting;
  };
  /// What hide() took for one leaver.
  struct Blocker {
    TaskDemand amounts;
    TaskPlacement at;
  };

  void find_on_node(const ClusterState& state, std::span<const TaskPlacement> placed, NodeId node,
                    std::vector<TaskId>& out) const;
  bool is_on_devices(const ClusterState& state, const TaskPlacement& placed, const Leaver& leaver) const;
  void find_for_queues(const QueueTable& queues, const Shape& shape, const ResourceVector& uncharged,
                       std::vector<TaskId>& out) const;
  void count(const QueueTable& queues, const Leaver& leaver, int sign);
  static Blocker blocker_of(const ClusterState& state, const Leaver& leaver);

  std::map<TaskId, Leaver> leavers_;
  std::vector<std::vector<TaskId>> on_node_;  ///< by NodeId, in order of leaving
  /// By QueueId: charges of the leavers of the queue and below.
  struct Leaving {
    ResourceVector all;
    ResourceVector firm;
    ResourceVector returning;
  };
  std::vector<Leaving> leaving_;
  std::vector<Blocker> blockers_;
};

}  // namespace weft
