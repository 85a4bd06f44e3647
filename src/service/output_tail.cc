#include "service/output_tail.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft::service {

OutputTail::~OutputTail() {
  if (fd_ >= 0) ::close(fd_);
}

OutputTail::OutputTail(OutputTail&& other) noexcept
    : path_(std::move(other.path_)),
      begin_(other.begin_),
      fd_(std::exchange(other.fd_, -1)),
      is_short_(other.is_short_) {}

size_t OutputTail::read(std::string& out, size_t size) {
  if (fd_ < 0) {
    fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    is_short_ = fd_ < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
    if (fd_ < 0) return 0;
    if (begin_ > 0) ::lseek(fd_, begin_, SEEK_SET);
  }
  struct stat status{};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  const size_t before = out.size();
  out.resize(before + size);
  ssize_t done = 0;
  do {
    done = ::read(fd_, out.data() + before, size);
  } while (done < 0 && errno == EINTR);
  out.resize(before + (done > 0 ? static_cast<size_t>(done) : 0));
  return out.size() - before;
}

}  // namespace weft::service
