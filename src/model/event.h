#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/job.h"
#include "model/node.h"
#include "model/placement.h"
#include "model/queue.h"

#include <string>
#include <variant>
#include <vector>

namespace weft {

// What the world tells the core. An event's ids were given by the core earlier (NodeId and JobId are dense, in order of
// NodeAdded and JobSubmitted/JobAdopted events); an id that the core never gave, or a stale one, is ignored and
// counted, never trusted.

/// Before the first node.
struct TopologyDefined {
  TopologySpec topology;
  bool operator==(const TopologyDefined&) const = default;
};
/// Parents first.
struct QueueDefined {
  QueueSpec queue;
  bool operator==(const QueueDefined&) const = default;
};
/// A device model that the catalogue lacks (a trace's own names), before the first node or job that names it. A known
/// name changes nothing.
struct DeviceModelDefined {
  DeviceModel model;
  bool operator==(const DeviceModelDefined&) const = default;
};
struct NodeAdded {
  NodeSpec node;
  bool operator==(const NodeAdded&) const = default;
};
struct NodeDown {
  NodeId node;
  bool operator==(const NodeDown&) const = default;
};
struct NodeUp {
  NodeId node;
  bool operator==(const NodeUp&) const = default;
};
struct NodeCordoned {
  NodeId node;
  bool operator==(const NodeCordoned&) const = default;
};
struct NodeUncordoned {
  NodeId node;
  bool operator==(const NodeUncordoned&) const = default;
};
struct DeviceFailed {
  NodeId node;
  uint8_t device;
  bool operator==(const DeviceFailed&) const = default;
};
struct DeviceRecovered {
  NodeId node;
  uint8_t device;
  bool operator==(const DeviceRecovered&) const = default;
};
/// Measured use of a node's devices, 0 … 1000 each, for load balancing.
struct NodeLoadReported {
  NodeId node;
  int32_t device_load_milli;
  bool operator==(const NodeLoadReported&) const = default;
};

struct JobSubmitted {
  JobSpec job;
  bool operator==(const JobSubmitted&) const = default;
};
/// A fact, not checked against quota or gang: where tasks of a job already run. `tasks` are job-local task indices
/// (roles in order).
struct AdoptedTask {
  int32_t task = 0;
  NodeId node = kNone<NodeId>;
  DeviceMask devices = 0;  ///< 0: not named, the lowest with room
  uint8_t numa_zone = kNoZone;
  int8_t mig_start = -1;  ///< -1: not named
  bool operator==(const AdoptedTask&) const = default;
};
struct JobAdopted {
  JobSpec job;
  Instant submitted;
  Instant started;
  std::vector<AdoptedTask> tasks;
  bool operator==(const JobAdopted&) const = default;
};
struct JobCancelled {
  JobId job;
  bool operator==(const JobCancelled&) const = default;
};
struct JobHeld {
  JobId job;
  bool operator==(const JobHeld&) const = default;
};
struct JobReleased {
  JobId job;
  bool operator==(const JobReleased&) const = default;
};

/// The engine's answers. `attempt` is the number that the command carried; answers to an older attempt are stale.
struct HoldAccepted {
  JobId job;
  uint32_t attempt;
  bool operator==(const HoldAccepted&) const = default;
};
struct HoldRefused {
  JobId job;
  uint32_t attempt;
  std::string reason;
  bool operator==(const HoldRefused&) const = default;
};
/// Every task of the attempt runs.
struct GangStarted {
  JobId job;
  uint32_t attempt;
  bool operator==(const GangStarted&) const = default;
};
struct StartFailed {
  JobId job;
  uint32_t attempt;
  std::string reason;
  bool operator==(const StartFailed&) const = default;
};
enum class TaskOutcome : uint8_t { kDone, kFailed, kStopped, kLost };
struct TaskEnded {
  JobId job;
  uint32_t attempt;
  int32_t task;
  TaskOutcome outcome;
  int32_t exit_status;
  bool operator==(const TaskEnded&) const = default;
};

/// Every task of the attempt that had not ended has ended, and all alike: for engines that know only jobs (the
/// simulator).
struct GangEnded {
  JobId job;
  uint32_t attempt;
  TaskOutcome outcome;
  int32_t exit_status;
  bool operator==(const GangEnded&) const = default;
};
/// How much of its run a job that has not ended still has before it, as its engine or master knows: from now on that
/// counts, not the estimate. Without end: nothing is known any more.
struct ProgressReported {
  JobId job;
  Duration remaining;
  bool operator==(const ProgressReported&) const = default;
};

/// The user wishes for so many tasks of an elastic job, over all its roles: as many as its minimum at least, and no
/// more than it has.
struct JobScaled {
  JobId job;
  int32_t tasks;
  bool operator==(const JobScaled&) const = default;
};

/// Only time passed.
struct Tick {
  bool operator==(const Tick&) const = default;
};

using EventBody = std::variant<Tick, TopologyDefined, QueueDefined, NodeAdded, NodeDown, NodeUp, NodeCordoned,
                               NodeUncordoned, DeviceFailed, DeviceRecovered, NodeLoadReported, JobSubmitted,
                               JobAdopted, JobCancelled, JobHeld, JobReleased, HoldAccepted, HoldRefused, GangStarted,
                               StartFailed, TaskEnded, DeviceModelDefined, GangEnded, ProgressReported, JobScaled>;

/// Time never runs backwards: an event whose `at` is before the core's present is taken to happen now.
struct Event {
  Instant at;
  EventBody body;
  bool operator==(const Event&) const = default;
};

}  // namespace weft
