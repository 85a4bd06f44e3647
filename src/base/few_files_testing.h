#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace weft {

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

/// Leaves this process `more` file descriptors beside those that it has, as long as it lives.
class FewFiles {
 public:
  explicit FewFiles(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    const rlimit few{.rlim_cur = static_cast<rlim_t>(next) + more, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace weft
