#pragma once

#include "base/units.h"
#include "model/device.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct DeviceNeed {
  DeviceNeedKind kind = DeviceNeedKind::kNone;
  int32_t count = 0;
  int32_t milli = 0;
  int64_t memory_bytes = 0;
  std::string mig_profile;
  bool operator==(const DeviceNeed&) const = default;
};

/// Which devices will do. Empty or zero: any.
struct DeviceConstraint {
  std::vector<std::string> models;
  int64_t memory_bytes_min = 0;
  uint16_t compute_capability_min = 0;  ///< major * 10 + minor
  bool operator==(const DeviceConstraint&) const = default;
};

enum class NumaNeed : uint8_t { kAny, kOneZone };
enum class NetworkNeed : uint8_t { kAny, kRdma, kSameRail };

/// A topology level by name: "nvlink" (one island of one node), "node", or one of TopologySpec::levels. Empty: none.
struct TopologyNeed {
  std::string within;  ///< required
  std::string prefer;  ///< preferred, from that level upward
  bool operator==(const TopologyNeed&) const = default;
};

/// Equal tasks of a job.
struct RoleSpec {
  std::string name = "w";
  int32_t count = 1;
  int32_t min = -1;          ///< -1: count; less: the rest is elastic surplus
  int64_t cpu_milli = 1000;  ///< per task, as are all below
  int64_t memory_bytes = kGiB;
  int64_t disk_bytes = 0;
  DeviceNeed devices;
  DeviceConstraint constraint;
  std::string node;  ///< must run there; empty: anywhere
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::string> tolerations;  ///< taint keys
  NumaNeed numa = NumaNeed::kAny;
  NetworkNeed network = NetworkNeed::kAny;
  TopologyNeed topology;
  bool operator==(const RoleSpec&) const = default;
};

/// A part of a job that belongs together: roles and/or other groups, of which at least `min` must run.
struct GroupSpec {
  std::string name;
  std::vector<std::string> roles;
  std::vector<std::string> groups;
  int32_t min = -1;  ///< -1: all members
  TopologyNeed topology;
  bool operator==(const GroupSpec&) const = default;
};

enum class GangRule : uint8_t {
  kAll,   ///< every role's minimum starts together
  kNone,  ///< tasks start one by one
};

enum class QosClass : uint8_t { kLatency, kGuaranteed, kBestEffort };

/// Speed as a function of tasks, for elastic jobs: speed[i] with i + 1 tasks, relative to one task.
struct Elasticity {
  int32_t step = 1;
  std::vector<double> scaling_curve;
  bool operator==(const Elasticity&) const = default;
};

struct CheckpointSpec {
  Duration every{0};             ///< 0: only when told
  std::optional<Duration> last;  ///< relative to the submission event; negative is past
  Duration save{0};              ///< cost to save
  Duration restore{0};           ///< cost to restore
  int32_t signal = 0;            ///< 0: none
  bool operator==(const CheckpointSpec&) const = default;
};

struct ShardSpec {
  int64_t size_bytes = 0;
  std::vector<std::string> nodes;  ///< that hold a replica
  bool operator==(const ShardSpec&) const = default;
};

/// Which devices a task sees.
enum class DeviceView : uint8_t {
  kJob,   ///< all that the job's tasks on its node hold, in order of the tasks: peers can reach each other
  kTask,  ///< its own
};

/// What an engine runs. The core never reads it.
struct LaunchSpec {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string working_directory;
  std::string
      output_path;  ///< may hold %j (job id), %x (job name), %t (task), %%; empty: the engine keeps both streams, apart
  std::string error_path;  ///< the same; empty: goes where the output goes
  std::string script;      ///< kept text of a submitted script; empty: `command` is the program
  DeviceView device_view = DeviceView::kJob;
  bool operator==(const LaunchSpec&) const = default;
};

inline constexpr int32_t kPriorityTrain = 50;
inline constexpr int32_t kPriorityBuild = 100;
inline constexpr int32_t kPriorityInference = 125;

/// A job as its user writes it.
struct JobSpec {
  std::string name;
  std::string queue = "default";
  std::string user;  ///< empty: the queue's name
  int32_t priority = kPriorityTrain;
  std::optional<bool> preemptible;  ///< unset: priority < 100
  QosClass qos = QosClass::kGuaranteed;
  std::vector<RoleSpec> roles;  ///< at least one
  GangRule gang = GangRule::kAll;
  std::vector<GroupSpec> groups;
  int32_t min_groups = -1;  ///< -1: all top-level members
  TopologyNeed topology;    ///< of the whole job
  Elasticity elasticity;
  Duration estimate = kEndless;  ///< what the scheduler is told
  Duration time_limit = kEndless;
  std::optional<CheckpointSpec> checkpoint;
  std::optional<Duration> grace;  ///< how long a task told to stop may take
  Duration patience{0};
  Duration stale_after = seconds(60);
  std::vector<ShardSpec> data;
  std::optional<Instant> start_no_earlier;
  std::optional<Instant> deadline;
  std::vector<uint32_t> after;  ///< JobIds that must end well first
  uint32_t array_index = 0;
  uint32_t array_size = 0;  ///< 0: not of an array
  int32_t retries = 0;
  LaunchSpec launch;
  bool operator==(const JobSpec&) const = default;
};

}  // namespace weft
