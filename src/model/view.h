#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/decision.h"
#include "model/queue.h"
#include "model/verdict.h"

#include <string>
#include <vector>

namespace weft {

// Copies of the core's state for people: the CLI, the API and tests read these, never the state itself.

enum class TaskState : uint8_t {
  kPending,
  kHeld,
  kRunning,
  kReleasing,
  kLeaving,  ///< releasing, and its place is planned on already; views say kReleasing
  kDone,
  kFailed,
  kCancelled
};
/// The task is somewhere, or a place is held for it.
constexpr bool is_live(TaskState s) { return s >= TaskState::kHeld && s <= TaskState::kLeaving; }
/// It has been told to stop.
constexpr bool is_stopping(TaskState s) { return s == TaskState::kReleasing || s == TaskState::kLeaving; }

struct TaskView {
  std::string name;  ///< "w/0"
  TaskState state = TaskState::kPending;
  TaskPlacement placement;  ///< meaningful when held, running or releasing
  std::string node;
};

struct JobView {
  JobId id = kNone<JobId>;
  std::string name;
  std::string queue;
  std::string user;
  JobState state = JobState::kPending;
  int32_t priority = 0;
  Instant submitted;
  Instant started = kNever;  ///< of the present or last attempt
  Instant ended = kNever;
  uint32_t attempt = 0;
  int32_t exit_status = 0;  ///< of the first task that failed, else 0
  ResourceVector request;   ///< of the whole job
  std::vector<TaskView> tasks;
  Verdict verdict;  ///< why it waits
  std::string why;  ///< verdict_text()
};

struct NodeView {
  NodeId id = kNone<NodeId>;
  std::string name;
  bool is_up = true;
  bool is_cordoned = false;
  std::string device_model;  ///< of the first device; empty without devices
  int32_t device_count = 0;
  DeviceMask free_devices = 0;  ///< whole and available
  DeviceMask healthy_devices = 0;
  std::vector<int32_t> device_free_milli;  ///< per device: 1000 when whole and available
  int64_t cpu_milli = 0, free_cpu_milli = 0;
  int64_t memory_bytes = 0, free_memory_bytes = 0;
  std::vector<std::string> domains;  ///< by level, empty where it has none
};

struct QueueView {
  QueueId id = kNone<QueueId>;
  std::string name;
  std::string parent;
  ResourceVector guarantee, limit, usage;
  int32_t pending = 0, running = 0;
};

/// Fragmentation of the free GPUs against what jobs ask for (the FGD measure; formula in placement/fragmentation.h).
struct FragmentationView {
  int64_t gpu_milli_total = 0;
  int64_t gpu_milli_free = 0;
  double fragment_milli = 0;  ///< expected free milli-GPU that the next task cannot use
  double ratio() const { return gpu_milli_free > 0 ? fragment_milli / static_cast<double>(gpu_milli_free) : 0; }
};

struct ClusterView {
  Instant now;
  uint64_t decision_hash = 0;
  uint64_t decision_count = 0;
  uint64_t ignored_event_count = 0;
  int32_t nodes = 0, nodes_available = 0;
  int64_t gpus = 0, gpus_free = 0;
  int64_t jobs_pending = 0, jobs_running = 0, jobs_ended = 0;
  FragmentationView fragmentation;
};

}  // namespace weft
