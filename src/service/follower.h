#pragma once

#include "service/backend.h"
#include "service/feed.h"
#include "service/output_tail.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft::service {

enum class FollowStep : uint8_t {
  kData,  ///< bytes to send were appended
  kWait,  ///< nothing now: ask again when the feed rings or a watched file changes
  kEnd,   ///< there will never be more
};

/// A reply that grows: the bytes of a stream, asked for one piece at a time. Knows nothing of sockets.
class Follower {
 public:
  virtual ~Follower() = default;
  virtual FollowStep next(std::string& out) = 0;
  /// Files whose growth is news.
  virtual std::vector<std::string> files() const { return {}; }
  /// The reader went away before the end.
  virtual void abandoned() {}
};

enum class OutputStream : uint8_t { kOut, kErr };

enum class OutputUntil : uint8_t { kNow, kJobEnd };

/// One stream of one task, as far as it is written now or until the job has ended.
std::unique_ptr<Follower> follow_output(Backend& backend, JobId job, int32_t task, OutputStream stream,
                                        OutputUntil until);

/// Frames of an attached client: see Frame. The job is cancelled when the client goes away: a command in the foreground
/// belongs to it.
std::unique_ptr<Follower> follow_attached(Backend& backend, JobId job);

/// Server-sent events with a number above `after`, without end. Where some are kept no longer, for a reader that is
/// slow, an event `missed` says from which number to which.
std::unique_ptr<Follower> follow_events(Backend& backend, const Feed& feed, uint64_t after);

/// What follows in an attached stream. On the wire: one byte of kind, the size in four bytes, most significant first,
/// the bytes.
struct Frame {
  enum class Kind : uint8_t { kOut = 1, kErr = 2, kState = 3 };
  Kind kind = Kind::kOut;
  std::string bytes;  ///< of kState the job as JSON (see info.h)
};
std::string write_frame(Frame::Kind kind, std::string_view bytes);

/// Puts frames together from pieces of any size.
class FrameReader {
 public:
  void add(std::string_view bytes) { buffer_ += bytes; }
  /// False when no whole frame is there.
  enum class Status : uint8_t { kFrame, kIncomplete, kMalformed };
  Status next(Frame& out);

 private:
  std::string buffer_;
};

}  // namespace weft::service
