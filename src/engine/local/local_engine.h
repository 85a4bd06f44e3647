#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "engine/engine.h"
#include "engine/local/launch_plan.h"
#include "model/event.h"
#include "model/job.h"
#include "model/node.h"
#include "model/placement.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::local {

struct LocalEngineOptions {
  std::string jobs_directory;                         ///< exists; holds a folder per job: its script and kept output
  std::string socket_path;                            ///< told to jobs as WEFT_SOCKET; may be empty
  std::string supervisor_program = "/proc/self/exe";  ///< called with kSuperviseArgument
  Duration grace = seconds(10);                       ///< from TERM to KILL where a job names none
  Duration start_timeout =
      seconds(60);                   ///< until every task of a gang has said that it is ready, and again that it runs
  Duration deaf_after = seconds(5);  ///< how long past its grace a supervisor may take before its task is ended for it
  int lease_fd = -1;                 ///< of the server's Lease, which every supervisor joins; -1: none
  uint64_t open_files_soft_max = 0;  ///< given to jobs; 0: as the server has it
  std::function<Instant()> now;      ///< stamps events
};

/// How one task of the present or last attempt stands, as far as the engine knows more than the core.
struct LocalTask {
  std::optional<TaskPlacement> placement;  ///< what it has or had
  int32_t pid = 0;                         ///< of the command; 0 before it runs
  std::optional<int32_t> exit_status;      ///< of the command; 128 + signal when a signal ended it
  bool is_stopped = false;                 ///< it was told to stop, and may have ended for that
};

/// One server's processes as an Engine: real commands, each below a supervisor process of its own (see supervisor.h).
///
/// 1. A hold is bookkeeping: two attempts cannot hold one whole device. A start makes the processes of all tasks ready
/// and lets
///    them run together; when one cannot be made ready, none runs and the answer is StartFailed. Where the machine is
///    short of file descriptors, processes or memory, the start is tried again until start_timeout: that is no fault of
///    the job.
/// 2. A task is reported as ended only when no process of it is left on the machine.
/// 3. When this process dies, however, the supervisors end their tasks: no job process outlives the server.
/// 4. A supervisor that does not do what it was told (it was stopped by a signal, or hangs) is ended by force.
/// 5. One thread. Nothing blocks: wait_fd() is readable when poll() has something to do.
///
/// Making one turns the calling process into a child subreaper and takes over all its children but those it did not
/// make itself: processes whose supervisor was killed are adopted, killed and waited for.
class LocalEngine final : public Engine {
 public:
  /// Error: a resource of the kernel that could not be had.
  static Result<std::unique_ptr<LocalEngine>> create(NodeSpec node, LocalEngineOptions options);
  ~LocalEngine() override;

  /// What the job is, told before the core can decide on it. The core's commands carry ids only.
  void describe_job(JobId job, JobSpec spec);

  void execute(const Decisions& decisions) override;
  void poll(std::vector<Event>& out) override;
  int wait_fd() const;

  /// KILL for every process of the job now, without a further grace. The core learns of it by TaskEnded.
  void kill_job(JobId job);
  /// True when no process of any task is left and no hold is kept.
  bool is_idle() const;

  /// Where the streams of the task go; an Error when the job is unknown or its pattern is wrong.
  Result<TaskFiles> files(JobId job, int32_t task) const;
  /// By task, of the last attempt of each; empty when nothing of the job was held yet.
  std::vector<LocalTask> tasks(JobId job) const;
  const NodeSpec& node() const;

 private:
  class Impl;
  explicit LocalEngine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft::local
