#include "engine/local/supervisor.h"

#include "base/units.h"
#include "engine/local/control.h"
#include "engine/local/file_descriptor.h"
#include "engine/local/process_tree.h"
#include "engine/local/task_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <utility>

namespace weft::local {
namespace {

constexpr Duration kLinger = seconds(1);  ///< for a `tee` behind the command that still has bytes to write
constexpr Duration kKillPauseMin = milliseconds(2);
constexpr Duration kKillPauseMax = milliseconds(200);

Instant steady_now() {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
              .count()};
}

std::string error_text(int number) { return std::strerror(number); }  // NOLINT(concurrency-mt-unsafe): one thread

/// The last words of a command that cannot be run, in the job's own error output, with the status that shells give it.
[[noreturn]] void die_without_command(const std::string& program, int number) {
  const bool is_missing = number == ENOENT;
  const std::string line =
      fmt::format("weft: {}: {}\n", program, is_missing ? std::string("command not found") : error_text(number));
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(is_missing ? 127 : 126);
}

class Supervisor {
 public:
  int run();

 private:
  enum class Phase : uint8_t {
    kWaiting,  ///< the command's process waits for kGo
    kRunning,
    kLingering,  ///< the command has ended, others of the task are left
    kStopping,   ///< TERM was sent; KILL follows at deadline_
    kKilling,
  };

  std::string prepare();
  std::string open_files();
  std::string fork_command();
  [[noreturn]] void become_command(int go_fd);

  bool reap();
  void watch();
  void on_control();
  void on_signal();
  void on_deadline();
  void go();
  void stop(Duration grace);
  void pass_term();
  void pass_kill();
  Duration grace() const { return {launch_.grace_ns}; }
  void report(ControlKind kind, int32_t value = 0, std::string text = {}) {
    send_message(control_.get(), {.kind = kind, .value = value, .text = std::move(text)});
  }

  FileDescriptor control_{kControlFd};
  FileDescriptor signals_;
  FileDescriptor output_;
  FileDescriptor error_;
  FileDescriptor go_pipe_;
  TaskLaunch launch_;
  pid_t command_ = -1;
  int problem_errno_ = 0;  ///< behind the text that prepare() gave
  int exit_status_ = -1;   // -1: the command has not ended
  Phase phase_ = Phase::kWaiting;
  Instant deadline_ = kNever;
  Duration kill_pause_ = kKillPauseMin;
  std::set<std::pair<pid_t, uint64_t>> terminated_;  // got a TERM already: one is enough
};

int Supervisor::run() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::prctl(PR_SET_NAME, "weft-task");
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&mask, signal);
  ::sigprocmask(SIG_BLOCK, &mask, nullptr);
  signals_ = FileDescriptor(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  ::fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  ::fcntl(kLeaseFd, F_SETFD, FD_CLOEXEC);  // it is this process that holds it, not the task

  if (const std::string problem = prepare(); !problem.empty()) {
    report(ControlKind::kFailed, problem_errno_, problem);
    return 1;
  }
  report(ControlKind::kReady);
  while (reap()) watch();
  if (phase_ == Phase::kWaiting) {
    report(ControlKind::kFailed, 0, "the task's process was ended before it could start");
    return 1;
  }
  report(ControlKind::kEnded, exit_status_);
  return 0;
}

std::string Supervisor::prepare() {
  const FileDescriptor file(kLaunchFd);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return "the task's description did not arrive";
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != status.st_size) return "the task's description is cut off";
  auto launch = read_launch(bytes);
  if (!launch) return "the task's description is garbled";
  launch_ = std::move(*launch);

  if (::chdir(launch_.directory.c_str()) != 0) {
    return fmt::format("cannot enter the directory {}: {}", launch_.directory, error_text(errno));
  }
  if (std::string problem = open_files(); !problem.empty()) return problem;
  return fork_command();
}

std::string Supervisor::open_files() {
  const auto open_for_append = [this](const std::string& path, FileDescriptor& out) -> std::string {
    // Without waiting: to open a pipe that nobody reads from would otherwise take until somebody does.
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY;
    out = FileDescriptor(::open(path.c_str(), flags | O_NONBLOCK, 0666));
    if (out.is_open()) {
      ::fcntl(out.get(), F_SETFL, O_WRONLY | O_APPEND);
      return {};
    }
    problem_errno_ = errno;
    if (errno == ENXIO) return fmt::format("cannot open the output file {}: nobody reads from that pipe", path);
    return fmt::format("cannot open the output file {}: {}", path, error_text(errno));
  };
  std::string problem = open_for_append(launch_.output_path, output_);
  if (problem.empty() && !launch_.error_path.empty()) problem = open_for_append(launch_.error_path, error_);
  return problem;
}

std::string Supervisor::fork_command() {
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    problem_errno_ = errno;
    return fmt::format("cannot make a pipe: {}", error_text(errno));
  }
  const FileDescriptor read_end(pipe_ends[0]);
  go_pipe_ = FileDescriptor(pipe_ends[1]);
  std::fflush(nullptr);
  command_ = ::fork();
  if (command_ < 0) {
    problem_errno_ = errno;
    return fmt::format("cannot start a process: {}", error_text(errno));
  }
  if (command_ == 0) become_command(read_end.get());
  output_.reset();
  error_.reset();
  return {};
}

void Supervisor::become_command(int go_fd) {
  // Should somebody kill the supervisor, the command goes with it and the server sweeps up what else was below.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  go_pipe_.reset();
  control_.reset();
  char go = 0;
  ssize_t size = 0;
  do {
    size = ::read(go_fd, &go, 1);
  } while (size < 0 && errno == EINTR);
  if (size != 1) ::_exit(0);

  ::setsid();
  const int error = error_.is_open() ? error_.get() : output_.get();
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (::dup2(input, STDIN_FILENO) < 0 || ::dup2(output_.get(), STDOUT_FILENO) < 0 || ::dup2(error, STDERR_FILENO) < 0) {
    ::_exit(126);
  }
  if (launch_.open_files_soft_max > 0) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
      limit.rlim_cur = std::min<rlim_t>(launch_.open_files_soft_max, limit.rlim_max);
      ::setrlimit(RLIMIT_NOFILE, &limit);
    }
  }
  std::vector<char*> arguments;
  for (std::string& text : launch_.arguments) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (std::string& text : launch_.environment) environment.push_back(text.data());
  environment.push_back(nullptr);
  environ = environment.data();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvp(arguments[0], arguments.data());
  die_without_command(launch_.arguments[0], errno);
}

/// Takes every ended child; false when no process of the task is left.
bool Supervisor::reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid == 0) return true;
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return false;  // ECHILD: nobody below, since orphans of the task would be children of this process
    if (pid != command_ || phase_ == Phase::kWaiting) continue;
    exit_status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (phase_ == Phase::kRunning) {
      phase_ = Phase::kLingering;
      deadline_ = steady_now() + kLinger;
    }
  }
}

/// Waits for the next thing to happen and deals with it.
void Supervisor::watch() {
  std::array<pollfd, 2> waits{pollfd{signals_.get(), POLLIN, 0}, pollfd{control_.get(), POLLIN, 0}};
  int timeout_ms = -1;
  if (deadline_ < kNever) {
    const int64_t left_ns = std::max<int64_t>(0, (deadline_ - steady_now()).ns);
    timeout_ms = static_cast<int>(std::min<int64_t>(left_ns / 1'000'000 + 1, 1'000'000));
  }
  if (::poll(waits.data(), waits.size(), timeout_ms) < 0) return;
  if (waits[0].revents != 0) on_signal();
  if (waits[1].revents != 0) on_control();
  if (steady_now() >= deadline_) on_deadline();
}

void Supervisor::on_control() {
  ControlMessage message;
  switch (receive_message(control_.get(), message)) {
    case Received::kNothingYet: return;
    case Received::kClosed:
      control_.reset();  // poll() passes over a closed descriptor
      return stop(grace());
    case Received::kMessage: break;
  }
  if (message.kind == ControlKind::kGo) go();
  if (message.kind == ControlKind::kStop) stop({message.grace_ns});
}

void Supervisor::on_signal() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    if (info.ssi_signo != SIGCHLD) stop(grace());
  }
  // A process that lost its parent while TERM went round may have been missed by that round.
  if (phase_ == Phase::kStopping) pass_term();
}

void Supervisor::go() {
  if (phase_ != Phase::kWaiting || !go_pipe_.is_open()) return;
  const char byte = 'g';
  if (::write(go_pipe_.get(), &byte, 1) != 1) return;  // the process is gone: reap() will say so
  go_pipe_.reset();
  phase_ = Phase::kRunning;
  report(ControlKind::kRunning, command_);
}

void Supervisor::stop(Duration grace) {
  if (phase_ == Phase::kWaiting) {
    go_pipe_.reset();  // the waiting process reads the end of the pipe and leaves
    return;
  }
  const Instant end = steady_now() + grace;
  if (phase_ == Phase::kKilling || (phase_ == Phase::kStopping && end >= deadline_)) return;
  deadline_ = end;
  if (grace.ns <= 0) {
    phase_ = Phase::kKilling;
    return on_deadline();
  }
  if (phase_ != Phase::kStopping) {
    phase_ = Phase::kStopping;
    pass_term();
  }
}

void Supervisor::on_deadline() {
  switch (phase_) {
    case Phase::kWaiting: deadline_ = kNever; return;
    case Phase::kLingering: return stop(grace());
    case Phase::kRunning: deadline_ = kNever; return;  // a command has no deadline of its own here
    case Phase::kStopping:
    case Phase::kKilling:
      phase_ = Phase::kKilling;
      pass_kill();
      deadline_ = steady_now() + kill_pause_;
      kill_pause_ = std::min(kill_pause_ * 2, kKillPauseMax);
      return;
  }
}

/// The first round asks every process of the task to end. Later rounds ask only those that became children of this
/// process since: what a process starts while it ends (to save a checkpoint, say) is its own affair until the grace is
/// over.
void Supervisor::pass_term() {
  const bool is_first = terminated_.empty();
  for (const Process& process : descendants_of(::getpid())) {
    if (process.state == 'Z' || (!is_first && process.parent != ::getpid())) continue;
    if (!terminated_.emplace(process.pid, process.start_ticks).second) continue;
    signal_process(process, SIGTERM);
    signal_process(process, SIGCONT);
  }
}

void Supervisor::pass_kill() {
  for (const Process& process : descendants_of(::getpid())) {
    if (process.state != 'Z') signal_process(process, SIGKILL);
  }
}

}  // namespace

int supervise() {
  ::close_range(kLeaseFd + 1, ~0U, 0);  // the server's sockets are none of ours
  Supervisor supervisor;
  return supervisor.run();
}

}  // namespace weft::local
