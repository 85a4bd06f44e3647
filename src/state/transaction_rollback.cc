#include "base/check.h"
#include "state/cluster_state.h"
#include "state/transaction.h"

namespace weft {

void Transaction::rollback(Mark mark) {
  std::vector<Undo>& entries = state_.undo_.entries;
  WEFT_CHECK(mark <= entries.size(), "a mark is of this transaction, after its last commit");
  uint32_t changed = static_cast<uint32_t>(kNone<NodeId>);
  while (entries.size() > mark) {
    const Undo undo = entries.back();
    entries.pop_back();
    if (!is_node_write(undo.kind)) {
      restore_book(undo);
      continue;
    }
    restore_node(undo);
    if (undo.id != changed)
      state_.log_change(static_cast<NodeId>(undo.id));  // nobody can have read between two of one node
    changed = undo.id;
  }
}

void Transaction::restore_node(const Undo& undo) {
  NodeTable& nodes = state_.nodes_;
  DeviceTable& devices = state_.devices_;
  const size_t n = undo.id;
  const auto amount = static_cast<int64_t>(undo.old);
  switch (undo.kind) {
    case UndoKind::kNodeFree:
      nodes.free[n] = undo.old;
      state_.reindex_free(n);
      break;
    case UndoKind::kNodeShared:
      nodes.shared[n] = undo.old;
      state_.reindex_shares(n);
      break;
    case UndoKind::kNodeCpu: nodes.free_cpu_milli[n] = amount; break;
    case UndoKind::kNodeMemory: nodes.free_memory_bytes[n] = amount; break;
    case UndoKind::kNodeDisk: nodes.free_disk_bytes[n] = amount; break;
    case UndoKind::kNodeWholeTasks: nodes.whole_tasks[n] = undo.old; break;
    case UndoKind::kZoneCpu: state_.zones_.free_cpu_milli[nodes.first_zone[n] + undo.part] = amount; break;
    case UndoKind::kDeviceShare:
      devices.free_milli[nodes.first_device[n] + undo.part] = static_cast<int32_t>(undo.old & 0xffffffffU);
      devices.share_count[nodes.first_device[n] + undo.part] = static_cast<uint16_t>(undo.old >> 32);
      state_.note_room(n, undo.part);
      state_.reindex_shares(n);
      break;
    case UndoKind::kDeviceMemory:
      devices.free_memory_bytes[nodes.first_device[n] + undo.part] = amount;
      state_.note_room(n, undo.part);
      state_.reindex_shares(n);
      break;
    case UndoKind::kDeviceMig:
      devices.mig_occupied[nodes.first_device[n] + undo.part] = static_cast<uint8_t>(undo.old);
      devices.mig_compute_used[nodes.first_device[n] + undo.part] = static_cast<uint8_t>(undo.old >> 8);
      devices.mig_fixed_busy[nodes.first_device[n] + undo.part] = static_cast<uint16_t>(undo.old >> 16);
      break;
    default: WEFT_CHECK(false, "a write to a node"); break;
  }
}

void Transaction::restore_book(const Undo& undo) {
  const auto amount = static_cast<int64_t>(undo.old);
  const auto usage = [&]() -> ResourceVector& {
    return undo.part == 0 ? state_.queues_.usage[undo.id] : state_.queues_.firm_usage[undo.id];
  };
  switch (undo.kind) {
    case UndoKind::kUsageGpu: usage().gpu_units = amount; break;
    case UndoKind::kUsageCpu: usage().cpu_milli = amount; break;
    case UndoKind::kUsageMemory: usage().memory_bytes = amount; break;
    case UndoKind::kTask:
      state_.tasks_.placement[undo.id] = state_.undo_.placements.back();
      state_.undo_.placements.pop_back();
      state_.tasks_.state[undo.id] = static_cast<TaskState>(undo.old);
      break;
    case UndoKind::kTaskState: state_.tasks_.state[undo.id] = static_cast<TaskState>(undo.old); break;
    case UndoKind::kJobState: state_.jobs_.state[undo.id] = static_cast<JobState>(undo.old); break;
    case UndoKind::kJobStarted: state_.jobs_.started[undo.id] = Instant{amount}; break;
    case UndoKind::kJobExpectedEnd: write_expected_end(static_cast<JobId>(undo.id), Instant{amount}); break;
    case UndoKind::kJobAttempt: state_.jobs_.attempt[undo.id] = static_cast<uint32_t>(undo.old); break;
    default: WEFT_CHECK(false, "a write to a queue, task or job"); break;
  }
}

}  // namespace weft
