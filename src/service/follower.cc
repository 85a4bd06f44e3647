#include "service/follower.h"

#include "service/describe.h"
#include "service/info.h"

#include <fmt/format.h>

#include <optional>

namespace weft::service {
namespace {

constexpr size_t kPieceBytes = 64 * 1024;
constexpr size_t kFrameHeaderBytes = 5;
constexpr size_t kFrameBytesMax = 1024 * 1024;

/// The streams of one task, once it was started. What its files held before, or will never hold, is not shown.
class TaskStreams {
 public:
  TaskStreams(Backend& backend, JobId job, int32_t task) : backend_(backend), job_(job), task_(task) {}

  size_t read(OutputStream stream, std::string& out) {
    if (!out_) open();
    std::optional<OutputTail>& tail = stream == OutputStream::kOut ? out_ : err_;
    return tail ? tail->read(out, kPieceBytes) : 0;
  }
  /// Some of it could not be looked at just now.
  bool is_short() const { return (out_ && out_->is_short()) || (err_ && err_->is_short()); }
  std::vector<std::string> paths() const {
    std::vector<std::string> paths;
    if (out_) paths.push_back(out_->path());
    if (err_) paths.push_back(err_->path());
    return paths;
  }

 private:
  void open() {
    const auto files = backend_.files(job_, task_);
    if (!files || !files->is_begun) return;
    out_.emplace(files->output, files->output_begin);
    // With both in one file, that one's bytes come once.
    if (files->error != files->output) err_.emplace(files->error, files->error_begin);
  }

  Backend& backend_;
  JobId job_;
  int32_t task_;
  std::optional<OutputTail> out_;
  std::optional<OutputTail> err_;
};

class OutputFollower final : public Follower {
 public:
  OutputFollower(Backend& backend, JobId job, int32_t task, OutputStream stream, OutputUntil until)
      : backend_(backend), job_(job), streams_(backend, job, task), stream_(stream), until_(until) {}

  FollowStep next(std::string& out) override {
    // Looked at before the file: what a job writes is in its file before it has ended.
    const bool has_ended = until_ == OutputUntil::kNow || is_end_state(backend_.scheduler().job_state(job_));
    if (streams_.read(stream_, out) > 0) return FollowStep::kData;
    return has_ended && !streams_.is_short() ? FollowStep::kEnd : FollowStep::kWait;
  }
  std::vector<std::string> files() const override { return streams_.paths(); }

 private:
  Backend& backend_;
  JobId job_;
  TaskStreams streams_;
  OutputStream stream_;
  OutputUntil until_;
};

class AttachedFollower final : public Follower {
 public:
  AttachedFollower(Backend& backend, JobId job) : backend_(backend), job_(job), streams_(backend, job, 0) {}

  FollowStep next(std::string& out) override {
    const JobState state = backend_.scheduler().job_state(job_);
    std::string piece;
    // The state first of all, so that the client knows its job.
    if (has_told_ && streams_.read(OutputStream::kOut, piece) > 0) {
      out += write_frame(Frame::Kind::kOut, piece);
    } else if (has_told_ && streams_.read(OutputStream::kErr, piece) > 0) {
      out += write_frame(Frame::Kind::kErr, piece);
    } else if (is_end_state(state) && streams_.is_short()) {
      return FollowStep::kWait;
    } else if (!has_told_ || state != told_ || (is_end_state(state) && !has_told_end_)) {
      tell(state, out);
    } else {
      return is_end_state(state) ? FollowStep::kEnd : FollowStep::kWait;
    }
    return FollowStep::kData;
  }
  std::vector<std::string> files() const override { return streams_.paths(); }
  void abandoned() override {
    if (!is_end_state(backend_.scheduler().job_state(job_))) backend_.cancel(job_, CancelMode::kGraceful);
  }

 private:
  void tell(JobState state, std::string& out) {
    has_told_end_ = has_told_ && is_end_state(state);
    has_told_ = true;
    told_ = state;
    out += write_frame(Frame::Kind::kState, write_job(describe_job(backend_, job_)));
  }

  Backend& backend_;
  JobId job_;
  TaskStreams streams_;
  JobState told_ = JobState::kPending;
  bool has_told_ = false;
  bool has_told_end_ = false;  ///< behind all output
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
    if (next_ < feed_.oldest()) {
      out += fmt::format("event: missed\ndata: {{\"from\":{},\"to\":{}}}\n\n", next_, feed_.oldest() - 1);
      next_ = feed_.oldest();
      return FollowStep::kData;
    }
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

}  // namespace

std::unique_ptr<Follower> follow_output(Backend& backend, JobId job, int32_t task, OutputStream stream,
                                        OutputUntil until) {
  return std::make_unique<OutputFollower>(backend, job, task, stream, until);
}

std::unique_ptr<Follower> follow_attached(Backend& backend, JobId job) {
  return std::make_unique<AttachedFollower>(backend, job);
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
