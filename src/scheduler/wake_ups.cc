#include "scheduler/wake_ups.h"

#include <algorithm>

namespace weft {
namespace {

constexpr unsigned kRoomKinds = wake_bit(WakeKind::kCapacityFreed) | wake_bit(WakeKind::kNodeAdded);

}  // namespace

bool WakeUps::fits_alone(const TaskDemand& demand, const ClusterState& state, NodeId node) {
  if (!state.is_schedulable(node)) return false;
  const bool is_whole = demand.devices.kind == DeviceNeedKind::kWhole;
  if (is_whole && popcount(state.available(node)) < static_cast<unsigned>(demand.devices.count)) return false;
  if (standing_obstacle(state, node, demand) != Reason::kNone) return false;
  DeviceMask ignored = 0;
  return chooser_.fit(state, node, demand, OneIsland::kNo, ignored) == Reason::kNone;
}

void WakeUps::touch(NodeId node) {
  if (index(node) >= is_noted_.size()) is_noted_.resize(std::max(index(node) + 1, 2 * is_noted_.size()));
  if (is_noted_.test(index(node))) return;
  is_noted_.set(index(node));
  nodes_.push_back(node);
}

void WakeUps::note_queue_freed(QueueId queue, const QueueTable& queues) {
  note(WakeKind::kQueueFreed);
  if (is_queue_noted_.size() < queues.size()) is_queue_noted_.resize(queues.size());
  for (QueueId q = queue; is_set(q) && !is_queue_noted_.test(index(q)); q = queues.parent[index(q)]) {
    is_queue_noted_.set(index(q));
    queues_.push_back(q);
  }
}

bool WakeUps::could_help(const Line& line, const ClusterState& state) {
  if (nodes_.size() > kNodesLookedAt) return true;
  const Shape& shape = state.shapes()[line.shape];
  const size_t first = line.role == kWholeGang ? 0 : static_cast<size_t>(line.role);
  const size_t end = line.role == kWholeGang ? shape.roles.size() : first + 1;
  for (size_t role = first; role < end; ++role) {
    const TaskDemand& demand = shape.roles[role].demand;
    for (const NodeId node : nodes_) {
      if (fits_alone(demand, state, node)) return true;
    }
  }
  return false;
}

bool WakeUps::wakes(const Line& line, const ClusterState& state) {
  const unsigned hits = unsigned{line.verdict.wakes_on} & happened_;
  if ((hits & ~(kRoomKinds | wake_bit(WakeKind::kQueueFreed))) != 0) return true;
  if ((hits & wake_bit(WakeKind::kQueueFreed)) != 0) {
    const QueueId queue = line.verdict.queue;
    if (!is_set(queue) || (index(queue) < is_queue_noted_.size() && is_queue_noted_.test(index(queue)))) return true;
  }
  return (hits & kRoomKinds) != 0 && could_help(line, state);
}

void WakeUps::wake(JobLines& lines, const ClusterState& state) {
  note(WakeKind::kJobChanged);  // of some job, somehow: who sleeps on it is tried in every pass
  chooser_.prepare(state);
  lines.sleeping_masks().for_each([&](size_t mask) {
    if (wakes_all_ == 0 && (mask & happened_) == 0) return;
    woken_.clear();
    for (const LineId id : lines.sleepers(mask)) {
      if (wakes_all_ != 0 || wakes(lines[id], state)) woken_.push_back(id);
    }
    for (const LineId id : woken_) {
      const bool is_room_only =
          wakes_all_ == 0 && (unsigned{lines[id].verdict.wakes_on} & happened_ & ~kRoomKinds) == 0;
      lines.wake(id);
      lines[id].is_retry = is_room_only ? 1 : 0;
    }
  });
}

void WakeUps::clear() {
  happened_ = 0;
  wakes_all_ = 0;
  for (const NodeId node : nodes_) is_noted_.reset(index(node));
  nodes_.clear();
  for (const QueueId queue : queues_) is_queue_noted_.reset(index(queue));
  queues_.clear();
}

}  // namespace weft
