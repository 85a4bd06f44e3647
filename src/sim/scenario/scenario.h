#pragma once

#include "base/units.h"
#include "model/event.h"
#include "sim/scenario/policy_wish.h"
#include "sim/scenario/yaml.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace weft {
class DeviceCatalogue;
}

namespace weft::scenario {

// A scenario as plain values, every name resolved. Nodes and jobs are numbered in the file's order, copies written out;
// those of one `count` or `copies` share one description.

using NodeIndex = uint32_t;
using JobIndex = uint32_t;
using TaskIndex = int32_t;  ///< job-local: roles in order

inline constexpr uint32_t kNodesMax = 200'000;
inline constexpr uint32_t kJobsMax = 200'000;
inline constexpr int64_t kTasksMax = 1'000'000;
inline constexpr int64_t kNamesMax = 1'000'000;  ///< nodes and jobs of one file, all documents together
inline constexpr Duration kTimeMax =
    hours(24 * 3650);  ///< the longest time that may be written, and the longest a scenario may take

/// Some number of nodes that differ in their names only.
struct NodeGroup {
  NodeSpec spec;  ///< its name is the stem where there is a count
  NodeIndex first = 0;
  uint32_t count = 1;
  uint8_t is_numbered = 0;
  Place at;
};

/// The models that a scenario can name.
const DeviceCatalogue& known_devices();

/// Where a task runs already. MIG instances are named by profile; `mig_start` is -1 where it is not named.
struct TaskSeat {
  TaskIndex task = 0;
  NodeIndex node = 0;
  DeviceMask devices = 0;
  uint8_t numa_zone = kNoZone;
  int8_t mig_start = -1;
};

/// Some number of jobs that differ in their names only.
struct JobGroup {
  JobSpec spec;  ///< its name is the stem where there are copies; `after` is empty, see below
  JobIndex first = 0;
  uint32_t count = 1;
  uint8_t is_numbered = 0;
  Place at;
  std::vector<JobIndex> after;
  Duration runtime = kEndless;  ///< kEndless: it never finishes by itself
  std::vector<TaskSeat> seats;
  std::optional<Duration> submitted;  ///< from the start, not after it
  std::optional<Duration> started;
};

enum class StateWord : uint8_t { kPending, kHeld, kRunning, kReleasing, kDone, kFailed, kCancelled, kRejected };
inline constexpr std::string_view kStateWords[] = {"pending", "held",   "running",   "releasing",
                                                   "done",    "failed", "cancelled", "rejected"};

/// "3", ">=2", "<=2", ">2", "<2".
struct CountMatch {
  enum class Kind : uint8_t { kEqual, kAtLeast, kAtMost, kMore, kLess };
  Kind kind = Kind::kEqual;
  int64_t value = 0;
  bool holds(int64_t found) const;
  std::string text() const;
};

/// A device as `devices` lists it; `profile` is empty for "device 3, however it is used", and `start` -1 where it is
/// not named.
struct DeviceWord {
  uint8_t device = 0;
  std::string profile;
  int8_t start = -1;
};

struct Expectation;

struct JobCheck {
  JobIndex job = 0;
  std::optional<StateWord> state;
  std::optional<std::vector<NodeIndex>> nodes;
  std::vector<std::pair<TaskIndex, NodeIndex>> tasks;
  std::vector<std::pair<TaskIndex, std::vector<DeviceWord>>> devices;
  std::optional<CountMatch> running;
  std::optional<CountMatch> pending;
  std::optional<uint8_t> is_moved;
};

/// A job, or the part of it that one role or group is.
struct JobPart {
  JobIndex job = 0;
  std::vector<TaskIndex> tasks;  ///< sorted; all of the job's where it is named whole
  std::string text;              ///< as written
};
struct TogetherCheck {
  std::vector<JobPart> parts;
  std::string level;  ///< "device", "nvlink", "node" or a level of the topology
};
struct EvictionsCheck {
  CountMatch count;
};
struct MovesCheck {
  CountMatch count;
};
struct EvictedCheck {
  std::vector<std::pair<JobIndex, std::optional<TaskIndex>>> who;
};
struct WhyCheck {
  JobIndex job = 0;
  std::vector<std::string> words;
};
struct OneOfCheck {
  std::vector<Expectation> alternatives;
};
struct CountCheck {
  std::vector<std::pair<StateWord, CountMatch>> counts;
  std::vector<JobIndex> of;
};

struct Check;

/// All of the checks hold.
struct Expectation {
  Place at;
  std::vector<Check> checks;
};

struct Check {
  Place at;
  std::variant<JobCheck, TogetherCheck, EvictionsCheck, MovesCheck, EvictedCheck, WhyCheck, OneOfCheck, CountCheck>
      body;
};

struct SubmitStep {
  std::vector<uint32_t> groups;
};  ///< indices into Scenario::jobs
struct RunCyclesStep {
  int64_t count = 1;
};
struct RunUntilStableStep {};
struct RunForStep {
  Duration time;
};
struct FinishStep {
  JobIndex job = 0;
};
struct CrashStep {
  JobIndex job = 0;
  TaskIndex task = -1;
};  ///< -1: the whole job
struct CancelStep {
  JobIndex job = 0;
};
struct FaultStep {
  enum class Kind : uint8_t { kFail, kRecover, kCordon, kUncordon };
  Kind kind = Kind::kFail;
  NodeIndex node = 0;
  int device = -1;  ///< -1: the whole node
};
struct StickStep {
  enum class Kind : uint8_t { kStick, kUnstick };
  Kind kind = Kind::kStick;
  JobIndex job = 0;
  TaskIndex task = 0;
};
struct ScaleStep {
  std::vector<std::pair<JobIndex, int64_t>> wishes;
};
struct ExpectStep {
  Expectation expectation;
};
struct NeverStep {
  Expectation expectation;
};

struct Step {
  Place at;
  std::variant<SubmitStep, RunCyclesStep, RunUntilStableStep, RunForStep, FinishStep, CrashStep, CancelStep, FaultStep,
               StickStep, ScaleStep, ExpectStep, NeverStep>
      body;
};

struct Scenario {
  std::string title;
  std::vector<std::string> tags;
  Place at;
  TopologySpec topology;
  std::vector<NodeGroup> nodes;
  uint32_t node_count = 0;
  std::vector<QueueSpec> queues;
  PolicyWish policy;
  std::vector<JobGroup> jobs;   ///< those of `jobs` first, then those that steps submit
  uint32_t initial_groups = 0;  ///< how many of `jobs` are there at the start
  uint32_t job_count = 0;
  std::vector<Step> steps;

  const NodeGroup& node_group(NodeIndex node) const;
  std::string node_name(NodeIndex node) const;
  const JobGroup& job_group(JobIndex job) const;
  std::string job_name(JobIndex job) const;
  /// "w/0"
  std::string task_name(JobIndex job, TaskIndex task) const;
};

/// How many tasks the roles of a job have together; roles of less than one count as none.
TaskIndex task_count(const JobSpec& job);

/// One document of a file: a scenario, or what is wrong with it.
struct ScenarioDocument {
  Place at;
  std::string title;                 ///< empty where it could not be read
  std::optional<Scenario> scenario;  ///< only where there are no problems
  std::vector<Problem> problems;
};

/// Reads and checks every document of a scenario file. Never throws; text without any document is one document with a
/// problem.
std::vector<ScenarioDocument> read_scenarios(std::string_view text);

}  // namespace weft::scenario
