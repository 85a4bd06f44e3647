#pragma once

#include "base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::local {

/// All that a supervisor needs to run one task. Paths are absolute.
struct TaskLaunch {
  std::vector<std::string> arguments;    ///< at least the program, looked up in PATH of `environment`
  std::vector<std::string> environment;  ///< "KEY=value", whole
  std::string directory;
  std::string output_path;
  std::string error_path;            ///< empty: both streams go to `output_path`
  int64_t grace_ns = 0;              ///< from TERM to KILL where no command names one
  uint64_t open_files_soft_max = 0;  ///< the limit that the server itself was started with; 0: as it is
  bool operator==(const TaskLaunch&) const = default;
};

/// The bytes that go to the supervisor, and back. Nothing when the bytes are not what write_launch() makes.
std::string write_launch(const TaskLaunch& launch);
std::optional<TaskLaunch> read_launch(std::string_view bytes);

}  // namespace weft::local
