#include "service/server.h"

#include "service/api.h"
#include "service/file_watcher.h"
#include "service/info.h"
#include "service/socket_place.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <utility>

namespace weft::service {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Socket = asio::local::stream_protocol::socket;
using ErrorCodeOut = boost::system::error_code;

constexpr size_t kBodyBytesMax = 24 * 1024 * 1024;
constexpr uint32_t kHeaderBytesMax = 64 * 1024;
/// A file may grow unseen where inotify is not at work (a network file system, no watches left): followers look again
/// this often.
constexpr auto kLookAgain = std::chrono::seconds(1);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
/// From the first moment of waiting for a request to its last byte; a connection that takes longer is closed.
constexpr auto kRequestTime = std::chrono::seconds(60);
/// How long, and how much of, the rest of a refused request is read and thrown away, so that its sender gets to see the
/// answer instead of a broken connection.
constexpr auto kDrainTime = std::chrono::seconds(2);
constexpr size_t kDrainBytesMax = size_t{1} << 32;

/// `handler` for an operation whose failure is looked at instead of thrown.
auto into(ErrorCodeOut& error) { return asio::redirect_error(asio::use_awaitable, error); }

uid_t peer_of(Socket& socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return static_cast<uid_t>(-1);
  return credentials.uid;
}

Method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get: return Method::kGet;
    case http::verb::post: return Method::kPost;
    case http::verb::delete_: return Method::kDelete;
    default: return Method::kOther;
  }
}

/// What is said about a request that could not be read.
Reply refusal_of(const ErrorCodeOut& error) {
  const auto refuse = [](unsigned status, std::string_view text) {
    return Reply{.status = status, .body = write_error("invalid_input", text)};
  };
  if (error == http::error::header_limit)
    return refuse(431, fmt::format("the header of the request is larger than {} bytes", kHeaderBytesMax));
  if (error == http::error::body_limit)
    return refuse(413, fmt::format("the request is larger than {} bytes", kBodyBytesMax));
  return refuse(400, fmt::format("not a valid HTTP request: {}", error.message()));
}

/// Ends what a socket waits for when the time is over, unless it is destroyed before.
class Deadline {
 public:
  Deadline(const std::shared_ptr<Socket>& socket, std::chrono::steady_clock::duration time)
      : timer_(socket->get_executor(), time) {
    timer_.async_wait([socket, is_on = std::weak_ptr(is_on_)](const ErrorCodeOut& error) {
      ErrorCodeOut ignored;
      if (!error && !is_on.expired()) socket->cancel(ignored);
    });
  }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<bool> is_on_ = std::make_shared<bool>(true);
};

/// Counts a reply for as long as it is being sent.
class Busy {
 public:
  explicit Busy(size_t& count) : count_(count) { ++count_; }
  ~Busy() { --count_; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  size_t& count_;
};

/// One client while a stream is sent to it: what wakes the sender up, and whether the client is still there.
struct Stream {
  explicit Stream(Socket& s) : socket(s), bell(s.get_executor()) {}
  Socket& socket;
  asio::steady_timer bell;
  bool is_abandoned = false;
};

}  // namespace

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
  Impl(asio::io_context& io, Api& a, std::string path)
      : context(io), api(a), socket_path(std::move(path)), acceptor(io), room(io), files(io) {}

  Result<void> listen();
  asio::awaitable<void> accept_all();
  asio::awaitable<void> serve(std::shared_ptr<Socket> socket);
  asio::awaitable<bool> serve_one(const std::shared_ptr<Socket>& connection, boost::beast::flat_buffer& buffer,
                                  uid_t peer);
  asio::awaitable<void> drain(const std::shared_ptr<Socket>& connection);
  asio::awaitable<void> send(Socket& socket, Reply reply, unsigned version, bool& keep_alive);
  asio::awaitable<void> send_stream(Socket& socket, Reply reply, unsigned version);
  asio::awaitable<void> send_pieces(Follower& follower, const std::shared_ptr<Stream>& stream, uint64_t reader);
  struct StreamPlace;
  void watch_files();

  asio::io_context& context;
  Api& api;
  std::string socket_path;
  std::optional<SocketPlace> place;
  asio::local::stream_protocol::acceptor acceptor;
  asio::steady_timer room;  ///< waited for while there are as many connections as there may be
  FileWatcher watcher;
  asio::posix::stream_descriptor files;
  std::map<uint64_t, std::weak_ptr<Stream>> readers;  ///< of the watcher
  uint64_t next_reader = 1;
  size_t connections = 0;
  size_t connections_max = SIZE_MAX;
  size_t busy = 0;
};

Result<void> Server::Impl::listen() {
  auto taken = SocketPlace::take(socket_path);
  if (!taken) return std::unexpected(taken.error());
  place.emplace(std::move(*taken));
  try {
    // The socket is nobody else's from its first moment on.
    const mode_t before = ::umask(0177);
    acceptor.open();
    acceptor.bind(asio::local::stream_protocol::endpoint(socket_path));
    ::umask(before);
    acceptor.listen();
  } catch (const std::exception& exception) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot listen on {}: {}", socket_path, exception.what()));
  }
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  if (watcher.fd() >= 0) {
    files.assign(::fcntl(watcher.fd(), F_DUPFD_CLOEXEC, 0));
    watch_files();
  }
  asio::co_spawn(context, [self = shared_from_this()] { return self->accept_all(); }, asio::detached);
  return {};
}

void Server::Impl::watch_files() {
  files.async_wait(asio::posix::stream_descriptor::wait_read, [weak = weak_from_this()](const ErrorCodeOut& error) {
    const auto self = weak.lock();
    if (error || self == nullptr) return;
    for (const uint64_t reader : self->watcher.take_changed()) {
      const auto found = self->readers.find(reader);
      if (found == self->readers.end()) continue;
      if (const auto stream = found->second.lock()) stream->bell.cancel();
    }
    self->watch_files();
  });
}

asio::awaitable<void> Server::Impl::accept_all() {
  const auto self = shared_from_this();
  while (acceptor.is_open()) {
    ErrorCodeOut error;
    if (connections >= connections_max) {
      room.expires_at(asio::steady_timer::time_point::max());
      co_await room.async_wait(into(error));
      continue;
    }
    auto socket = std::make_shared<Socket>(context);
    co_await acceptor.async_accept(*socket, into(error));
    if (!acceptor.is_open()) co_return;
    if (error) {
      // Out of file descriptors, most likely: some will come back.
      asio::steady_timer pause(context, kAcceptPause);
      co_await pause.async_wait(into(error));
      continue;
    }
    ::fcntl(socket->native_handle(), F_SETFD, FD_CLOEXEC);
    ++connections;
    asio::co_spawn(context, [self, socket] { return self->serve(socket); }, asio::detached);
  }
}

asio::awaitable<void> Server::Impl::serve(std::shared_ptr<Socket> socket) {
  const auto self = shared_from_this();
  boost::beast::flat_buffer buffer;
  const uid_t peer = peer_of(*socket);
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = co_await serve_one(socket, buffer, peer);
    } catch (const std::exception&) {
      goes_on = false;  // memory ran out, or the like: this connection is over, the others are not
    }
  }
  ErrorCodeOut ignored;
  socket->shutdown(Socket::shutdown_both, ignored);
  socket->close(ignored);
  --connections;
  room.cancel();
}

/// One request and its reply; false when the connection is over.
asio::awaitable<bool> Server::Impl::serve_one(const std::shared_ptr<Socket>& connection,
                                              boost::beast::flat_buffer& buffer, uid_t peer) {
  Socket& socket = *connection;
  http::request_parser<http::string_body> parser;
  parser.body_limit(kBodyBytesMax);
  parser.header_limit(kHeaderBytesMax);
  ErrorCodeOut error;
  {
    const Deadline deadline(connection, kRequestTime);
    co_await http::async_read(socket, buffer, parser, into(error));
  }
  if (error == asio::error::operation_aborted || error == http::error::end_of_stream ||
      error == asio::error::connection_reset)
    co_return false;
  bool keep_alive = false;
  if (error) {
    co_await send(socket, refusal_of(error), 11, keep_alive);
    co_await drain(connection);
    co_return false;
  }
  auto message = parser.release();
  Request request{.method = method_of(message.method()),
                  .target = std::string(message.target()),
                  .body = std::move(message.body()),
                  .peer = peer};
  Reply reply;
  try {
    reply = api.handle(request);
  } catch (const std::exception& exception) {
    reply = {.status = 500, .body = write_error("internal", exception.what())};
  }
  keep_alive = message.keep_alive();
  const Busy sending(busy);
  if (reply.follower != nullptr) {
    co_await send_stream(socket, std::move(reply), message.version());
    keep_alive = false;
  } else {
    co_await send(socket, std::move(reply), message.version(), keep_alive);
  }
  co_return keep_alive;
}

asio::awaitable<void> Server::Impl::drain(const std::shared_ptr<Socket>& connection) {
  ErrorCodeOut error;
  connection->shutdown(Socket::shutdown_send, error);
  const Deadline deadline(connection, kDrainTime);
  std::string rest(size_t{64} * 1024, '\0');
  for (size_t drained = 0; !error && drained < kDrainBytesMax;) {
    drained += co_await connection->async_read_some(asio::buffer(rest), into(error));
  }
}

asio::awaitable<void> Server::Impl::send(Socket& socket, Reply reply, unsigned version, bool& keep_alive) {
  http::response<http::string_body> response(static_cast<http::status>(reply.status), version);
  response.set(http::field::content_type, reply.content_type);
  response.keep_alive(keep_alive);
  response.body() = std::move(reply.body);
  response.prepare_payload();
  ErrorCodeOut error;
  co_await http::async_write(socket, response, into(error));
  if (error) keep_alive = false;
}

/// Where a stream is known, so that what happens wakes it. Left also when the server ends in the middle of the stream,
/// for nobody may keep a timer longer than its context.
struct Server::Impl::StreamPlace {
  StreamPlace(Impl& server, const std::shared_ptr<Stream>& stream)
      : impl(server),
        reader(server.next_reader++),
        subscription(server.api.feed().subscribe([stream] { stream->bell.cancel(); })) {
    impl.readers[reader] = stream;
  }
  ~StreamPlace() {
    impl.api.feed().unsubscribe(subscription);
    impl.watcher.forget(reader);
    impl.readers.erase(reader);
  }
  StreamPlace(const StreamPlace&) = delete;
  StreamPlace& operator=(const StreamPlace&) = delete;

  Impl& impl;
  const uint64_t reader;
  const uint64_t subscription;
};

asio::awaitable<void> Server::Impl::send_stream(Socket& socket, Reply reply, unsigned version) {
  http::response<http::empty_body> response(http::status::ok, version);
  response.set(http::field::content_type, reply.content_type);
  response.keep_alive(false);
  response.chunked(true);
  http::response_serializer<http::empty_body> serializer(response);
  ErrorCodeOut error;
  co_await http::async_write_header(socket, serializer, into(error));
  if (error) {
    reply.follower->abandoned();
    co_return;
  }
  const auto stream = std::make_shared<Stream>(socket);
  const StreamPlace here(*this, stream);
  // Nothing more is expected from the client: what comes is its end.
  socket.async_wait(Socket::wait_read, [stream](const ErrorCodeOut& failed) {
    if (failed == asio::error::operation_aborted) return;
    stream->is_abandoned = true;
    stream->bell.cancel();
  });
  co_await send_pieces(*reply.follower, stream, here.reader);
  socket.cancel(error);
}

asio::awaitable<void> Server::Impl::send_pieces(Follower& follower, const std::shared_ptr<Stream>& stream,
                                                uint64_t reader) {
  ErrorCodeOut error;
  std::string piece;
  while (!stream->is_abandoned && !error) {
    for (const std::string& path : follower.files()) watcher.watch(path, reader);
    piece.clear();
    const FollowStep step = follower.next(piece);
    if (step == FollowStep::kEnd) {
      co_await asio::async_write(stream->socket, http::make_chunk_last(), into(error));
      co_return;
    }
    if (step == FollowStep::kData) {
      co_await asio::async_write(stream->socket, http::make_chunk(asio::buffer(piece)), into(error));
      continue;
    }
    stream->bell.expires_after(kLookAgain);
    ErrorCodeOut rung;
    co_await stream->bell.async_wait(into(rung));
  }
  follower.abandoned();
}

Server::Server(asio::io_context& context, Api& api, std::string socket_path)
    : impl_(std::make_shared<Impl>(context, api, std::move(socket_path))) {}

Server::~Server() { close(); }

Result<void> Server::listen() { return impl_->listen(); }

void Server::limit_connections(size_t count_max) { impl_->connections_max = count_max; }

void Server::close() {
  ErrorCodeOut ignored;
  impl_->acceptor.close(ignored);
  impl_->room.cancel();
  impl_->files.close(ignored);
  impl_->place.reset();
}

size_t Server::busy_count() const { return impl_->busy; }

}  // namespace weft::service
