#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "engine/local/task_launch.h"
#include "model/job.h"
#include "model/node.h"
#include "model/placement.h"

#include <span>
#include <string>
#include <string_view>

namespace weft::local {

/// Where the standard streams of a task go. `error` equals `output` when both go to one file.
struct TaskFiles {
  std::string output;
  std::string error;
  bool operator==(const TaskFiles&) const = default;
  bool is_begun = true;      ///< false: the task was never started, and nothing in the files is its own
  int64_t output_begin = 0;  ///< bytes that were there before it
  int64_t error_begin = 0;
};

/// What of the machine and the server a task's surroundings depend on.
struct LaunchContext {
  const NodeSpec& node;
  std::string_view job_directory;  ///< of this job, under the server's state directory
  std::string_view socket_path;    ///< so that `weft` inside of a job finds its server; may be empty
};

/// Replaces %j (job id), %x (job name, with slashes made harmless), %t (task) and %% in `pattern`; any other % is an
/// Error.
Result<std::string> expand_output_pattern(std::string_view pattern, JobId job, std::string_view name, int32_t task);

/// The files of task `task`: as the job's patterns say, relative ones from its working directory; without a pattern
/// both streams are kept apart in the job's directory.
Result<TaskFiles> task_files(const LaunchContext& context, JobId job, const JobSpec& spec, int32_t task);

/// The role that the job's task `task` belongs to. Requires: it has such a task.
const RoleSpec& role_of_task(const JobSpec& spec, int32_t task);
int32_t task_count(const JobSpec& spec);

/// The program with its surroundings for one task; `gang` holds the placements of all tasks that start with it, by
/// task. A job's script is taken to stand at script_path(). Error: an output pattern that cannot be expanded.
Result<TaskLaunch> plan_launch(const LaunchContext& context, JobId job, const JobSpec& spec, int32_t task,
                               std::span<const TaskPlacement> gang, size_t index_in_gang);
std::string script_path(std::string_view job_directory);

}  // namespace weft::local
