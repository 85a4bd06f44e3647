#include "engine/local/local_engine_impl.h"
#include "engine/local/process_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iterator>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace weft::local {
namespace {

constexpr Duration kSweepPause = milliseconds(5);
constexpr Duration kForcePause = milliseconds(200);

}  // namespace

Instant steady_now() {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
              .count()};
}

/// Ends what the attempt has started so far; StartFailed follows when nothing of it is left.
void LocalEngine::Impl::fail_attempt(JobId id, uint32_t number, Attempt& attempt, std::string reason) {
  if (attempt.phase == AttemptPhase::kFailing) return;
  attempt.phase = AttemptPhase::kFailing;
  attempt.deadline = kNever;
  attempt.reason = std::move(reason);
  for (Task& task : attempt.tasks) stop_task(task, {0});
  close_when_over(id, number, attempt);
}

void LocalEngine::Impl::close_when_over(JobId id, uint32_t number, Attempt& attempt) {
  if (!std::ranges::all_of(attempt.tasks, [](const Task& task) { return task.phase == TaskPhase::kGone; })) return;
  if (attempt.phase == AttemptPhase::kFailing) emit(StartFailed{id, number, attempt.reason});
  attempt.phase = AttemptPhase::kOver;
  live_.erase({id, number});
}

void LocalEngine::Impl::go_when_ready(Attempt& attempt) {
  if (!std::ranges::all_of(attempt.tasks, [](const Task& task) { return task.phase == TaskPhase::kReady; })) return;
  for (Task& task : attempt.tasks) {
    task.phase = TaskPhase::kGoing;
    send_message(task.process.control.get(), {.kind = ControlKind::kGo});
  }
  attempt.deadline = steady_now() + options_.start_timeout;
}

/// GangStarted once every task runs; then the ends of those that were quicker than that.
void LocalEngine::Impl::announce_when_running(const Watch& at, Attempt& attempt) {
  if (attempt.phase != AttemptPhase::kStarting) return;
  const auto has_run = [](const Task& task) {
    return task.phase == TaskPhase::kRunning || task.phase == TaskPhase::kGone;
  };
  if (!std::ranges::all_of(attempt.tasks, has_run)) return;
  attempt.phase = AttemptPhase::kRunning;
  attempt.deadline = kNever;
  emit(GangStarted{at.job, at.attempt});
  for (Task& task : attempt.tasks) {
    if (task.phase == TaskPhase::kGone) report_end(at.job, at.attempt, task);
  }
  close_when_over(at.job, at.attempt, attempt);
}

void LocalEngine::Impl::on_message(const Watch& at, Attempt& attempt, Task& task, const ControlMessage& message) {
  switch (message.kind) {
    case ControlKind::kReady:
      if (task.phase != TaskPhase::kPreparing || attempt.phase != AttemptPhase::kStarting) return;
      task.phase = TaskPhase::kReady;
      return go_when_ready(attempt);
    case ControlKind::kFailed:
      if (is_shortage(message.value) && attempt.phase == AttemptPhase::kStarting) {
        task.is_short = true;  // it is started anew when this supervisor has gone
        attempt.reason = message.text;
        return;
      }
      return fail_attempt(at.job, at.attempt, attempt, message.text);
    case ControlKind::kRunning:
      if (task.phase != TaskPhase::kGoing) return;
      task.phase = TaskPhase::kRunning;
      task.view.pid = message.value;
      return announce_when_running(at, attempt);
    case ControlKind::kEnded:
      task.has_report = true;
      task.view.exit_status = message.value;
      return;
    case ControlKind::kGo:
    case ControlKind::kStop: return;  // only ever sent
  }
}

void LocalEngine::Impl::read_messages(const Watch& at, Attempt& attempt, Task& task) {
  ControlMessage message;
  while (task.process.control.is_open()) {
    switch (receive_message(task.process.control.get(), message)) {
      case Received::kNothingYet: return;
      case Received::kClosed: task.process.control.reset(); return;
      case Received::kMessage: on_message(at, attempt, task, message); break;
    }
  }
}

/// The supervisor process is gone. With a report nothing of the task is left; without one there may be.
void LocalEngine::Impl::on_supervisor_end(const Watch& at, Attempt& attempt, Task& task) {
  int status = 0;
  if (::waitpid(task.process.pid, &status, WNOHANG) == 0) return;
  read_messages(at, attempt, task);
  watches_.erase(static_cast<uint64_t>(task.process.pid));
  task.process = {};
  const bool was_going = task.phase == TaskPhase::kGoing || task.phase == TaskPhase::kRunning;
  // A supervisor that was killed may have left processes, of a command that only waited for the word to go too.
  if ((was_going && !task.has_report) || WIFSIGNALED(status)) {
    task.phase = TaskPhase::kOrphaned;
    orphaned_.push_back(at);
    return sweep();
  }
  finish_task(at.job, at.attempt, attempt, task);
}

/// No process of the task is left.
void LocalEngine::Impl::finish_task(JobId id, uint32_t number, Attempt& attempt, Task& task) {
  if (std::exchange(task.is_short, false) && attempt.phase == AttemptPhase::kStarting) {
    task.phase = TaskPhase::kUnstarted;
    short_.emplace_back(id, number);
    if (short_retry_ >= kNever) short_retry_ = steady_now() + kShortPause;
    return;
  }
  task.phase = TaskPhase::kGone;
  if (attempt.phase == AttemptPhase::kStarting && !task.has_report) {
    return fail_attempt(id, number, attempt, "a supervisor process ended before its task could start");
  }
  if (attempt.phase == AttemptPhase::kStarting) return announce_when_running({.job = id, .attempt = number}, attempt);
  if (attempt.phase == AttemptPhase::kRunning) report_end(id, number, task);
  close_when_over(id, number, attempt);
}

void LocalEngine::Impl::report_end(JobId id, uint32_t number, Task& task) {
  const int32_t exit_status = task.view.exit_status.value_or(128 + SIGKILL);
  task.view.exit_status = exit_status;
  const TaskOutcome on_its_own = exit_status == 0 ? TaskOutcome::kDone : TaskOutcome::kFailed;
  emit(TaskEnded{id, number, task.index, task.view.is_stopped ? TaskOutcome::kStopped : on_its_own, exit_status});
}

/// Kills and waits for processes that were handed to this one because their supervisor was killed.
void LocalEngine::Impl::sweep() {
  std::set<pid_t> supervisors;
  for (const auto& [pid, unused] : watches_) supervisors.insert(static_cast<pid_t>(pid));
  if (kill_strays(supervisors) == Strays::kSome) return;  // looked at again when the timer fires
  for (const Watch& at : std::exchange(orphaned_, {})) {
    Attempt& attempt = *find(at.job, at.attempt);
    finish_task(at.job, at.attempt, attempt, attempt.tasks[at.task]);
  }
}

void LocalEngine::Impl::on_timer() {
  uint64_t expirations = 0;
  if (::read(timer_.get(), &expirations, sizeof(expirations)) < 0) return;
  if (!orphaned_.empty()) sweep();
  if (steady_now() >= short_retry_) retry_short();
  end_overdue();
  fail_late();
}

void LocalEngine::Impl::fail_late() {
  std::vector<std::pair<JobId, uint32_t>> late;
  for (const auto& [id, number] : live_) {
    if (steady_now() >= find(id, number)->deadline) late.emplace_back(id, number);
  }
  for (const auto& [id, number] : late) {
    Attempt& attempt = *find(id, number);
    const std::string lack = attempt.reason.empty() ? "" : ": " + attempt.reason;
    fail_attempt(id, number, attempt,
                 fmt::format("it did not start within {} s{}", options_.start_timeout.ns / 1'000'000'000, lack));
    // A supervisor that is late may hang in the kernel, on a dead file server say, and hear nothing.
    for (const Task& task : attempt.tasks) {
      if (task.process.pid > 0) ::kill(task.process.pid, SIGKILL);
    }
  }
}

/// Does the work of supervisors that were told to end their tasks and have not: those may have been stopped, or hang.
void LocalEngine::Impl::end_overdue() {
  const Instant now = steady_now();
  for (const auto& [id, number] : live_) {
    for (Task& task : find(id, number)->tasks) {
      if (task.process.pid <= 0 || now < task.overdue) continue;
      if (kill_below(task.process.pid) == Strays::kNone) ::kill(task.process.pid, SIGKILL);
      task.overdue = now + kForcePause;
    }
  }
}

void LocalEngine::Impl::arm_timer() {
  Instant next = orphaned_.empty() ? kNever : steady_now() + kSweepPause;
  next = std::min(next, short_retry_);
  for (const auto& [id, number] : live_) {
    const Attempt& attempt = *find(id, number);
    next = std::min(next, attempt.deadline);
    for (const Task& task : attempt.tasks) {
      if (task.process.pid > 0) next = std::min(next, task.overdue);
    }
  }
  itimerspec spec{};
  if (next < kNever) {
    const int64_t left_ns = std::max<int64_t>(1, (next - steady_now()).ns);
    spec.it_value = {.tv_sec = left_ns / 1'000'000'000, .tv_nsec = left_ns % 1'000'000'000};
  }
  ::timerfd_settime(timer_.get(), 0, &spec, nullptr);
}

void LocalEngine::Impl::poll(std::vector<Event>& out) {
  std::array<epoll_event, 64> ready{};
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    if (count < 0 && errno == EINTR) continue;
    for (int i = 0; i < count; ++i) {
      const uint64_t key = ready[static_cast<size_t>(i)].data.u64;
      if (key == 0) {
        on_timer();
        continue;
      }
      const auto found = watches_.find(key);
      if (found == watches_.end()) continue;  // its other descriptor was dealt with first
      const Watch at = found->second;
      Attempt& attempt = *find(at.job, at.attempt);
      Task& task = attempt.tasks[at.task];
      read_messages(at, attempt, task);
      if (!task.process.control.is_open()) on_supervisor_end(at, attempt, task);
    }
    if (count < static_cast<int>(ready.size())) break;
  }
  arm_timer();
  out.insert(out.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
  events_.clear();
}

}  // namespace weft::local
