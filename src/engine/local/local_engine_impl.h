#pragma once

#include "engine/local/control.h"
#include "engine/local/file_descriptor.h"
#include "engine/local/local_engine.h"
#include "engine/local/supervisor_process.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace weft::local {

// The inside of LocalEngine, for local_engine.cc (commands and questions) and local_engine_events.cc (what supervisors
// and timers tell).

enum class TaskPhase : uint8_t {
  kUnstarted,  ///< it has no process
  kPreparing,  ///< the supervisor was started
  kReady,      ///< its command waits for the word to go
  kGoing,      ///< the word was given
  kRunning,
  kOrphaned,  ///< the supervisor died without a report: what it had below is being swept up
  kGone,      ///< no process is left
};

struct Task {
  int32_t index = 0;  ///< in its job
  TaskPlacement placement;
  SupervisorProcess process;
  TaskPhase phase = TaskPhase::kUnstarted;
  bool has_report = false;   ///< the supervisor said how the command ended
  bool is_short = false;     ///< the supervisor could not have what it needed just now
  Instant overdue = kNever;  ///< on the steady clock: from then on a task that was told to stop is ended by force
  LocalTask view;
};

enum class AttemptPhase : uint8_t { kHeld, kReleased, kStarting, kRunning, kFailing, kOver };

struct Attempt {
  AttemptPhase phase = AttemptPhase::kHeld;
  std::vector<Task> tasks;
  Instant deadline = kNever;  ///< of kStarting, on the steady clock
  std::string reason;         ///< of kFailing; of kStarting what it was short of last
};

/// Where the streams of a task begin in files that may have held something before.
struct OutputBegin {
  int64_t output = 0;
  int64_t error = 0;
};

struct Job {
  JobSpec spec;
  std::map<int32_t, OutputBegin> begins;  ///< by task; of its first attempt
  std::map<uint32_t, Attempt> attempts;
};

/// Whose descriptor became readable.
struct Watch {
  JobId job = kNone<JobId>;
  uint32_t attempt = 0;
  size_t task = 0;
};

/// Between two tries to start what the machine was short of something for.
inline constexpr Duration kShortPause = milliseconds(100);

/// Of the steady clock, not of the core.
Instant steady_now();

class LocalEngine::Impl {
 public:
  Impl(NodeSpec node, LocalEngineOptions options) : node_(std::move(node)), options_(std::move(options)) {}

  Result<void> open();
  void describe_job(JobId job, JobSpec spec) { jobs_[job].spec = std::move(spec); }
  void execute(const Decisions& decisions);
  void poll(std::vector<Event>& out);
  void kill_job(JobId id);
  bool is_idle() const;
  Result<TaskFiles> files(JobId job, int32_t task) const;
  std::vector<LocalTask> tasks(JobId id) const;
  int wait_fd() const { return epoll_.get(); }
  const NodeSpec& node() const { return node_; }

 private:
  void hold(const Decision& decision, std::span<const TaskPlacement> placements);
  void start(JobId id, uint32_t number);
  void release(JobId id, uint32_t number);
  void stop(const Decision& decision);
  void forget(JobId id);
  std::string conflict_with(std::span<const TaskPlacement> placements) const;

  void try_start(JobId id, uint32_t number, Attempt& attempt);
  Result<void> start_tasks(JobId id, uint32_t number, Attempt& attempt);
  Result<void> start_task(JobId id, uint32_t number, Job& job, std::span<const TaskPlacement> gang, size_t i,
                          Task& task);
  void note_begin(Job& job, const TaskLaunch& launch, int32_t task) const;
  Result<void> write_script(JobId id, const JobSpec& spec) const;
  void retry_short();
  bool watch(const Watch& watch, const SupervisorProcess& process);
  void stop_task(Task& task, Duration grace);

  void on_message(const Watch& at, Attempt& attempt, Task& task, const ControlMessage& message);
  void on_supervisor_end(const Watch& at, Attempt& attempt, Task& task);
  void read_messages(const Watch& at, Attempt& attempt, Task& task);
  void go_when_ready(Attempt& attempt);
  void announce_when_running(const Watch& at, Attempt& attempt);
  void fail_attempt(JobId id, uint32_t number, Attempt& attempt, std::string reason);
  void finish_task(JobId id, uint32_t number, Attempt& attempt, Task& task);
  void report_end(JobId id, uint32_t number, Task& task);
  void close_when_over(JobId id, uint32_t number, Attempt& attempt);
  void on_timer();
  void fail_late();
  void end_overdue();
  void sweep();
  void arm_timer();

  template <typename Body>
  void emit(Body body) {
    events_.push_back({options_.now(), std::move(body)});
  }
  Attempt* find(JobId id, uint32_t number);
  std::string job_directory(JobId id) const { return fmt::format("{}/{}", options_.jobs_directory, index(id)); }
  /// Requires: `directory` outlives the result.
  LaunchContext context(const std::string& directory) const { return {node_, directory, options_.socket_path}; }

  NodeSpec node_;
  LocalEngineOptions options_;
  FileDescriptor epoll_;
  FileDescriptor timer_;
  std::map<JobId, Job> jobs_;
  std::set<std::pair<JobId, uint32_t>> live_;    ///< attempts that hold or run something
  std::unordered_map<uint64_t, Watch> watches_;  ///< by supervisor's process id
  std::vector<Watch> orphaned_;
  std::deque<std::pair<JobId, uint32_t>> short_;  ///< starts that lacked something, the oldest first
  Instant short_retry_ = kNever;
  std::vector<Event> events_;
};

}  // namespace weft::local
