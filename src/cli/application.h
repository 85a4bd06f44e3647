#pragma once

#include "base/result.h"
#include "base/units.h"
#include "engine/local/machine.h"
#include "model/node.h"
#include "model/policy.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::service {
class Api;
}

namespace weft::cli {

enum class LogLevel : uint8_t { kQuiet, kWarnings, kDecisions };

struct ApplicationOptions {
  std::string socket_path;
  std::string state_directory;
  local::VirtualGpus virtual_gpus;
  PolicyConfig policy;
  Duration grace = seconds(10);
  LogLevel log_level = LogLevel::kWarnings;
  std::optional<std::string> journal;  ///< a file that is not there yet: all that the core is told goes into it
};

/// A whole server in one thread: the core, the local engine, and the API on a socket, joined by one event loop.
///
/// Everything that happens is an event: it goes to the core, the core's decisions go to the engine, the engine's
/// answers are events again, until nothing more follows. The core's time is the steady clock since the start.
class Application {
 public:
  /// Detects the machine, takes the state directory and the socket. Nothing runs yet.
  static Result<std::unique_ptr<Application>> create(const ApplicationOptions& options);
  ~Application();

  /// Serves until SIGINT or SIGTERM (or stop()), then ends all jobs, and returns when no process of any is left. A
  /// second signal kills them without their grace.
  void run();
  void stop();
  /// Calls `action` on the loop after `delay`.
  void after(Duration delay, std::function<void()> action);

  service::Api& api();
  const NodeSpec& node() const;
  /// What was not found on this machine, in words.
  const std::vector<std::string>& notes() const;

 private:
  class Impl;
  explicit Application(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// "8 virtual GPUs (generic), 2 CPUs, 23Gi memory".
std::string machine_text(const NodeSpec& node);
/// $XDG_STATE_HOME/weft, ~/.local/state/weft, or /var/lib/weft for root.
std::string default_state_directory();

}  // namespace weft::cli
