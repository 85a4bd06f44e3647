#include "cli/run_command.h"

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/present.h"
#include "service/follower.h"
#include "service/socket_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft::cli {
namespace {

using service::Client;

/// Signals that mean "stop the job", as a descriptor. Those that were ignored from the start (nohup) stay ignored.
class StopSignals {
 public:
  StopSignals() {
    sigset_t mask;
    sigemptyset(&mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action{};
      if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN && signal == SIGHUP) continue;
      sigaddset(&mask, signal);
    }
    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
    fd_ = ::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~StopSignals() { ::close(fd_); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int fd() const { return fd_; }
  /// The next signal that came; 0 when there is none.
  int take() const {
    signalfd_siginfo info{};
    return ::read(fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)) ? static_cast<int>(info.ssi_signo)
                                                                                  : 0;
  }

 private:
  int fd_ = -1;
};

/// How long the server may take to answer what is asked beside the stream.
constexpr Duration kPatience = seconds(1);

/// Is there something on standard input that the job will never see? A terminal is not meant: nobody has typed yet.
bool has_unread_input() {
  struct stat input{};
  if (::fstat(STDIN_FILENO, &input) != 0) return false;
  if (S_ISREG(input.st_mode)) return ::lseek(STDIN_FILENO, 0, SEEK_CUR) < input.st_size;
  int waiting = 0;
  return (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode)) && ::ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 &&
         waiting > 0;
}

/// The life of one attached job, as its client sees it.
class Attached {
 public:
  Attached(const Client& client, const StopSignals& signals) : client_(client), signals_(signals) {}

  /// Submitting and following are one request: at no moment is there a job that belongs to nobody.
  int submit_and_follow(const std::string& request) {
    note_input();
    const auto answer = client_.stream(service::Method::kPost, "/v1/jobs?attach=1", request,
                                       {.on_data = [this](std::string_view bytes) { return on_data(bytes); },
                                        .wake_fd = signals_.fd(),
                                        .on_wake = [this] { return on_signal(); },
                                        .idle_time = seconds(1),
                                        .on_idle = [this] { return on_idle(); }});
    note_input();  // whoever writes into the pipe may have been slow
    if (has_given_up_) return give_up();
    if (!answer && job_ < 0) return report(answer.error());
    if (!answer) return report(fmt::format("{}; job {} ends with it", answer.error().message, job_), kFailure);
    if (!answer->is_good()) return report(*answer);
    if (is_broken_)
      return report(fmt::format("the output of job {} cannot be passed on; it is stopped", job_), kFailure);
    return finish();
  }

 private:
  void note_input() {
    if (has_told_of_input_ || !has_unread_input()) return;
    has_told_of_input_ = true;
    say("weft: note: the job does not read weft's input; its own is /dev/null\n");
  }

  Client::Flow on_data(std::string_view bytes) {
    frames_.add(bytes);
    service::Frame frame;
    for (;;) {
      switch (frames_.next(frame)) {
        case service::FrameReader::Status::kIncomplete: return Client::Flow::kGoOn;
        case service::FrameReader::Status::kMalformed: is_broken_ = true; return Client::Flow::kStop;
        case service::FrameReader::Status::kFrame: break;
      }
      if (frame.kind == service::Frame::Kind::kState) {
        if (!on_state(frame.bytes)) {
          is_broken_ = true;
          return Client::Flow::kStop;
        }
      } else if (!pass_on(frame.kind == service::Frame::Kind::kOut ? STDOUT_FILENO : STDERR_FILENO, frame.bytes)) {
        is_broken_ = true;
        return Client::Flow::kStop;
      }
    }
  }

  /// Whoever reads the output may take his time; signals are heard meanwhile.
  bool pass_on(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      std::array<pollfd, 2> waits{pollfd{fd, POLLOUT, 0}, pollfd{signals_.fd(), POLLIN, 0}};
      if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return false;
      if (waits[1].revents != 0 && on_signal() == Client::Flow::kStop) return false;
      if (waits[0].revents == 0) {
        has_given_up_ = how_often_ > 1;
        if (has_given_up_) return false;
        continue;
      }
      // So much fits into a pipe that has room at all.
      const ssize_t size = ::write(fd, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
      if (size < 0 && errno != EINTR) return false;
      if (size > 0) bytes.remove_prefix(static_cast<size_t>(size));
    }
    return true;
  }

  bool on_state(const std::string& text) {
    auto job = service::read_job(text);
    if (!job) return false;
    last_ = std::move(*job);
    const bool is_first = std::exchange(job_, last_.id) < 0;
    if (is_first && signal_ != 0) stop();  // the signal came before the job had a number
    if (last_.state == "running" && !std::exchange(told_why_, {}).empty()) {
      say(fmt::format("weft: job {} runs{}\n", job_, last_.gpus > 0 ? " on GPU " + gpus_text(last_) : ""));
    }
    return true;
  }

  Client::Flow on_signal() {
    while (const int signal = signals_.take()) {
      how_often_ = std::min(how_often_ + 1, 2);
      if (signal_ == 0) signal_ = signal;
      if (job_ >= 0) stop();
      if (job_ < 0 && how_often_ > 1) has_given_up_ = true;
    }
    return has_given_up_ ? Client::Flow::kStop : Client::Flow::kGoOn;
  }

  /// The stream stays open: it says when the last process is gone. Unless the server does not even answer.
  void stop() {
    const auto answer = client_.request(
        service::Method::kDelete, fmt::format("/v1/jobs/{}{}", job_, how_often_ > 1 ? "?kill=1" : ""), {}, kPatience);
    if (!answer && how_often_ == 1)
      say(fmt::format("weft: {}; once more ends this client\n", printable(answer.error().message)));
    if (!answer && how_often_ > 1) has_given_up_ = true;
    if (how_often_ == 1 && answer && answer->is_good() && last_.state != "pending" && ::isatty(STDERR_FILENO) != 0)
      say(fmt::format("\nweft: job {} is told to stop; once more kills it\n", job_));
  }

  Client::Flow on_idle() {
    note_input();
    if (job_ < 0 && signal_ != 0) {  // there is no answer, and somebody wants to go
      has_given_up_ = true;
      return Client::Flow::kStop;
    }
    if (job_ < 0 || last_.state != "pending") return Client::Flow::kGoOn;
    const auto answer = client_.request(service::Method::kGet, fmt::format("/v1/jobs/{}", job_), {}, kPatience);
    const auto job = answer ? service::read_job(answer->body) : std::unexpected(answer.error());
    if (!job || job->state != "pending" || job->why == told_why_) return Client::Flow::kGoOn;
    told_why_ = job->why;
    say(fmt::format("weft: job {} waits: {}\n", job_, printable(job->why)));
    return Client::Flow::kGoOn;
  }

  /// The server cancels the job of a client that goes away, also when it comes to the request only later.
  int give_up() const {
    return report(job_ < 0 ? "ended before the server answered; it cancels the job"
                           : fmt::format("ended before job {} had; the server stops it", job_),
                  128 + signal_);
  }

  /// The stream ends behind the job's last state.
  int finish() const {
    if (last_.state == "done") return kSuccess;
    if (signal_ != 0 && last_.state != "cancelled") return 128 + signal_;
    if (signal_ != 0) return report(fmt::format("job {} cancelled", job_), 128 + signal_);
    const std::string why = last_.message.empty() ? "" : ": " + last_.message;
    if (last_.state == "cancelled") return report(fmt::format("job {} was cancelled{}", job_, why), 128 + SIGTERM);
    if (!why.empty()) report(fmt::format("job {}{}", job_, why), kFailure);
    return last_.exit_status.value_or(0) != 0 ? *last_.exit_status : kFailure;
  }

  const Client& client_;
  const StopSignals& signals_;
  int64_t job_ = -1;  ///< not known yet
  service::FrameReader frames_;
  service::JobInfo last_{.state = "pending"};
  std::string told_why_;
  int signal_ = 0;     ///< the first that came
  int how_often_ = 0;  ///< signals came; two are as good as more
  bool is_broken_ = false;
  bool has_given_up_ = false;  ///< it goes before its job has ended, for the server or a reader keeps it waiting
  bool has_told_of_input_ = false;
};

}  // namespace

int run_command(const JobOptions& options, std::vector<std::string> command) {
  if (command.empty())
    return report("run: no command given; write it behind --, as in 'weft run -G 1 -- python train.py'", kUsage);
  auto request = make_request(options);
  if (!request) return report(request.error());
  request->command = std::move(command);
  if (auto ok = service::check_job_request(*request); !ok) return report(named_by_option(ok.error()));
  const StopSignals signals;
  const Client client(service::default_socket_path());
  return Attached(client, signals).submit_and_follow(service::write_job_request(*request));
}

}  // namespace weft::cli
