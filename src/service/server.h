#pragma once

#include "base/result.h"

#include <cstddef>
#include <memory>
#include <string>
#include <sys/types.h>

namespace boost::asio {
class io_context;
}

namespace weft::service {

class Api;

/// The API over HTTP/1.1 on a Unix socket. Runs on the thread of `context` alone.
///
/// 1. The socket is made with mode 0600, and each connection is asked who it is by the kernel (SO_PEERCRED).
/// 2. One server per socket: a lock file beside it says that the owner lives. A socket that a dead server left is
/// replaced.
/// 3. A client that goes away, sends rubbish or too much costs only its own connection.
/// 4. With as many connections as are allowed no further one is accepted until one of them has ended: its client waits.
class Server {
 public:
  /// `context` outlives the server, and `api` outlives `context`: with that end the streams that are still open.
  Server(boost::asio::io_context& context, Api& api, std::string socket_path);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Error kConflict: another server is there; kInvalidInput: a path that cannot be a socket; kUnavailable: the system
  /// refused.
  Result<void> listen();
  /// How many connections there may be at a time; without it as many as come.
  void limit_connections(size_t count_max);
  /// Takes no further connections and removes the socket. Streams go on until their followers end.
  void close();
  /// Connections on which a reply is being sent.
  size_t busy_count() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace weft::service
