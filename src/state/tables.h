#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "base/units.h"
#include "model/decision.h"
#include "model/node.h"
#include "model/placement.h"
#include "model/queue.h"
#include "model/shape.h"
#include "model/view.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

// The facts as struct-of-arrays. Everybody may read them through ClusterState; only ClusterState and Transaction write.

/// How the devices of a node are joined; nodes built alike share one layout.
struct LinkLayout {
  unsigned device_count = 0;
  std::vector<DeviceMask> islands;       ///< disjoint; every device is in exactly one
  std::vector<uint8_t> quality;          ///< device_count x device_count, symmetric, larger is better
  std::vector<DeviceMask> zone_devices;  ///< by NUMA zone
  bool operator==(const LinkLayout&) const = default;
  uint8_t quality_of(unsigned a, unsigned b) const { return quality[a * device_count + b]; }
};

/// Nodes whose devices are alike: the same models (with the same memory) and sharing mode. Most clusters have a
/// handful.
struct Pool {
  std::vector<DeviceModelId> models;    ///< distinct, sorted; more than one on a mixed node
  int64_t device_memory_bytes_max = 0;  ///< the largest of one device
  int64_t device_memory_bytes_min = 0;  ///< the smallest
  ShareMode share = ShareMode::kExclusive;
  BitSet nodes;  ///< all nodes of the pool, up or not
  uint32_t node_count = 0;
  unsigned devices_max = 0;  ///< the most devices on one node of the pool
  bool operator==(const Pool&) const = default;
  bool is_mixed() const { return models.size() > 1; }
};

/// Rows by NodeId. Masks have bit d for device d.
struct NodeTable {
  // Fixed on arrival
  std::vector<PoolId> pool;  ///< kNone: no devices
  std::vector<uint16_t> device_count;
  std::vector<uint32_t> layout;        ///< index into ClusterState::layouts()
  std::vector<uint32_t> first_device;  ///< rows [first_device, first_device + device_count) of DeviceTable
  std::vector<uint32_t> first_zone;    ///< rows of ZoneTable
  std::vector<uint16_t> zone_count;    ///< at least 1
  std::vector<int64_t> total_cpu_milli;
  std::vector<int64_t> total_memory_bytes;
  std::vector<int64_t> total_disk_bytes;
  std::vector<std::vector<LabelId>> labels;    ///< sorted
  std::vector<std::vector<LabelId>> taints;    ///< sorted; interned keys
  std::vector<std::vector<DomainId>> domains;  ///< by LevelId; kNone where it has none
  // Written as the world changes
  std::vector<uint8_t> is_up;
  std::vector<uint8_t> is_cordoned;
  std::vector<DeviceMask> free;  ///< no task of any kind on it and not in MIG mode
  std::vector<DeviceMask> healthy;
  std::vector<DeviceMask> cordoned;
  std::vector<DeviceMask> shared;  ///< holds fractional tasks
  std::vector<DeviceMask> mig;     ///< in MIG mode
  std::vector<int64_t> free_cpu_milli;
  std::vector<int64_t> free_memory_bytes;
  std::vector<int64_t> free_disk_bytes;
  /// How many tasks hold whole devices, by how many each: byte k - 1 counts those with k devices (k = 1 … 7), byte 7
  /// those with 8 or more. Transaction::take() and give() of a kWhole placement keep it (one 64-bit word: one undo
  /// record). For the score "clustering".
  std::vector<uint64_t> whole_tasks;
  std::vector<int32_t> load_milli;  ///< measured device use, -1 where nobody reported

  size_t size() const { return pool.size(); }
  bool operator==(const NodeTable&) const = default;
};

/// A MIG instance of a device whose instances are fixed.
struct FixedInstance {
  MigProfileIndex profile = kNoProfile;
  uint8_t start = 0;
  bool operator==(const FixedInstance&) const = default;
};

/// Rows by NodeTable::first_device + device index.
struct DeviceTable {
  std::vector<DeviceModelId> model;
  std::vector<int64_t> memory_bytes;
  std::vector<int32_t> free_milli;  ///< 1000 when unshared
  std::vector<int64_t> free_memory_bytes;
  std::vector<uint16_t> share_count;      ///< fractional tasks on it
  std::vector<uint8_t> mig_occupied;      ///< bit s: memory slice s belongs to an instance in use
  std::vector<uint8_t> mig_compute_used;  ///< compute slices in use
  std::vector<uint16_t> mig_fixed_busy;   ///< bit i: fixed instance i is in use
  std::vector<MigCut> mig_cut;
  std::vector<std::vector<FixedInstance>> mig_fixed;

  size_t size() const { return model.size(); }
  bool operator==(const DeviceTable&) const = default;
};

/// Rows by NodeTable::first_zone + zone. Only tasks bound to one zone take from free_cpu_milli; the others float inside
/// the node's total.
struct ZoneTable {
  std::vector<int64_t> total_cpu_milli;
  std::vector<int64_t> free_cpu_milli;
  std::vector<DeviceMask> devices;
  bool operator==(const ZoneTable&) const = default;
};

/// A run of consecutive NodeIds.
struct NodeRange {
  uint32_t first = 0;
  uint32_t count = 0;
  bool operator==(const NodeRange&) const = default;
};

/// Domain 0 is the whole cluster. A level's domains hold disjoint nodes; a parent holds all nodes of its children.
struct Domain {
  LevelId level = kNone<LevelId>;  ///< kNone: the whole cluster
  DomainId parent = kNone<DomainId>;
  std::vector<NodeRange> ranges;  ///< ascending; one where nodes arrived in topology order
  uint32_t node_count = 0;
  bool operator==(const Domain&) const = default;
};

/// Rows by QueueId. Usage counts what runs or is held, for the queue and all its ancestors.
struct QueueTable {
  std::vector<QueueSpec> spec;
  std::vector<QueueId> parent;  ///< kNone: a top-level queue
  std::vector<uint8_t> has_children;
  std::vector<ResourceVector> usage;
  std::vector<ResourceVector> firm_usage;  ///< the part by jobs that are not preemptible
  size_t size() const { return spec.size(); }
  bool operator==(const QueueTable&) const = default;
};

/// Rows by JobId. Ended jobs keep their row, without tasks.
struct JobTable {
  std::vector<JobState> state;
  std::vector<ShapeId> shape;
  std::vector<UserId> user;
  std::vector<Instant> submitted;
  std::vector<Instant> started;
  std::vector<Instant> expected_end;  ///< kNever: not running, or of endless estimate
  std::vector<Duration> estimate;
  std::vector<uint32_t> attempt;
  std::vector<TaskId> first_task;
  std::vector<uint32_t> task_count;
  size_t size() const { return state.size(); }
  bool operator==(const JobTable&) const = default;
};

/// Rows by TaskId.
struct TaskTable {
  std::vector<TaskState> state;
  std::vector<TaskPlacement> placement;  ///< meaningful unless pending or ended
  std::vector<JobId> job;
  std::vector<uint16_t> role;  ///< index into Shape::roles
  size_t size() const { return state.size(); }
  bool operator==(const TaskTable&) const = default;
};

}  // namespace weft
