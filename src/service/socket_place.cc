#include "service/socket_place.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace weft::service {
namespace {

std::string error_text() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): one thread

/// The folder that holds the socket, made for its owner alone where it is missing.
Result<void> make_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return {};
  const std::string folder = path.substr(0, slash);
  if (::mkdir(folder.c_str(), 0700) == 0) return {};
  struct stat status{};
  if (errno == EEXIST && ::stat(folder.c_str(), &status) == 0) {
    if (!S_ISDIR(status.st_mode)) return fail(ErrorCode::kInvalidInput, fmt::format("{} is not a folder", folder));
    // In /tmp anybody could have made the folder first, to put a server of his own into it.
    if (folder.starts_with("/tmp/weft-") && status.st_uid != ::geteuid()) {
      return fail(ErrorCode::kPermission, fmt::format("{} belongs to somebody else", folder));
    }
    return {};
  }
  return fail(ErrorCode::kUnavailable, fmt::format("cannot make the folder {}: {}", folder, error_text()));
}

/// True when `fd` still is the file at `path`: its former owner may have removed it between our open and our lock.
bool is_still_there(int fd, const std::string& path) {
  struct stat opened{};
  struct stat named{};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

Result<int> lock(const std::string& lock_path, const std::string& socket_path) {
  for (;;) {
    const int fd = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail(ErrorCode::kUnavailable, fmt::format("cannot open {}: {}", lock_path, error_text()));
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd);
      return fail(
          ErrorCode::kConflict,
          fmt::format("a weft server is listening on {} already; another place is given with --socket", socket_path));
    }
    if (is_still_there(fd, lock_path)) return fd;
    ::close(fd);
  }
}

}  // namespace

Result<SocketPlace> SocketPlace::take(const std::string& path) {
  if (path.empty()) return fail(ErrorCode::kInvalidInput, "the path of the socket is empty");
  if (path.size() >= sizeof(sockaddr_un{}.sun_path)) {
    return fail(ErrorCode::kInvalidInput, fmt::format("the socket's path has {} bytes; the system takes at most {}: {}",
                                                      path.size(), sizeof(sockaddr_un{}.sun_path) - 1, path));
  }
  if (auto made = make_folder(path); !made) return std::unexpected(made.error());
  const auto fd = lock(path + ".lock", path);
  if (!fd) return std::unexpected(fd.error());
  SocketPlace place(path, *fd);
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) {
      place.path_.clear();  // not ours to remove
      ::unlink((path + ".lock").c_str());
      return fail(ErrorCode::kInvalidInput, fmt::format("{} is there already and is no socket", path));
    }
    if (::unlink(path.c_str()) != 0) {
      return fail(ErrorCode::kUnavailable, fmt::format("cannot remove the old socket {}: {}", path, error_text()));
    }
  }
  return place;
}

SocketPlace::SocketPlace(SocketPlace&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_fd_(std::exchange(other.lock_fd_, -1)) {}

SocketPlace::~SocketPlace() {
  if (lock_fd_ < 0) return;
  if (!path_.empty()) {
    ::unlink(path_.c_str());
    ::unlink((path_ + ".lock").c_str());
  }
  ::close(lock_fd_);
}

std::string default_socket_path() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
    return value == nullptr ? "" : value;
  };
  if (const std::string path = variable("WEFT_SOCKET"); !path.empty()) return path;
  if (const std::string folder = variable("XDG_RUNTIME_DIR"); !folder.empty()) return folder + "/weft/weft.sock";
  return ::geteuid() == 0 ? "/run/weft/weft.sock" : fmt::format("/tmp/weft-{}/weft.sock", ::geteuid());
}

}  // namespace weft::service
