#include "cli/state_folder.h"

#include "base/text.h"
#include "cli/commands.h"
#include "cli/present.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft::cli {
namespace {

/// Everything in the jobs folder is removed, and others are shut out of the whole: not where somebody else keeps
/// things.
Result<void> check_is_ours(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path + "/tasks.lock", error)) return {};
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path name = entry->path().filename();
    if (name == "lock") continue;  // of a server that ended, or still is, before its second file
    if (name == "lost+found" && entry->is_directory(error)) continue;  // of a file system that was just made
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} holds other files; a state directory must be new, empty, or one of weft's", path));
  }
  if (error)
    return fail(ErrorCode::kUnavailable, fmt::format("cannot read the state directory {}: {}", path, error.message()));
  return {};
}

}  // namespace

Result<StateFolder> StateFolder::take(const std::string& path, Duration patience) {
  std::error_code error;
  const std::string whole = std::filesystem::absolute(path, error).lexically_normal().string();
  if (!error) std::filesystem::create_directories(whole, error);
  if (error)
    return fail(ErrorCode::kUnavailable, fmt::format("cannot make the state directory {}: {}", path, error.message()));
  if (auto ours = check_is_ours(whole); !ours) return std::unexpected(ours.error());
  std::filesystem::permissions(whole, std::filesystem::perms::owner_all, error);  // it holds what users wrote
  const int fd = ::open((whole + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot write to the state directory {}: {}", whole,
                                                     std::generic_category().message(errno)));
  }
  StateFolder folder(whole, fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    folder.path_.clear();  // not ours to clean
    return fail(
        ErrorCode::kConflict,
        fmt::format(
            "another weft server uses the state directory {}; a second one needs --state-dir and --socket of its own",
            whole));
  }
  auto lease = local::Lease::take(whole + "/tasks.lock", patience, [&](size_t tasks) {
    report(fmt::format("{} task{} of a server that was killed still end{}; what is left after {} is killed", tasks,
                       tasks == 1 ? "" : "s", tasks == 1 ? "s" : "", format_duration(patience)),
           kSuccess);
  });
  if (!lease) {
    folder.path_.clear();
    return std::unexpected(lease.error());
  }
  folder.lease_ = std::move(*lease);
  std::filesystem::remove_all(folder.jobs(), error);
  if (!error) std::filesystem::create_directory(folder.jobs(), error);
  if (error) return fail(ErrorCode::kUnavailable, fmt::format("cannot empty {}: {}", folder.jobs(), error.message()));
  return folder;
}

StateFolder::StateFolder(StateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      lease_(std::move(other.lease_)) {}

StateFolder::~StateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(jobs(), ignored);
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

}  // namespace weft::cli
