#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/decision.h"
#include "model/placement.h"
#include "model/shape.h"
#include "model/view.h"
#include "state/undo_log.h"

#include <cstdint>

namespace weft {

class ClusterState;

/// The undo log of one ClusterState's transactions, reused from one to the next so that nothing is allocated after
/// warm-up. Everything speculative goes through it: gang placement, what-if, eviction plans, reservations.
///
/// Invariants:
/// 1. At most one transaction of a state is open at a time; structure does not change meanwhile.
/// 2. rollback(m) restores every column and index to what it was at mark(), exactly; it cannot fail and allocates
/// nothing.
/// 3. Destruction without commit() rolls everything back.
/// Cost: take/give O(devices of the task + levels); rollback the same per undone write.
class Transaction {
 public:
  using Mark = uint32_t;

  explicit Transaction(ClusterState& state);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  const ClusterState& state() const { return state_; }
  Mark mark() const;
  void rollback(Mark mark);
  /// Keeps all writes since construction or the last commit.
  void commit();

  /// The node's CPUs, memory, disk, zone and devices go to a task. Requires: `at` fits what is free (checked). Devices
  /// must be available unless `at` states a fact of an adopted task on an unhealthy device. Counts a kWhole placement
  /// in NodeTable::whole_tasks.
  void take(const TaskDemand& demand, const TaskPlacement& at);
  /// The reverse. Requires: taken before with the same values.
  void give(const TaskDemand& demand, const TaskPlacement& at);
  /// Adds (or with a negative vector removes) usage of a queue and all its ancestors.
  void charge(QueueId queue, const ResourceVector& amount, uint8_t is_preemptible);

  /// Records where a task is (or will be) and its state; take() and charge() are separate.
  void set_task(TaskId task, TaskState to, const TaskPlacement& at);
  void set_task_state(TaskId task, TaskState to);
  void set_job_state(JobId job, JobState to);
  /// Start and expected end (kNever: none); keeps the timeline.
  void set_job_times(JobId job, Instant started, Instant expected_end);
  void set_job_attempt(JobId job, uint32_t attempt);

 private:
  enum class Direction : uint8_t { kTake, kGive };

  void save(UndoKind kind, uint32_t id, uint8_t part, uint64_t old);
  void move(const TaskDemand& demand, const TaskPlacement& at, Direction direction);
  void move_totals(const TaskDemand& demand, const TaskPlacement& at, Direction direction);
  void move_whole(size_t node, DeviceMask devices, Direction direction);
  void move_share(const TaskPlacement& at, Direction direction);
  void move_instance(const TaskPlacement& at, Direction direction);
  static void move_amount(int64_t& free, const int64_t& total, int64_t amount, Direction direction);
  void add_usage(QueueId queue, uint8_t part, ResourceVector& usage, const ResourceVector& amount);
  void write_expected_end(JobId job, Instant end);
  void restore_node(const Undo& undo);
  void restore_book(const Undo& undo);

  ClusterState& state_;
};

}  // namespace weft
