#include "engine/local/lease.h"

#include "engine/local/control.h"
#include "engine/local/process_tree.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace weft::local {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLookAgain = std::chrono::milliseconds(20);
/// How long a lock may be held by nobody who can be seen before that is an error: a supervisor that just started has
/// its file under another number for a moment.
constexpr auto kUnseenMax = std::chrono::seconds(5);

/// The supervisors that have `file` open where supervisors have their lease.
std::vector<Process> holders_of(const FileDescriptor& file) {
  struct stat wanted{};
  ::fstat(file.get(), &wanted);
  std::vector<Process> holders;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (folder == nullptr) return holders;
  while (const dirent* entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): one thread
    const std::string_view name(entry->d_name);
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid == ::getpid()) continue;
    const auto process = find_process(pid);
    struct stat held{};
    if (!process || ::stat(fmt::format("/proc/{}/fd/{}", pid, kLeaseFd).c_str(), &held) != 0) continue;
    if (held.st_dev == wanted.st_dev && held.st_ino == wanted.st_ino) holders.push_back(*process);
  }
  return holders;
}

bool try_lock(const FileDescriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace

Result<Lease> Lease::take(const std::string& path, Duration patience, const std::function<void(size_t)>& on_wait) {
  const FileDescriptor opened(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  FileDescriptor file(opened.is_open() ? ::fcntl(opened.get(), F_DUPFD_CLOEXEC, kAboveFixedFds) : -1);
  if (!file.is_open()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot open {}: {}", path, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  }
  if (try_lock(file)) return Lease(std::move(file));
  on_wait(holders_of(file).size());
  const auto deadline = Clock::now() + std::chrono::nanoseconds(patience.ns);
  auto last_seen = Clock::now();
  while (!try_lock(file)) {
    const auto holders = holders_of(file);
    if (!holders.empty()) last_seen = Clock::now();
    if (Clock::now() - last_seen > kUnseenMax)
      return fail(ErrorCode::kConflict, fmt::format("{} is locked by a process that is no task of weft", path));
    if (Clock::now() >= deadline) {
      for (const Process& holder : holders) {
        // A supervisor ends by itself when nothing is below it, unless it was stopped or hangs.
        if (kill_below(holder.pid) == Strays::kNone) signal_process(holder, SIGKILL);
      }
    }
    std::this_thread::sleep_for(kLookAgain);
  }
  return Lease(std::move(file));
}

}  // namespace weft::local
