#include "service/client.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace weft::service {
namespace {

namespace http = boost::beast::http;

constexpr size_t kPieceBytes = 64 * 1024;
constexpr uint64_t kAnswerBytesMax = uint64_t{1} << 32;

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

class Connection {
 public:
  explicit Connection(const std::string& path) : path_(path) {}
  ~Connection() {
    if (fd_ >= 0) ::close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<void> open() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof(address.sun_path)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("the socket's path is longer than {} bytes: {}", sizeof(address.sun_path) - 1, path_));
    }
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return fail(ErrorCode::kUnavailable, fmt::format("cannot make a socket: {}", error_text(errno)));
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return {};
    const int number = errno;
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

  Result<void> send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return {};  // the answer says why, if there is one
      bytes.remove_prefix(static_cast<size_t>(size));
    }
    return {};
  }

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

  int fd() const { return fd_; }
  std::unexpected<Error> gone() const {
    return fail(ErrorCode::kUnavailable, fmt::format("the weft server at {} went away", path_));
  }

 private:
  const std::string& path_;
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

Client::Flow call(const std::function<Client::Flow()>& handler) { return handler ? handler() : Client::Flow::kGoOn; }

/// Waits for bytes and calls handlers meanwhile.
Client::Flow wait(const Connection& connection, const Client::StreamHandlers& handlers) {
  for (;;) {
    std::array<pollfd, 2> waits{pollfd{connection.fd(), POLLIN, 0}, pollfd{handlers.wake_fd, POLLIN, 0}};
    const int timeout_ms = handlers.idle_time >= kEndless
                               ? -1
                               : static_cast<int>(std::min<int64_t>(handlers.idle_time.ns / 1'000'000, 1'000'000));
    const int ready = ::poll(waits.data(), waits.size(), timeout_ms);
    if (ready < 0 && errno != EINTR) return Client::Flow::kGoOn;
    if (ready == 0 && call(handlers.on_idle) == Client::Flow::kStop) return Client::Flow::kStop;
    if (ready <= 0) continue;
    if (waits[1].revents != 0 && call(handlers.on_wake) == Client::Flow::kStop) return Client::Flow::kStop;
    if (waits[0].revents != 0) return Client::Flow::kGoOn;
  }
}

}  // namespace

Result<Client::Answer> Client::request(Method method, std::string_view target, std::string_view body) const {
  Connection connection(socket_path_);
  if (auto opened = connection.open(); !opened) return std::unexpected(opened.error());
  if (auto sent = connection.send(request_text(method, target, body)); !sent) return std::unexpected(sent.error());
  http::response_parser<http::string_body> parser;
  parser.body_limit(kAnswerBytesMax);
  parser.eager(true);
  std::string pending;
  while (!parser.is_done()) {
    const auto bytes = connection.receive();
    if (!bytes) return std::unexpected(bytes.error());
    if (bytes->empty()) return connection.gone();
    if (!feed(parser, pending, *bytes)) return garbled();
  }
  return Answer{.status = parser.get().result_int(), .body = std::move(parser.get().body())};
}

Result<Client::Answer> Client::stream(Method method, std::string_view target, std::string_view body,
                                      const StreamHandlers& handlers) const {
  Connection connection(socket_path_);
  if (auto opened = connection.open(); !opened) return std::unexpected(opened.error());
  if (auto sent = connection.send(request_text(method, target, body)); !sent) return std::unexpected(sent.error());
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
  std::string pending;
  while (!parser.is_done()) {
    if (wait(connection, handlers) == Flow::kStop) return Answer{.status = 200};
    const auto bytes = connection.receive();
    if (!bytes) return std::unexpected(bytes.error());
    if (bytes->empty()) return connection.gone();
    if (!feed(parser, pending, *bytes)) return garbled();
    if (flow == Flow::kStop) break;
  }
  return Answer{.status = parser.get().result_int(), .body = std::move(parser.get().body())};
}

}  // namespace weft::service
