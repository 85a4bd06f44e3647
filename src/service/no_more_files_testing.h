#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace weft::service {

/// The undefined-behaviour sanitizer opens a pipe to look at an object, and without one takes the object for broken.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kChecksNeedFiles = true;
#else
inline constexpr bool kChecksNeedFiles = false;
#endif
#else
inline constexpr bool kChecksNeedFiles = false;
#endif

/// Takes the file descriptors of this process away, all but those that it has.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(lowest);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(lowest), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace weft::service
