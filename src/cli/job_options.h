#pragma once

#include "base/result.h"
#include "service/job_request.h"

#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

/// What a user asks for on the command line or in `#WEFT` lines, as written.
struct JobOptions {
  std::optional<std::string> gpus;
  std::optional<std::string> cpus;
  std::optional<std::string> memory;
  std::optional<std::string> name;
  std::optional<std::string> queue;
  std::optional<std::string> priority;
  std::optional<std::string> gpu_model;
  std::optional<std::string> tasks;
  std::optional<std::string> time;
  std::optional<std::string> grace;
  std::optional<std::string> gpu_bind;
  std::optional<std::string> directory;
  std::optional<std::string> output;
  std::optional<std::string> error;
};

/// Every option of `stronger`, and those of `weaker` that it lacks.
JobOptions merged(const JobOptions& stronger, const JobOptions& weaker);

/// The options as a request, with this process's environment and, unless one is asked for, its working directory. No
/// command yet. Error: the first value that is wrong, by its option.
Result<service::JobRequest> make_request(const JobOptions& options);

}  // namespace weft::cli
