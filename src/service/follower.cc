#include "service/follower.h"

#include "service/describe.h"
#include "service/info.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::service {
namespace {

constexpr size_t kPieceBytes = 64 * 1024;
constexpr size_t kFrameHeaderBytes = 5;
constexpr size_t kFrameBytesMax = 1024 * 1024;

class OutputFollower final : public Follower {
 public:
  OutputFollower(Backend& backend, JobId job, std::string path, OutputUntil until)
      : backend_(backend), job_(job), tail_(std::move(path)), until_(until) {}

  FollowStep next(std::string& out) override {
    // Looked at before the file: what a job writes is in its file before it has ended.
    const bool has_ended = until_ == OutputUntil::kNow || is_end_state(backend_.scheduler().job_state(job_));
    if (tail_.read(out, kPieceBytes) > 0) return FollowStep::kData;
    return has_ended ? FollowStep::kEnd : FollowStep::kWait;
  }
  std::vector<std::string> files() const override { return {tail_.path()}; }

 private:
  Backend& backend_;
  JobId job_;
  OutputTail tail_;
  OutputUntil until_;
};

class AttachedFollower final : public Follower {
 public:
  AttachedFollower(Backend& backend, JobId job, const OutputFiles& files)
      : backend_(backend),
        job_(job),
        out_(files.output),
        err_(files.error),
        has_own_err_(files.error != files.output) {}

  FollowStep next(std::string& out) override {
    const JobState state = backend_.scheduler().job_state(job_);
    std::string piece;
    if (out_.read(piece, kPieceBytes) > 0) {
      out += write_frame(Frame::Kind::kOut, piece);
    } else if (has_own_err_ && err_.read(piece, kPieceBytes) > 0) {
      out += write_frame(Frame::Kind::kErr, piece);
    } else if (state != told_ || !has_told_) {
      told_ = state;
      has_told_ = true;
      out += write_frame(Frame::Kind::kState, write_job(describe_job(backend_, job_)));
    } else {
      return is_end_state(state) ? FollowStep::kEnd : FollowStep::kWait;
    }
    return FollowStep::kData;
  }
  std::vector<std::string> files() const override { return {out_.path(), err_.path()}; }
  void abandoned() override {
    if (!is_end_state(backend_.scheduler().job_state(job_))) backend_.cancel(job_, CancelMode::kGraceful);
  }

 private:
  Backend& backend_;
  JobId job_;
  OutputTail out_;
  OutputTail err_;
  bool has_own_err_;
  JobState told_ = JobState::kPending;
  bool has_told_ = false;
};

class EventFollower final : public Follower {
 public:
  EventFollower(Backend& backend, const Feed& feed, uint64_t after)
      : backend_(backend), feed_(feed), next_(after + 1) {}

  FollowStep next(std::string& out) override {
    if (!has_greeted_) {
      // A comment, so that the reader knows that it is listening.
      has_greeted_ = true;
      out += ": weft\n\n";
      return FollowStep::kData;
    }
    next_ = std::max(next_, feed_.oldest());
    if (next_ > feed_.last()) return backend_.is_over() ? FollowStep::kEnd : FollowStep::kWait;
    out += fmt::format("event: job\nid: {}\ndata: {}\n\n", next_, feed_.message(next_));
    ++next_;
    return FollowStep::kData;
  }

 private:
  Backend& backend_;
  const Feed& feed_;
  uint64_t next_;
  bool has_greeted_ = false;
};

class NothingFollower final : public Follower {
 public:
  FollowStep next(std::string& /*out*/) override { return FollowStep::kEnd; }
};

}  // namespace

std::unique_ptr<Follower> follow_output(Backend& backend, JobId job, int32_t task, OutputStream stream,
                                        OutputUntil until) {
  const auto files = backend.files(job, task);
  // The error stream of a job that writes both to one file is that file's, which the output stream gives already.
  if (!files || (stream == OutputStream::kErr && files->error == files->output))
    return std::make_unique<NothingFollower>();
  return std::make_unique<OutputFollower>(backend, job, stream == OutputStream::kOut ? files->output : files->error,
                                          until);
}

std::unique_ptr<Follower> follow_attached(Backend& backend, JobId job) {
  const auto files = backend.files(job, 0);
  return std::make_unique<AttachedFollower>(backend, job, files.value_or(OutputFiles{}));
}

std::unique_ptr<Follower> follow_events(Backend& backend, const Feed& feed, uint64_t after) {
  return std::make_unique<EventFollower>(backend, feed, after);
}

std::string write_frame(Frame::Kind kind, std::string_view bytes) {
  std::string out;
  out.reserve(kFrameHeaderBytes + bytes.size());
  out += static_cast<char>(kind);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(bytes.size() >> shift & 0xffU);
  out += bytes;
  return out;
}

FrameReader::Status FrameReader::next(Frame& out) {
  if (buffer_.size() < kFrameHeaderBytes) return Status::kIncomplete;
  size_t size = 0;
  for (size_t i = 1; i < kFrameHeaderBytes; ++i) size = size << 8 | static_cast<unsigned char>(buffer_[i]);
  const auto kind = static_cast<Frame::Kind>(buffer_[0]);
  if (kind < Frame::Kind::kOut || kind > Frame::Kind::kState || size > kFrameBytesMax) return Status::kMalformed;
  if (buffer_.size() < kFrameHeaderBytes + size) return Status::kIncomplete;
  out.kind = kind;
  out.bytes = buffer_.substr(kFrameHeaderBytes, size);
  buffer_.erase(0, kFrameHeaderBytes + size);
  return Status::kFrame;
}

}  // namespace weft::service
