#pragma once

#include "base/result.h"
#include "service/job_request.h"

#include <optional>
#include <string>
#include <string_view>
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

/// What an error calls an option, on the command line and in a request.
struct OptionName {
  std::string_view option;
  std::string_view key;
  std::optional<std::string> JobOptions::* field;
};
inline constexpr OptionName kOptionNames[] = {{"--gpus", "gpus", &JobOptions::gpus},
                                              {"--gpu", "gpu_models", &JobOptions::gpu_model},
                                              {"--cpus", "cpus", &JobOptions::cpus},
                                              {"--mem", "memory", &JobOptions::memory},
                                              {"--count", "tasks", &JobOptions::tasks},
                                              {"--time", "time", &JobOptions::time},
                                              {"--grace", "grace", &JobOptions::grace},
                                              {"--name", "name", &JobOptions::name},
                                              {"--queue", "queue", &JobOptions::queue},
                                              {"--priority", "priority", &JobOptions::priority},
                                              {"--gpu-bind", "gpu_bind", &JobOptions::gpu_bind},
                                              {"--directory", "directory", &JobOptions::directory},
                                              {"--output", "output", &JobOptions::output},
                                              {"--error", "error", &JobOptions::error}};

/// An error about a key of a request as one about the option: "--name: …".
Error named_by_option(Error error);

/// Every option of `stronger`, and those of `weaker` that it lacks.
JobOptions merged(const JobOptions& stronger, const JobOptions& weaker);

/// The options as a request, with this process's environment and, unless one is asked for, its working directory. No
/// command yet. Error: the first value that is wrong, by its option.
Result<service::JobRequest> make_request(const JobOptions& options);

}  // namespace weft::cli
