#include "engine/local/control.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace weft::local {
namespace {

struct Header {
  uint8_t kind = 0;
  std::array<uint8_t, 3> zero{};
  int32_t value = 0;
  int64_t grace_ns = 0;
};
static_assert(sizeof(Header) == 16, "the header has no padding: both ends are the same binary");

}  // namespace

bool is_shortage(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == EAGAIN || error_number == ENOMEM;
}

void send_message(int fd, const ControlMessage& message) {
  std::array<char, sizeof(Header) + kControlTextMax> packet{};
  const Header header{.kind = static_cast<uint8_t>(message.kind), .value = message.value, .grace_ns = message.grace_ns};
  const size_t text_size = std::min(message.text.size(), kControlTextMax);
  std::memcpy(packet.data(), &header, sizeof(header));
  if (text_size > 0) std::memcpy(packet.data() + sizeof(header), message.text.data(), text_size);
  while (::send(fd, packet.data(), sizeof(header) + text_size, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

Received receive_message(int fd, ControlMessage& out) {
  std::array<char, sizeof(Header) + kControlTextMax> packet{};
  ssize_t size = 0;
  do {
    size = ::recv(fd, packet.data(), packet.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Received::kNothingYet;
  if (size < static_cast<ssize_t>(sizeof(Header))) return Received::kClosed;
  Header header;
  std::memcpy(&header, packet.data(), sizeof(header));
  if (header.kind > static_cast<uint8_t>(ControlKind::kEnded)) return Received::kClosed;
  out.kind = static_cast<ControlKind>(header.kind);
  out.value = header.value;
  out.grace_ns = header.grace_ns;
  out.text.assign(packet.data() + sizeof(header), static_cast<size_t>(size) - sizeof(header));
  return Received::kMessage;
}

}  // namespace weft::local
