#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::service {

// What the API tells about jobs, nodes and the cluster, as plain values: the server fills and writes them, the client
// reads them back. Times are milliseconds since 1970, 0 (null in JSON) where the moment has not come.

struct TaskInfo {
  int32_t index = 0;
  std::string name;  ///< "w/0"
  std::string state;
  std::string node;                    ///< empty while it has none
  std::vector<int32_t> gpus;           ///< indices on that node
  std::vector<std::string> gpu_uuids;  ///< of real ones
  int32_t pid = 0;
  std::optional<int32_t> exit_status;
  bool operator==(const TaskInfo&) const = default;
};

struct JobInfo {
  int64_t id = 0;
  std::string name;
  std::string user;
  std::string queue;
  std::string state;  ///< a word of to_text(JobState)
  int32_t priority = 0;
  uint32_t attempt = 0;
  int64_t submitted_ms = 0;
  int64_t started_ms = 0;
  int64_t ended_ms = 0;
  std::optional<int64_t> time_limit_ms;  ///< nothing: it has none
  std::optional<int32_t> exit_status;    ///< once it has ended: of the task that decided it; 128 + signal
  int32_t gpus = 0;                      ///< of all tasks together, as are CPUs and memory
  std::vector<std::string> gpu_models;   ///< asked for, as written: any of these; empty: any at all
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::vector<std::string> command;
  std::string directory;
  std::string output;  ///< of task 0
  std::string error;
  bool is_output_shared = false;  ///< all its tasks write to these
  std::string reason;             ///< one word for why it waits; empty when it does not
  std::string why;                ///< a sentence about its state
  std::string message;            ///< of the engine, when something went wrong
  std::vector<TaskInfo> tasks;
  bool operator==(const JobInfo&) const = default;

  bool has_ended() const { return state == "done" || state == "failed" || state == "cancelled" || state == "rejected"; }
};

struct GpuInfo {
  int32_t index = 0;
  std::string uuid;  ///< empty: a virtual one
  std::string bus_id;
  std::string model;
  int64_t memory_bytes = 0;
  bool is_healthy = true;
  int32_t free_milli = 1000;
  std::vector<int64_t> jobs;
  bool operator==(const GpuInfo&) const = default;
};

struct NodeInfo {
  std::string name;
  std::string state;      ///< "up", "down", "cordoned"
  std::string gpu_model;  ///< of the first GPU
  std::vector<GpuInfo> gpus;
  int64_t cpu_milli = 0;
  int64_t free_cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t free_memory_bytes = 0;
  bool operator==(const NodeInfo&) const = default;

  int32_t free_gpu_count() const;
};

struct QueueInfo {
  std::string name;
  std::string parent;
  int32_t pending = 0;
  int32_t running = 0;
  int64_t gpu_milli = 0;  ///< in use
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  bool operator==(const QueueInfo&) const = default;
};

struct ClusterInfo {
  std::string version;
  int32_t nodes = 0;
  int32_t nodes_available = 0;
  int64_t gpus = 0;
  int64_t gpus_free = 0;
  int64_t jobs_pending = 0;
  int64_t jobs_running = 0;
  int64_t jobs_ended = 0;
  int64_t gpu_milli_free = 0;
  /// Free thousandths of GPUs that the next task is expected not to be able to use; nothing before a job that asks for
  /// GPUs was seen.
  std::optional<double> fragment_milli;
  std::optional<double> fragment_ratio;  ///< of what is free
  uint64_t decision_count = 0;
  std::string decision_hash;  ///< 16 hexadecimal digits
  bool operator==(const ClusterInfo&) const = default;
};

struct ErrorInfo {
  std::string code;
  std::string message;
};

/// News of the feed: a job came into a state.
struct JobNews {
  int64_t job = 0;
  std::string state;
  int64_t time_ms = 0;
  bool operator==(const JobNews&) const = default;
};

std::string write_news(const JobNews& news);
std::string write_job(const JobInfo& job);
std::string write_jobs(const std::vector<JobInfo>& jobs);
std::string write_nodes(const std::vector<NodeInfo>& nodes);
std::string write_queues(const std::vector<QueueInfo>& queues);
std::string write_cluster(const ClusterInfo& cluster);
std::string write_error(std::string_view code, std::string_view message);

// An Error when the text is not what a server of this version writes.
Result<JobInfo> read_job(std::string_view text);
Result<std::vector<JobInfo>> read_jobs(std::string_view text);
Result<std::vector<NodeInfo>> read_nodes(std::string_view text);
Result<ClusterInfo> read_cluster(std::string_view text);
Result<JobNews> read_news(std::string_view text);
Result<ErrorInfo> read_error(std::string_view text);

}  // namespace weft::service
