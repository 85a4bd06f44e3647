#pragma once

#include "base/ids.h"
#include "model/job.h"
#include "model/queue.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

/// DeviceNeed and DeviceConstraint with names resolved. `mig` lists, for each device model that has the profile, its
/// index there.
struct DeviceDemand {
  DeviceNeedKind kind = DeviceNeedKind::kNone;
  int32_t count = 0;  ///< whole devices
  int32_t milli = 0;
  int64_t memory_bytes = 0;
  std::vector<std::pair<DeviceModelId, MigProfileIndex>> mig;  ///< sorted by model
  std::vector<DeviceModelId> models;                           ///< sorted; empty: any
  int64_t memory_bytes_min = 0;
  uint16_t compute_capability_min = 0;
  bool operator==(const DeviceDemand&) const = default;
};

/// What one task takes and where it may be.
struct TaskDemand {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t disk_bytes = 0;
  DeviceDemand devices;
  NodeId node = kNone<NodeId>;       ///< pinned there
  std::vector<LabelId> labels;       ///< sorted; the node must carry all
  std::vector<LabelId> tolerations;  ///< sorted; interned taint keys
  NumaNeed numa = NumaNeed::kAny;
  NetworkNeed network = NetworkNeed::kAny;
  bool operator==(const TaskDemand&) const = default;
};

/// A level a gang, group or role asks for. kNvlink and kNode are below the levels of the TopologySpec.
struct LevelNeed {
  enum class Kind : uint8_t { kNone, kNvlink, kNode, kLevel };
  Kind kind = Kind::kNone;
  LevelId level = kNone<LevelId>;
  bool operator==(const LevelNeed&) const = default;
};

struct ScopeNeed {
  LevelNeed within;  ///< required
  LevelNeed prefer;  ///< preferred
  bool operator==(const ScopeNeed&) const = default;
};

struct RoleShape {
  int32_t count = 1;
  int32_t min = 1;
  TaskDemand demand;
  ScopeNeed scope;
  bool operator==(const RoleShape&) const = default;
};

/// A node of the tree of groups. Group 0 is the job itself; children come after their parent.
struct GroupShape {
  int32_t parent = -1;          ///< index of the parent group; -1 for group 0
  std::vector<int32_t> roles;   ///< indices into Shape::roles, direct members only
  std::vector<int32_t> groups;  ///< indices into Shape::groups, direct members only
  int32_t min = 0;              ///< of its members (roles and groups together) that must run
  ScopeNeed scope;
  bool operator==(const GroupShape&) const = default;
};

/// Bytes of the job's dataset that lie on a node.
struct DataLocation {
  NodeId node = kNone<NodeId>;
  int64_t bytes = 0;
  bool operator==(const DataLocation&) const = default;
};

/// Every field of a job that placement, quota or a policy may read except the per-job columns of the job table (user,
/// submission, estimate, limit, deadline, checkpoint age). Jobs with equal shapes are interchangeable in a pass but for
/// their order. Interned by defaulted ==: a new field cannot be forgotten.
struct Shape {
  QueueId queue = kNone<QueueId>;
  int32_t priority = 0;
  bool is_preemptible = true;
  QosClass qos = QosClass::kGuaranteed;
  GangRule gang = GangRule::kAll;
  std::vector<RoleShape> roles;
  std::vector<GroupShape> groups;  ///< at least group 0
  Elasticity elasticity;
  std::vector<DataLocation> data;  ///< sorted by node
  bool operator==(const Shape&) const = default;

  int32_t task_count() const;      ///< over all roles
  int32_t min_task_count() const;  ///< that must start together: 1 where gang is kNone
};

/// A 64-bit key for finding equal shapes; equal shapes have equal keys, unequal ones are told apart by ==.
uint64_t shape_key(const Shape& shape);

/// What one task of `demand` counts against its queue. For kMemory the part of `device_memory_bytes`, rounded down to a
/// unit; for kMig the instance's `mig_compute_slices` of those of its model (7, but 4 on an A30). Both are known only
/// once a device is chosen, or when every allowed model agrees. The two arguments are read for their own kind only.
ResourceVector queue_charge(const TaskDemand& demand, int64_t device_memory_bytes, unsigned mig_compute_slices,
                            unsigned mig_compute_slices_of_model = 7);

}  // namespace weft
