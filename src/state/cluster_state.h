#pragma once

#include "base/bits.h"
#include "base/result.h"
#include "model/event.h"
#include "model/vocabulary.h"
#include "state/capacity_index.h"
#include "state/shape_table.h"
#include "state/tables.h"
#include "state/timeline.h"
#include "state/undo_log.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace weft {

class Transaction;
struct NodeArrival;

/// A place that is taken and charged, and whose task is not there yet.
struct TakenPlace {
  ShapeId shape = kNone<ShapeId>;
  uint16_t role = 0;
  TaskPlacement at;
};

/// All facts that decisions are made of, and the indices over them. One thread. No clock, no I/O.
///
/// Invariants (compared with slow twins by audit()):
/// 1. A device is whole-free, or shared, or in MIG mode, or owned by exactly one task; never two of these.
/// 2. available(n) = free & healthy & ~cordoned, and 0 where the node is down or cordoned.
/// 3. Every index equals what a rebuild from the tables gives, after every write, commit and rollback.
/// 4. Usage of a queue = sum of the charges of the tasks that are held, running or releasing in it and below.
///
/// Who writes: structure (nodes, queues, health) by the scheduler through the functions below, outside of a
/// transaction; everything else through a Transaction only.
class ClusterState {
 public:
  ClusterState();
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;
  ~ClusterState();

  // Structure. All return an Error that says what was wrong with the spec and leave the state untouched then.
  Result<void> define_topology(const TopologySpec& spec);  ///< before the first node
  Result<QueueId> define_queue(const QueueSpec& spec);  ///< parents first; a known name: its guarantee, limit, … change
  Result<NodeId> add_node(const NodeSpec& spec);        ///< O(nodes / 64) per call; a known name is an error
  void set_node_up(NodeId node, uint8_t is_up);
  void set_node_cordoned(NodeId node, uint8_t is_cordoned);
  void set_device_healthy(NodeId node, unsigned device, uint8_t is_healthy);
  void set_device_cordoned(NodeId node, unsigned device, uint8_t is_cordoned);
  void set_node_load(NodeId node, int32_t load_milli);

  /// Resolves names of a job into a shape. Errors: unknown queue, a queue with children, unknown device model, level,
  /// role or node, a profile that no allowed model has, numbers out of range.
  Result<Shape> resolve(const JobSpec& job);
  ShapeId intern(Shape shape);
  /// A row for a job in state kPending with all its tasks pending. A shape of kNone (a job whose spec was wrong) gives
  /// a row without tasks.
  JobId add_job(ShapeId shape, UserId user, Instant submitted, Duration estimate);
  /// Frees the task rows of a job that has ended. Requires: no task holds anything.
  void retire_tasks(JobId job);

  // Facts
  const Vocabulary& names() const { return names_; }
  Vocabulary& names() { return names_; }
  const NodeTable& nodes() const { return nodes_; }
  const DeviceTable& devices() const { return devices_; }
  const ZoneTable& zones() const { return zones_; }
  const QueueTable& queues() const { return queues_; }
  const JobTable& jobs() const { return jobs_; }
  const TaskTable& tasks() const { return tasks_; }
  const ShapeTable& shapes() const { return shapes_; }
  const std::vector<LinkLayout>& layouts() const { return layouts_; }
  const std::vector<Pool>& pools() const { return pools_; }
  const std::vector<Domain>& domains() const { return domains_; }
  std::span<const DomainId> domains_at(LevelId level) const { return domains_by_level_[index(level)]; }
  size_t level_count() const { return domains_by_level_.size(); }

  // Indices
  const CapacityIndex& capacity() const { return capacity_; }
  const Timeline& timeline() const { return timeline_; }

  /// Whole devices that a task could take now.
  DeviceMask available(NodeId node) const {
    const size_t n = index(node);
    return is_schedulable(node) ? nodes_.free[n] & nodes_.healthy[n] & ~nodes_.cordoned[n] : 0;
  }
  /// Devices that may be used at all (free or not): healthy, not cordoned, on a schedulable node.
  DeviceMask usable(NodeId node) const {
    const size_t n = index(node);
    return is_schedulable(node) ? nodes_.healthy[n] & ~nodes_.cordoned[n] : 0;
  }
  /// Whether a task could be just there: what it takes is free, whether or not it may be used.
  bool has_room_at(const TaskDemand& demand, const TaskPlacement& at) const;
  bool is_schedulable(NodeId node) const {
    return nodes_.is_up[index(node)] != 0 && nodes_.is_cordoned[index(node)] == 0;
  }

  /// The nodes changed by writes (and undone writes), oldest first, as a log: a cache that was right at change_count()
  /// == c is right again once it has refreshed changed_node(c) … changed_node(change_count() - 1). When a cache is
  /// further behind than changes_kept(), it must refresh everything.
  uint64_t change_count() const { return change_count_; }
  uint64_t changes_kept() const;
  NodeId changed_node(uint64_t i) const { return change_ring_[i & (change_ring_.size() - 1)]; }

  /// Grows when a fixed property of any node changes (arrival, labels, health, cordon): what was derived from fixed
  /// columns is stale.
  uint64_t structure_version() const { return structure_version_; }

  /// Differences between every index and its slow twin, and broken invariants; empty when all is right. O(everything).
  /// `beside`: what is taken beside what the tasks hold.
  std::vector<std::string> audit(std::span<const TakenPlace> beside = {}) const;
  /// The part of audit() that does not look at tasks: right also while devices are taken that no task of the table owns
  /// (a what-if).
  std::vector<std::string> audit_indices() const;

  NodeView view_node(NodeId node) const;

 private:
  friend class Transaction;
  friend class Auditor;  // the slow twins read what has no accessor

  // Node arrival
  DomainId find_or_add_domain(std::span<const LabelId> path, size_t level);
  std::vector<DomainId> domains_of(const std::vector<std::pair<std::string, std::string>>& labels);
  PoolId find_or_add_pool(const NodeArrival& arrival, ShareMode share);
  uint32_t find_or_add_layout(LinkLayout layout);
  void append_node_row(const NodeSpec& spec, NodeArrival& arrival);
  void append_devices(const NodeSpec& spec, NodeArrival& arrival);
  void join_domains(NodeId node);
  void grow_change_ring();

  void set_device_bit(std::vector<DeviceMask>& column, NodeId node, unsigned device, uint8_t value);
  bool has_live_jobs(QueueId queue) const;
  uint32_t claim_task_rows(uint32_t count);
  int32_t device_free_milli(size_t node, unsigned device) const;

  // Upkeep of the indices after a write to a column of one node: the same functions for a forward write and for its
  // undoing.

  /// After a write to free.
  void reindex_free(size_t node) { capacity_.count_free(node, nodes_.free[node]); }
  /// After a write to shared, or note_room().
  void reindex_shares(size_t node) { capacity_.count_shares(node, nodes_.shared[node]); }
  /// After a write to a device's free_milli or free_memory_bytes.
  void note_room(size_t node, unsigned device);
  /// After a write to is_up, is_cordoned, healthy or cordoned.
  void reindex_node(size_t node);
  void log_change(NodeId node) { change_ring_[change_count_++ & (change_ring_.size() - 1)] = node; }
  /// The end of every function that changes a fixed property.
  void write_structure(NodeId node);

  Vocabulary names_;
  NodeTable nodes_;
  DeviceTable devices_;
  ZoneTable zones_;
  QueueTable queues_;
  JobTable jobs_;
  TaskTable tasks_;
  ShapeTable shapes_;
  std::vector<LinkLayout> layouts_;
  std::vector<Pool> pools_;
  std::vector<Domain> domains_;
  std::vector<std::vector<DomainId>> domains_by_level_;
  std::map<std::vector<uint32_t>, DomainId> domain_of_path_;  ///< by level, then its label and all wider ones
  std::map<uint64_t, std::vector<uint32_t>> layouts_by_key_;
  std::map<uint32_t, std::vector<uint32_t>> free_task_rows_;  ///< runs of retired rows by length
  ResourceVector capacity_total_;                             ///< of all nodes, without devices: keeps sums in range
  int64_t disk_total_ = 0;
  CapacityIndex capacity_;
  Timeline timeline_;
  UndoLog undo_;
  std::vector<NodeId> change_ring_;  ///< a power of two
  uint64_t change_count_ = 0;
  uint64_t first_change_ = 0;  ///< what came before was lost when the ring grew
  uint64_t structure_version_ = 0;
  bool has_open_transaction_ = false;
};

}  // namespace weft
