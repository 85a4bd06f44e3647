#include "engine/local/local_engine.h"

#include "base/bits.h"
#include "base/check.h"
#include "engine/local/local_engine_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <utility>

namespace weft::local {
Result<void> LocalEngine::Impl::open() {
  WEFT_CHECK(options_.now != nullptr, "events need a time");
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return fail(ErrorCode::kUnavailable, "this kernel has no child subreapers");
  epoll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  timer_ = FileDescriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.is_open() || !timer_.is_open())
    return fail(ErrorCode::kUnavailable, "cannot make an epoll or timer descriptor");
  epoll_event event{.events = EPOLLIN, .data = {.u64 = 0}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, timer_.get(), &event);
  return {};
}

Attempt* LocalEngine::Impl::find(JobId id, uint32_t number) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return nullptr;
  const auto attempt = job->second.attempts.find(number);
  return attempt == job->second.attempts.end() ? nullptr : &attempt->second;
}

void LocalEngine::Impl::execute(const Decisions& decisions) {
  for (const Decision& decision : decisions.list) {
    switch (decision.kind) {
      case DecisionKind::kHold: hold(decision, decisions.placements_of(decision)); break;
      case DecisionKind::kStart: start(decision.job, decision.attempt); break;
      case DecisionKind::kRelease: release(decision.job, decision.attempt); break;
      case DecisionKind::kStop: stop(decision); break;
      case DecisionKind::kEnd: forget(decision.job); break;
      case DecisionKind::kAdmit:
      case DecisionKind::kReject: break;
    }
  }
  arm_timer();
}

/// Names a device that somebody has already; the core never decides so, and if it did, two jobs must not meet on one
/// device.
std::string LocalEngine::Impl::conflict_with(std::span<const TaskPlacement> placements) const {
  DeviceMask whole = 0;
  DeviceMask shared = 0;
  for (const TaskPlacement& placement : placements) {
    (placement.kind == DeviceNeedKind::kWhole ? whole : shared) |= placement.devices;
  }
  if (((whole | shared) & ~low_bits(static_cast<unsigned>(node_.devices.size()))) != 0)
    return "a device that the node lacks";
  for (const auto& [id, number] : live_) {
    for (const Task& task : jobs_.at(id).attempts.at(number).tasks) {
      const bool has_whole = task.placement.kind == DeviceNeedKind::kWhole;
      const DeviceMask both = task.placement.devices & (has_whole ? whole | shared : whole);
      if (both != 0 && task.phase != TaskPhase::kGone) {
        return fmt::format("GPU {}, which job {} still has", std::countr_zero(both), index(id));
      }
    }
  }
  return {};
}

void LocalEngine::Impl::hold(const Decision& decision, std::span<const TaskPlacement> placements) {
  const auto found = jobs_.find(decision.job);
  if (found == jobs_.end()) {
    return emit(HoldRefused{decision.job, decision.attempt, "the engine was never told what the job is"});
  }
  if (found->second.attempts.contains(decision.attempt)) return;  // given twice
  if (const std::string conflict = conflict_with(placements); !conflict.empty()) {
    return emit(HoldRefused{decision.job, decision.attempt, fmt::format("it was given {}", conflict)});
  }
  Attempt& attempt = found->second.attempts[decision.attempt];
  for (const TaskPlacement& placement : placements) {
    Task& task = attempt.tasks.emplace_back();
    task.index = static_cast<int32_t>(index(placement.task) - index(decision.first_task));
    task.placement = placement;
    task.view.placement = placement;
  }
  live_.emplace(decision.job, decision.attempt);
  emit(HoldAccepted{decision.job, decision.attempt});
}

void LocalEngine::Impl::release(JobId id, uint32_t number) {
  Attempt* attempt = find(id, number);
  if (attempt == nullptr || attempt->phase != AttemptPhase::kHeld) return;
  attempt->phase = AttemptPhase::kReleased;
  live_.erase({id, number});
}

void LocalEngine::Impl::start(JobId id, uint32_t number) {
  Attempt* attempt = find(id, number);
  if (attempt == nullptr || attempt->phase == AttemptPhase::kReleased)
    return emit(StartFailed{id, number, "it was not held"});
  if (attempt->phase != AttemptPhase::kHeld) return;  // given twice
  attempt->phase = AttemptPhase::kStarting;
  attempt->deadline = steady_now() + options_.start_timeout;
  if (!short_.empty()) {
    short_.emplace_back(id, number);  // others wait for the same things already
  } else {
    try_start(id, number, *attempt);
  }
}

/// A start that only lacks what may be there later waits for it.
void LocalEngine::Impl::try_start(JobId id, uint32_t number, Attempt& attempt) {
  const auto started = start_tasks(id, number, attempt);
  if (started) return attempt.reason.clear();
  if (started.error().code != ErrorCode::kUnavailable)
    return fail_attempt(id, number, attempt, started.error().message);
  attempt.reason = started.error().message;
  short_.emplace_front(id, number);
  short_retry_ = steady_now() + kShortPause;
}

void LocalEngine::Impl::retry_short() {
  short_retry_ = kNever;
  while (!short_.empty() && short_retry_ >= kNever) {
    const auto [id, number] = short_.front();
    short_.pop_front();
    Attempt* attempt = find(id, number);
    if (attempt != nullptr && attempt->phase == AttemptPhase::kStarting) try_start(id, number, *attempt);
  }
}

/// Starts those tasks that have no process. Error kUnavailable: the machine is short of something.
Result<void> LocalEngine::Impl::start_tasks(JobId id, uint32_t number, Attempt& attempt) {
  Job& job = jobs_.at(id);
  const std::string directory = job_directory(id);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(ErrorCode::kInternal, fmt::format("cannot make the folder {}: {}", directory,
                                                  std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  }
  if (!job.spec.launch.script.empty()) {
    if (auto written = write_script(id, job.spec); !written) return written;
  }
  std::vector<TaskPlacement> gang;
  for (const Task& task : attempt.tasks) gang.push_back(task.placement);
  for (size_t i = 0; i < attempt.tasks.size(); ++i) {
    if (attempt.tasks[i].phase != TaskPhase::kUnstarted) continue;
    if (auto started = start_task(id, number, job, gang, i, attempt.tasks[i]); !started) return started;
  }
  return {};
}

Result<void> LocalEngine::Impl::start_task(JobId id, uint32_t number, Job& job, std::span<const TaskPlacement> gang,
                                           size_t i, Task& task) {
  const std::string directory = job_directory(id);
  auto launch = plan_launch(context(directory), id, job.spec, task.index, gang, i);
  if (!launch) return std::unexpected(launch.error());
  note_begin(job, *launch, task.index);
  launch->grace_ns = job.spec.grace.value_or(options_.grace).ns;
  launch->open_files_soft_max = options_.open_files_soft_max;
  auto process = start_supervisor(options_.supervisor_program, fmt::format("job {} task {}", index(id), task.index),
                                  *launch, options_.lease_fd);
  if (!process) return std::unexpected(process.error());
  if (!watch({.job = id, .attempt = number, .task = i}, *process)) {
    ::kill(process->pid, SIGKILL);  // it waits for the word to go, so nothing runs below it
    ::waitpid(process->pid, nullptr, 0);
    return fail(ErrorCode::kUnavailable, "cannot watch a supervisor process");
  }
  task.process = std::move(*process);
  task.phase = TaskPhase::kPreparing;
  return {};
}

/// Files are appended to: what they hold before the first start is not of this job.
void LocalEngine::Impl::note_begin(Job& job, const TaskLaunch& launch, int32_t task) const {
  const auto size_of = [](const std::string& path) -> int64_t {
    struct stat status{};
    return !path.empty() && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
  };
  job.begins.try_emplace(task, OutputBegin{size_of(launch.output_path), size_of(launch.error_path)});
}

Result<void> LocalEngine::Impl::write_script(JobId id, const JobSpec& spec) const {
  const std::string path = script_path(job_directory(id));
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << spec.launch.script;
  file.close();
  if (file && ::chmod(path.c_str(), 0700) == 0) return {};
  return fail(is_shortage(errno) ? ErrorCode::kUnavailable : ErrorCode::kInternal,
              fmt::format("cannot write the job's script to {}: {}", path,
                          std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

/// Control socket and process handle of a supervisor share one watch: both are looked at when either becomes readable.
bool LocalEngine::Impl::watch(const Watch& watch, const SupervisorProcess& process) {
  const auto key = static_cast<uint64_t>(process.pid);
  epoll_event event{.events = EPOLLIN, .data = {.u64 = key}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, process.control.get(), &event) != 0 ||
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, process.handle.get(), &event) != 0) {
    return false;
  }
  watches_[key] = watch;
  return true;
}

void LocalEngine::Impl::stop_task(Task& task, Duration grace) {
  if (task.phase == TaskPhase::kUnstarted) task.phase = TaskPhase::kGone;
  if (task.phase == TaskPhase::kGone) return;
  task.view.is_stopped = true;
  task.overdue = std::min(task.overdue, steady_now() + grace + options_.deaf_after);
  if (task.process.control.is_open())
    send_message(task.process.control.get(), {.kind = ControlKind::kStop, .grace_ns = grace.ns});
}

void LocalEngine::Impl::stop(const Decision& decision) {
  Attempt* attempt = find(decision.job, decision.attempt);
  if (attempt == nullptr) return;
  if (attempt->phase == AttemptPhase::kStarting) {
    return fail_attempt(decision.job, decision.attempt, *attempt, "it was stopped before it had started");
  }
  if (attempt->phase != AttemptPhase::kRunning) return;
  for (Task& task : attempt->tasks) {
    if (decision.task < 0 || task.index == decision.task) stop_task(task, decision.grace);
  }
}

/// Drops the bulk of an ended job; where its files are stays known.
void LocalEngine::Impl::forget(JobId id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  job->second.spec.launch.environment = {};
  job->second.spec.launch.script = {};
}

void LocalEngine::Impl::kill_job(JobId id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  for (auto& [number, attempt] : job->second.attempts) {
    if (attempt.phase == AttemptPhase::kRunning) {
      for (Task& task : attempt.tasks) stop_task(task, {0});
    }
  }
  arm_timer();
}

bool LocalEngine::Impl::is_idle() const { return live_.empty() && watches_.empty(); }

Result<TaskFiles> LocalEngine::Impl::files(JobId job, int32_t task) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return fail(ErrorCode::kNotFound, fmt::format("there is no job {}", index(job)));
  const std::string directory = job_directory(job);
  auto files = task_files(context(directory), job, found->second.spec, task);
  if (!files) return files;
  const auto begin = found->second.begins.find(task);
  files->is_begun = begin != found->second.begins.end();
  if (files->is_begun) {
    files->output_begin = begin->second.output;
    files->error_begin = files->error == files->output ? begin->second.output : begin->second.error;
  }
  return files;
}

std::vector<LocalTask> LocalEngine::Impl::tasks(JobId id) const {
  std::vector<LocalTask> views;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return views;
  for (const auto& [number, attempt] : found->second.attempts) {
    if (attempt.phase == AttemptPhase::kReleased) continue;
    for (const Task& task : attempt.tasks) {
      const auto at = static_cast<size_t>(task.index);
      if (views.size() <= at) views.resize(at + 1);
      views[at] = task.view;
    }
  }
  return views;
}

LocalEngine::LocalEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalEngine::~LocalEngine() = default;

Result<std::unique_ptr<LocalEngine>> LocalEngine::create(NodeSpec node, LocalEngineOptions options) {
  auto impl = std::make_unique<Impl>(std::move(node), std::move(options));
  if (auto opened = impl->open(); !opened) return std::unexpected(opened.error());
  return std::unique_ptr<LocalEngine>(new LocalEngine(std::move(impl)));
}

void LocalEngine::describe_job(JobId job, JobSpec spec) { impl_->describe_job(job, std::move(spec)); }
void LocalEngine::execute(const Decisions& decisions) { impl_->execute(decisions); }
void LocalEngine::poll(std::vector<Event>& out) { impl_->poll(out); }
int LocalEngine::wait_fd() const { return impl_->wait_fd(); }
void LocalEngine::kill_job(JobId job) { impl_->kill_job(job); }
bool LocalEngine::is_idle() const { return impl_->is_idle(); }
Result<TaskFiles> LocalEngine::files(JobId job, int32_t task) const { return impl_->files(job, task); }
std::vector<LocalTask> LocalEngine::tasks(JobId job) const { return impl_->tasks(job); }
const NodeSpec& LocalEngine::node() const { return impl_->node(); }

}  // namespace weft::local
