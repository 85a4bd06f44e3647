#include "service/client.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace weft::service {
namespace {

namespace http = boost::beast::http;

constexpr size_t kPieceBytes = 64 * 1024;
constexpr uint64_t kAnswerBytesMax = uint64_t{1} << 32;
constexpr timeval kConnectPause{.tv_sec = 0, .tv_usec = 50'000};

std::string error_text(int number) { return std::strerror(number); }  // NOLINT(concurrency-mt-unsafe): one thread

std::string_view word(Method method) {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kPost: return "POST";
    case Method::kDelete: return "DELETE";
    case Method::kOther: break;
  }
  return "GET";
}

/// Waits for a server, and calls a client's handlers meanwhile.
class Waiter {
  using Clock = std::chrono::steady_clock;

 public:
  explicit Waiter(const Client::StreamHandlers& handlers) : handlers_(handlers) { restart(); }

  /// Until `events` come on `fd`. kStop: a handler wants no more.
  Client::Flow wait(int fd, short events) {
    Client::Flow flow = Client::Flow::kGoOn;
    bool has_come = false;
    while (!has_come && flow == Client::Flow::kGoOn) flow = step(fd, events, idle_end_ - Clock::now(), has_come);
    return flow;
  }
  /// Calls the handlers that are due now.
  Client::Flow look() {
    bool unused = false;
    return step(-1, 0, {}, unused);
  }

 private:
  /// `has_come`: what is waited for, or an error that the caller will meet.
  Client::Flow step(int fd, short events, Clock::duration at_most, bool& has_come) {
    std::array<pollfd, 2> waits{pollfd{fd, events, 0}, pollfd{handlers_.wake_fd, POLLIN, 0}};
    const int ready = ::poll(waits.data(), waits.size(), timeout_ms(at_most));
    has_come = (ready > 0 && waits[0].revents != 0) || (ready < 0 && errno != EINTR);
    if (ready > 0) {
      restart();
      return waits[1].revents != 0 ? call(handlers_.on_wake) : Client::Flow::kGoOn;
    }
    if (Clock::now() < idle_end_) return Client::Flow::kGoOn;
    restart();
    return call(handlers_.on_idle);
  }

  static Client::Flow call(const std::function<Client::Flow()>& handler) {
    return handler ? handler() : Client::Flow::kGoOn;
  }
  static int timeout_ms(Clock::duration time) {
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(time).count();
    return static_cast<int>(std::clamp<int64_t>(whole, 0, 1'000'000));
  }
  void restart() {
    idle_end_ = handlers_.idle_time >= kEndless ? Clock::time_point::max()
                                                : Clock::now() + std::chrono::nanoseconds(handlers_.idle_time.ns);
  }

  const Client::StreamHandlers& handlers_;
  Clock::time_point idle_end_;
};

class Connection {
 public:
  Connection(const std::string& path, const Client::StreamHandlers& handlers) : path_(path), waiter_(handlers) {}
  ~Connection() {
    if (fd_ >= 0) ::close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// kStop, here and below: a handler wants no more.
  Result<Client::Flow> open() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof(address.sun_path)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("the socket's path is longer than {} bytes: {}", sizeof(address.sun_path) - 1, path_));
    }
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return fail(ErrorCode::kUnavailable, fmt::format("cannot make a socket: {}", error_text(errno)));
    // A server with many connections to accept makes new ones wait, and poll() knows nothing of that.
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kConnectPause, sizeof(kConnectPause));
    while (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      if (errno != EAGAIN && errno != EINTR) return refused(errno);
      if (waiter_.look() == Client::Flow::kStop) return Client::Flow::kStop;
    }
    return Client::Flow::kGoOn;
  }

  /// As far as the server takes it: when it takes no more, its answer says why, if there is one.
  Client::Flow send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (size >= 0) {
        bytes.remove_prefix(static_cast<size_t>(size));
      } else if (errno == EAGAIN) {
        if (waiter_.wait(fd_, POLLOUT) == Client::Flow::kStop) return Client::Flow::kStop;
      } else if (errno != EINTR) {
        break;
      }
    }
    return Client::Flow::kGoOn;
  }

  Client::Flow wait() { return waiter_.wait(fd_, POLLIN); }
  /// At least one byte, or none at the end.
  Result<std::string_view> receive() {
    ssize_t size = 0;
    do {
      size = ::recv(fd_, buffer_.data(), buffer_.size(), 0);
    } while (size < 0 && errno == EINTR);
    if (size < 0 && errno != ECONNRESET)
      return fail(ErrorCode::kUnavailable, fmt::format("cannot read from {}: {}", path_, error_text(errno)));
    return std::string_view(buffer_.data(), size > 0 ? static_cast<size_t>(size) : 0);
  }

  std::unexpected<Error> gone() const {
    return fail(ErrorCode::kUnavailable, fmt::format("the weft server at {} went away", path_));
  }

 private:
  std::unexpected<Error> refused(int number) const {
    if (number == EACCES || number == EPERM) {
      return fail(ErrorCode::kPermission, fmt::format("the weft server at {} belongs to another user", path_));
    }
    if (number == ENOENT || number == ECONNREFUSED || number == ENOTDIR) {
      return fail(
          ErrorCode::kUnavailable,
          fmt::format("no weft server is listening on {}; start one with 'weft serve', or set WEFT_SOCKET", path_));
    }
    return fail(ErrorCode::kUnavailable, fmt::format("cannot connect to {}: {}", path_, error_text(number)));
  }

  const std::string& path_;
  Waiter waiter_;
  int fd_ = -1;
  std::array<char, kPieceBytes> buffer_{};
};

std::string request_text(Method method, std::string_view target, std::string_view body) {
  return fmt::format(
      "{} {} HTTP/1.1\r\nHost: weft\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: "
      "{}\r\n\r\n{}",
      word(method), target, body.size(), body);
}

/// Feeds `bytes` to a parser; false when they are no HTTP.
template <typename Parser>
bool feed(Parser& parser, std::string& pending, std::string_view bytes) {
  pending += bytes;
  while (!pending.empty() && !parser.is_done()) {
    boost::system::error_code error;
    const size_t used = parser.put(boost::asio::const_buffer(pending.data(), pending.size()), error);
    pending.erase(0, used);
    if (error == http::error::need_more) return true;
    if (error) return false;
    if (used == 0) break;
  }
  return true;
}

std::unexpected<Error> garbled() {
  return fail(ErrorCode::kInternal, "the server's answer is no HTTP: is something else listening there?");
}

/// Sends a request and feeds its answer to the parser, until that is whole or it is stopped: by a handler, or by
/// `flow`, which the parser's own handlers may set.
template <typename Parser>
Result<Client::Flow> exchange(const std::string& path, const std::string& request,
                              const Client::StreamHandlers& handlers, Parser& parser, const Client::Flow& flow) {
  Connection connection(path, handlers);
  if (const auto opened = connection.open(); !opened || *opened == Client::Flow::kStop) return opened;
  if (connection.send(request) == Client::Flow::kStop) return Client::Flow::kStop;
  std::string pending;
  while (!parser.is_done() && flow == Client::Flow::kGoOn) {
    if (connection.wait() == Client::Flow::kStop) return Client::Flow::kStop;
    const auto bytes = connection.receive();
    if (!bytes) return std::unexpected(bytes.error());
    if (bytes->empty()) return connection.gone();
    if (!feed(parser, pending, *bytes)) return garbled();
  }
  return flow;
}

}  // namespace

Result<Client::Answer> Client::request(Method method, std::string_view target, std::string_view body,
                                       Duration patience) const {
  http::response_parser<http::string_body> parser;
  parser.body_limit(kAnswerBytesMax);
  parser.eager(true);
  const StreamHandlers give_up{.on_data = {}, .idle_time = patience, .on_idle = [] { return Flow::kStop; }};
  const auto flow = exchange(socket_path_, request_text(method, target, body), give_up, parser, Flow::kGoOn);
  if (!flow) return std::unexpected(flow.error());
  if (*flow == Flow::kStop)
    return fail(ErrorCode::kUnavailable, fmt::format("the weft server at {} does not answer", socket_path_));
  return Answer{.status = parser.get().result_int(), .body = std::move(parser.get().body())};
}

Result<Client::Answer> Client::stream(Method method, std::string_view target, std::string_view body,
                                      const StreamHandlers& handlers) const {
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  parser.eager(true);
  Flow flow = Flow::kGoOn;
  // A stream is chunked and may be endless, so its chunks go to the handler; any other answer is kept whole.
  auto take_chunk = [&](uint64_t /*left*/, boost::beast::string_view piece, boost::system::error_code& /*error*/) {
    if (flow == Flow::kGoOn) flow = handlers.on_data(std::string_view(piece.data(), piece.size()));
    return piece.size();
  };
  parser.on_chunk_body(take_chunk);
  const auto ended = exchange(socket_path_, request_text(method, target, body), handlers, parser, flow);
  if (!ended) return std::unexpected(ended.error());
  if (*ended == Flow::kStop) return Answer{.status = 200};
  return Answer{.status = parser.get().result_int(), .body = std::move(parser.get().body())};
}

}  // namespace weft::service
