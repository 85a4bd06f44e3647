#pragma once

#include "base/result.h"
#include "base/units.h"
#include "model/job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::service {

/// A job as the API takes it: equal tasks, whole GPUs. What is left out is filled in by the server (see
/// JobDefaults).
struct JobRequest {
  std::string name;  ///< empty: the program's or the script's
  std::string queue = "default";
  int32_t priority = kPriorityTrain;
  int32_t tasks = 1;
  int32_t gpus = 0;                     ///< per task, as are CPUs and memory
  std::vector<std::string> gpu_models;  ///< any of these; empty: any at all
  std::optional<int64_t> cpu_milli;
  std::optional<int64_t> memory_bytes;
  Duration time_limit = kEndless;
  std::optional<Duration> grace;
  DeviceView device_view = DeviceView::kJob;
  std::vector<std::string> command;
  std::string script;  ///< with it `command` is the script's name and its arguments
  std::vector<std::pair<std::string, std::string>> environment;
  std::string directory;  ///< absolute
  std::string output;     ///< see LaunchSpec::output_path
  std::string error;
  bool operator==(const JobRequest&) const = default;
};

// Limits of one request. The kernel takes about 2 MB of arguments and environment together, and 128 KiB for a single
// one.
inline constexpr size_t kNameBytesMax = 200;
inline constexpr size_t kArgumentBytesMax = 128 * 1024 - 1;
inline constexpr size_t kCommandBytesMax = 1'800'000;
inline constexpr size_t kScriptBytesMax = 4 * 1024 * 1024;
inline constexpr size_t kPathBytesMax = 4095;
inline constexpr int32_t kTasksMax = 4096;
inline constexpr int32_t kGpusMax = 1'000'000;
inline constexpr int32_t kPriorityMax = 1'000'000;
inline constexpr Duration kTimeMax = hours(24 * 365 * 10);

/// Reads the JSON of a request: an object with the keys listed in docs/guide/commands.md. Unknown keys, keys given
/// twice, numbers out of range, control characters in names and a NUL anywhere are Errors that name the place in the
/// text or the key.
Result<JobRequest> read_job_request(std::string_view text);
/// The same checks on a request that was put together otherwise.
Result<void> check_job_request(const JobRequest& request);
/// Requires: check_job_request() passes it. read_job_request() of the result gives the same request.
std::string write_job_request(const JobRequest& request);

/// What a job gets that asks for nothing itself. Of CPUs and memory a CPU-only task gets a fixed amount, one with GPUs
/// a part of the node for each of them, so that CPUs and memory are not what keeps a GPU idle.
struct JobDefaults {
  int64_t cpu_milli = 1000;
  int64_t memory_bytes = kGiB;
  int64_t cpu_milli_per_gpu = 1000;
  int64_t memory_bytes_per_gpu = kGiB;
  Duration grace = seconds(10);  ///< from TERM to KILL
};
/// Half of the node divided by its GPUs; the other half stays for jobs without GPUs. No more than the node has.
JobDefaults defaults_for(int64_t node_cpu_milli, int64_t node_memory_bytes, int64_t node_gpus);

/// `user` owns the job.
JobSpec to_spec(const JobRequest& request, const JobDefaults& defaults, std::string user);

}  // namespace weft::service
