#include "store/journal_file.h"

#include "base/printable.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace weft::store {

namespace {

std::string reason() { return std::generic_category().message(errno); }

std::unexpected<Error> wrong(ErrorCode code, const std::string& path, std::string_view what) {
  return fail(code, fmt::format("{}: {}", printable(path), what));
}

/// What SQLite keeps beside a database. One that is left beside another file of the name would be taken for its own.
void remove_companions(const std::string& path) {
  for (const char* const ending : {"-wal", "-shm", "-journal"}) ::unlink((path + ending).c_str());
}

/// Where a path leads, links followed.
std::string place_of(const std::string& path) {
  std::error_code code;
  const std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(path, code), code);
  return code ? path : place.string();
}

enum class Hold : uint8_t { kMine, kGone, kOthers };

/// Locks an open file and looks whether it still has its name.
Hold hold(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return Hold::kOthers;
  struct stat open_file{}, named{};
  const bool is_named = ::fstat(fd, &open_file) == 0 && ::stat(path.c_str(), &named) == 0 &&
                        open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
  return is_named ? Hold::kMine : Hold::kGone;
}

}  // namespace

Result<std::unique_ptr<JournalFile>> JournalFile::beside(const std::string& path) {
  const std::string place = place_of(path);
  struct stat status{};
  if (::stat(place.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return wrong(ErrorCode::kInvalidInput, path, "is no file that a journal could take the place of");
  const std::string partial = place + ".unfinished";
  for (;;) {
    const int fd = ::open(partial.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) return wrong(ErrorCode::kUnavailable, partial, "cannot be made: " + reason());
    std::unique_ptr<JournalFile> file(new JournalFile(partial, place, fd));
    const Hold held = hold(fd, partial);
    if (held == Hold::kOthers)
      return wrong(ErrorCode::kConflict, partial, "another run is writing it; give this one another name");
    if (held == Hold::kGone) continue;  // the other run has just finished
    remove_companions(partial);
    if (::ftruncate(fd, 0) != 0) return wrong(ErrorCode::kUnavailable, partial, "cannot be written: " + reason());
    return file;
  }
}

Result<std::unique_ptr<JournalFile>> JournalFile::at(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) {
    struct stat status{};
    fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_empty = fd >= 0 && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0 &&
                          ::fchmod(fd, 0600) == 0 && hold(fd, path) == Hold::kMine;
    if (!is_empty) {
      if (fd >= 0) ::close(fd);
      return wrong(ErrorCode::kInvalidInput, path,
                   "is there already; a journal is not written over: move it away, or give another name");
    }
  } else if (fd < 0) {
    return wrong(ErrorCode::kUnavailable, path, "cannot be made: " + reason());
  } else if (hold(fd, path) != Hold::kMine) {
    ::close(fd);
    return wrong(ErrorCode::kConflict, path, "another program took it");
  }
  remove_companions(path);
  return std::unique_ptr<JournalFile>(new JournalFile(path, {}, fd));
}

JournalFile::~JournalFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> JournalFile::take_place() {
  struct stat replaced{};
  if (::stat(place_.c_str(), &replaced) == 0) ::fchmod(fd_, replaced.st_mode & 07777);
  remove_companions(place_);
  if (::rename(path_.c_str(), place_.c_str()) != 0)
    return wrong(ErrorCode::kUnavailable, place_, "cannot be written: " + reason());
  return {};
}

void JournalFile::remove() {
  remove_companions(path_);
  ::unlink(path_.c_str());
}

}  // namespace weft::store
