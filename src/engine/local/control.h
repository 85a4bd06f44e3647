#pragma once

#include <cstdint>
#include <string>

namespace weft::local {

/// What the engine and a task's supervisor say to each other over a SOCK_SEQPACKET pair: one message a packet.
/// The supervisor's story is kReady, kRunning, kEnded; or kFailed in place of kReady, after which nothing of the task
/// runs.
enum class ControlKind : uint8_t {
  kGo,       ///< to the supervisor: run the command
  kStop,     ///< to the supervisor: end every process of the task within `grace_ns`
  kReady,    ///< output files are open, the command's process waits for kGo
  kFailed,   ///< `text` says what could not be prepared, `value` is the system's number for it, or 0
  kRunning,  ///< `value` is the command's process id
  kEnded,    ///< `value` is the command's exit status, 128 + signal when a signal ended it; no process of the task is
             ///< left
};

struct ControlMessage {
  ControlKind kind = ControlKind::kGo;
  int32_t value = 0;
  int64_t grace_ns = 0;
  std::string text;  ///< at most kControlTextMax bytes; the rest is cut off
};

inline constexpr size_t kControlTextMax = 1024;

/// The file descriptors that a supervisor inherits besides 0, 1 and 2.
inline constexpr int kControlFd = 3;
inline constexpr int kLaunchFd = 4;
inline constexpr int kLeaseFd = 5;  ///< see lease.h; not open where the engine has none
/// Descriptors that a child is to get under one of those numbers are kept away from them, so that one dup2 cannot hit
/// the other.
inline constexpr int kAboveFixedFds = 16;

/// True for numbers of errors that say "not now": file descriptors, processes or memory have run out.
bool is_shortage(int error_number);

enum class Received : uint8_t { kMessage, kNothingYet, kClosed };

/// Never blocks for longer than a packet takes; a peer that is gone is no error: its end is seen by receive().
void send_message(int fd, const ControlMessage& message);
/// `fd` in non-blocking mode gives kNothingYet when nothing is there. A malformed packet counts as kClosed.
Received receive_message(int fd, ControlMessage& out);

}  // namespace weft::local
