#pragma once

#include "base/result.h"

#include <string>

namespace weft::service {

/// Where a server listens: the path of its socket and the lock that keeps a second server away from it.
class SocketPlace {
 public:
  /// Locks `path`.lock and removes a socket that a dead server left at `path`.
  /// Error kConflict: another server has it; kInvalidInput: not a place for a socket; kUnavailable: the system refused.
  static Result<SocketPlace> take(const std::string& path);
  SocketPlace(SocketPlace&& other) noexcept;
  SocketPlace& operator=(SocketPlace&&) = delete;
  SocketPlace(const SocketPlace&) = delete;
  SocketPlace& operator=(const SocketPlace&) = delete;
  /// Removes socket and lock.
  ~SocketPlace();

  const std::string& path() const { return path_; }

 private:
  SocketPlace(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

  std::string path_;
  int lock_fd_ = -1;
};

/// $WEFT_SOCKET, else weft/weft.sock in $XDG_RUNTIME_DIR, else /run/weft/weft.sock for root and /tmp/weft-UID/weft.sock
/// for others.
std::string default_socket_path();

}  // namespace weft::service
