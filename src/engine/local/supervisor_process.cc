#include "engine/local/supervisor_process.h"

#include "engine/local/control.h"
#include "engine/local/process_handle.h"
#include "engine/local/supervisor.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::local {
namespace {

std::unexpected<Error> failed(const char* what) {
  const bool may_come = is_shortage(errno);
  return fail(may_come ? ErrorCode::kUnavailable : ErrorCode::kInternal,
              fmt::format("{}: {}", what, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

FileDescriptor moved_up(FileDescriptor fd) {
  FileDescriptor moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kAboveFixedFds));
  if (!moved.is_open() && errno == EINVAL) errno = EMFILE;  // so many may not even be open
  return moved;
}

Result<FileDescriptor> launch_file(const TaskLaunch& launch) {
  FileDescriptor file(::memfd_create("weft-launch", MFD_CLOEXEC));
  if (!file.is_open()) return failed("cannot make a memory file");
  const std::string bytes = write_launch(launch);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t size = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (size < 0) return failed("cannot write to a memory file");
    done += static_cast<size_t>(size);
  }
  file = moved_up(std::move(file));
  if (!file.is_open()) return failed("cannot copy a file descriptor");
  return file;
}

/// Owns what posix_spawn wants to be told.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    // A session of its own keeps a Ctrl-C at the server's terminal away; signals are as a fresh process expects them.
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t set;
    sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes_, &set);
    sigfillset(&set);
    ::posix_spawnattr_setsigdefault(&attributes_, &set);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  int run(pid_t& pid, const std::string& program, const std::string& label, int control, int launch, int lease) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, control, kControlFd);
    ::posix_spawn_file_actions_adddup2(&actions_, launch, kLaunchFd);
    if (lease >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions_, lease, kLeaseFd);
    } else {
      ::posix_spawn_file_actions_addclose(&actions_, kLeaseFd);
    }
    std::array<std::string, 3> words{"weft", kSuperviseArgument, label};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
    return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<SupervisorProcess> start_supervisor(const std::string& program, const std::string& label,
                                           const TaskLaunch& launch, int lease_fd) {
  auto file = launch_file(launch);
  if (!file) return std::unexpected(file.error());
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return failed("cannot make a socket pair");
  SupervisorProcess process{.control = FileDescriptor(ends[0])};
  const FileDescriptor theirs = moved_up(FileDescriptor(ends[1]));
  if (!theirs.is_open()) return failed("cannot copy a file descriptor");
  ::fcntl(process.control.get(), F_SETFL, O_NONBLOCK);

  SpawnPlan plan;
  if (const int error = plan.run(process.pid, program, label, theirs.get(), file->get(), lease_fd); error != 0) {
    errno = error;
    return failed("cannot start a supervisor process");
  }
  process.handle = open_process(process.pid);
  if (!process.handle.is_open()) {
    const auto error = failed("cannot watch a supervisor process");
    ::kill(process.pid, SIGKILL);  // nothing runs below it yet
    ::waitpid(process.pid, nullptr, 0);
    return error;
  }
  return process;
}

}  // namespace weft::local
