#include "cli/application.h"

#include "base/text.h"
#include "cli/open_files.h"
#include "cli/server_journal.h"
#include "cli/state_folder.h"
#include "engine/local/launch_plan.h"
#include "engine/local/local_engine.h"
#include "model/names.h"
#include "scheduler/scheduler.h"
#include "service/api.h"
#include "service/server.h"
#include "service/wall_clock.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <set>
#include <span>
#include <unistd.h>
#include <utility>
#include <variant>

namespace weft::cli {
namespace {

namespace asio = boost::asio;
using ErrorCodeOut = boost::system::error_code;

/// How long clients may take to fetch the last words of a server that ends.
constexpr auto kFarewell = std::chrono::seconds(1);

std::shared_ptr<spdlog::logger> make_log(LogLevel level) {
  auto log = std::make_shared<spdlog::logger>("weft", std::make_shared<spdlog::sinks::stderr_sink_st>());
  log->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  switch (level) {
    case LogLevel::kQuiet: log->set_level(spdlog::level::err); break;
    case LogLevel::kWarnings: log->set_level(spdlog::level::warn); break;
    case LogLevel::kDecisions: log->set_level(spdlog::level::info); break;
  }
  return log;
}

int64_t wall_now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The job that an event is about; kNone for events about other things.
struct JobOf {
  template <typename Body>
  JobId operator()(const Body& body) const {
    if constexpr (requires {
                    { body.job } -> std::same_as<const JobId&>;
                  })
      return body.job;
    return kNone<JobId>;
  }
};

}  // namespace

class Application::Impl final : public service::Backend {
 public:
  Impl(StateFolder folder, local::Machine machine, LogLevel level)
      : folder_(std::move(folder)), machine_(std::move(machine)), log_(make_log(level)) {}

  Result<void> open(const ApplicationOptions& options);
  void run();
  void stop();
  void after(Duration delay, std::function<void()> action);
  service::Api& api() { return *api_; }
  const local::Machine& machine() const { return machine_; }

  Scheduler& scheduler() override { return *scheduler_; }
  Result<JobId> submit(JobSpec spec) override;
  void cancel(JobId job, service::CancelMode mode) override;
  const JobSpec& spec(JobId job) const override { return records_[index(job)].spec; }
  std::string message(JobId job) const override { return records_[index(job)].message; }
  std::vector<service::TaskDetail> tasks(JobId job) const override;
  Result<service::OutputFiles> files(JobId job, int32_t task) const override;
  const NodeSpec& node_spec(NodeId /*node*/) const override { return machine_.node; }
  int64_t wall_ms(Instant at) const override { return wall_clock_.at(at, now(), wall_now_ms()); }
  bool is_stopping() const override { return is_stopping_; }
  bool is_over() const override { return is_stopping_ && engine_->is_idle(); }

 private:
  struct Record {
    JobSpec spec;  ///< without environment and script once it has ended
    std::string message;
  };

  Instant now() const {
    const auto since = std::chrono::steady_clock::now() - start_;
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
  }
  void push(EventBody body) { queue_.push_back({now(), std::move(body)}); }
  void pump();
  void note_event(const Event& event);
  void note_decision(const Decision& decision);
  void touch(JobId job) {
    if (is_set(job)) touched_.insert(job);
  }
  void watch_engine();
  void watch_signals();
  void arm_timer();
  void finish_when_over();
  void finish(std::chrono::steady_clock::time_point deadline);

  StateFolder folder_;
  local::Machine machine_;
  std::shared_ptr<spdlog::logger> log_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable service::WallClock wall_clock_{{0}, wall_now_ms()};
  std::unique_ptr<Scheduler> scheduler_;
  ServerJournal journal_;
  std::unique_ptr<local::LocalEngine> engine_;
  std::unique_ptr<service::Api> api_;
  // Streams that are still open end with the context, and take their leave of what stands above it. What stands below
  // runs on it and goes before it.
  asio::io_context context_;
  std::unique_ptr<service::Server> server_;
  asio::posix::stream_descriptor engine_events_{context_};
  asio::signal_set signals_{context_};
  asio::steady_timer timer_{context_};
  asio::steady_timer farewell_{context_};
  std::vector<Record> records_;  ///< by JobId
  std::vector<Event> queue_;
  std::vector<Event> batch_;
  std::set<JobId> touched_;
  bool is_pumping_ = false;
  bool is_stopping_ = false;
  bool is_finishing_ = false;
};

Result<void> Application::Impl::open(const ApplicationOptions& options) {
  auto scheduler = Scheduler::create(options.policy);
  if (!scheduler) return std::unexpected(scheduler.error());
  scheduler_ = std::move(*scheduler);
  auto engine = local::LocalEngine::create(machine_.node, {.jobs_directory = folder_.jobs(),
                                                           .socket_path = options.socket_path,
                                                           .grace = options.grace,
                                                           .lease_fd = folder_.lease_fd(),
                                                           .open_files_soft_max = raise_open_files_limit(),
                                                           .now = [this] { return now(); }});
  if (!engine) return std::unexpected(engine.error());
  engine_ = std::move(*engine);

  const NodeSpec& node = machine_.node;
  auto defaults = service::defaults_for(node.cpu_milli, node.memory_bytes, static_cast<int64_t>(node.devices.size()));
  defaults.grace = options.grace;
  api_ = std::make_unique<service::Api>(*this, ::geteuid(), defaults);
  server_ = std::make_unique<service::Server>(context_, *api_, options.socket_path);
  if (auto listening = server_->listen(); !listening) return listening;

  if (auto recording = journal_.open(options, node, wall_ms({})); !recording) return recording;
  // On one server the queue is there to be used, whatever a job's priority: an unlimited guarantee lets every job in.
  push(QueueDefined{{.name = "default", .guarantee = kUnlimitedResources}});
  push(NodeAdded{node});
  pump();
  if (!scheduler_->last_errors().empty()) return fail(ErrorCode::kInternal, scheduler_->last_errors().front());
  watch_engine();
  watch_signals();
  server_->limit_connections(connections_max(open_files_left()));
  return {};
}

/// Applies what has happened, lets the engine carry out what was decided, and goes on with what came of that.
void Application::Impl::pump() {
  if (is_pumping_) return;
  is_pumping_ = true;
  engine_->poll(queue_);
  while (!queue_.empty()) {
    batch_.clear();
    batch_.swap(queue_);
    for (const Event& event : batch_) note_event(event);
    const Decisions& decisions = scheduler_->apply(batch_);
    if (auto recorded = journal_.record(batch_, decisions, scheduler_->decision_hash()); !recorded)
      log_->error("{}", recorded.error().message);
    for (const Decision& decision : decisions.list) note_decision(decision);
    engine_->execute(decisions);
    for (const JobId job : std::exchange(touched_, {})) api_->job_changed(job);
    engine_->poll(queue_);
  }
  is_pumping_ = false;
  arm_timer();
  if (is_stopping_) finish_when_over();
}

void Application::Impl::note_event(const Event& event) {
  const JobId job = std::visit(JobOf{}, event.body);
  if (!is_set(job) || index(job) >= records_.size()) return;
  touch(job);
  if (const auto* refused = std::get_if<HoldRefused>(&event.body)) records_[index(job)].message = refused->reason;
  if (const auto* failed = std::get_if<StartFailed>(&event.body)) records_[index(job)].message = failed->reason;
  if (std::holds_alternative<GangStarted>(event.body)) records_[index(job)].message.clear();
}

void Application::Impl::note_decision(const Decision& decision) {
  log_->info("{}", describe(decision));
  touch(decision.job);
  if (!is_set(decision.job) || index(decision.job) >= records_.size()) return;
  Record& record = records_[index(decision.job)];
  if (decision.kind == DecisionKind::kStop && decision.cause == StopCause::kTimeLimit) {
    record.message = fmt::format("it reached its time limit of {}", format_duration(record.spec.time_limit));
  }
  if (decision.kind == DecisionKind::kReject && !scheduler_->last_errors().empty())
    record.message = scheduler_->last_errors().front();
  if (decision.kind == DecisionKind::kEnd || decision.kind == DecisionKind::kReject) {
    record.spec.launch.environment = {};
    record.spec.launch.script = {};
  }
}

Result<JobId> Application::Impl::submit(JobSpec spec) {
  const JobId job = scheduler_->next_job_id();
  for (const std::string& pattern : {spec.launch.output_path, spec.launch.error_path}) {
    if (auto path = local::expand_output_pattern(pattern, job, spec.name, 0); !path)
      return std::unexpected(path.error());
  }
  engine_->describe_job(job, spec);
  records_.push_back({.spec = spec});
  touch(job);
  // The core never reads these, and what it is told may be kept: passwords stand in environments.
  spec.launch.environment = {};
  spec.launch.script = {};
  push(JobSubmitted{std::move(spec)});
  pump();
  return job;
}

void Application::Impl::cancel(JobId job, service::CancelMode mode) {
  push(JobCancelled{job});
  pump();
  if (mode == service::CancelMode::kKill) engine_->kill_job(job);
}

std::vector<service::TaskDetail> Application::Impl::tasks(JobId job) const {
  std::vector<service::TaskDetail> details;
  for (const local::LocalTask& task : engine_->tasks(job)) {
    details.push_back(
        {.placement = task.placement, .pid = task.pid, .exit_status = task.exit_status, .is_stopped = task.is_stopped});
  }
  return details;
}

Result<service::OutputFiles> Application::Impl::files(JobId job, int32_t task) const {
  const auto files = engine_->files(job, task);
  if (!files) return std::unexpected(files.error());
  return service::OutputFiles{.output = files->output,
                              .error = files->error,
                              .is_begun = files->is_begun,
                              .output_begin = files->output_begin,
                              .error_begin = files->error_begin};
}

void Application::Impl::watch_engine() {
  if (!engine_events_.is_open()) engine_events_.assign(::fcntl(engine_->wait_fd(), F_DUPFD_CLOEXEC, 0));
  engine_events_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const ErrorCodeOut& error) {
    if (error) return;
    pump();
    watch_engine();
  });
}

void Application::Impl::watch_signals() {
  ErrorCodeOut ignored;
  for (const int signal : {SIGINT, SIGTERM}) signals_.add(signal, ignored);
  struct sigaction hangup{};
  const bool is_nohup = ::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
  if (!is_nohup) signals_.add(SIGHUP, ignored);
  signals_.async_wait([this](const ErrorCodeOut& error, int /*signal*/) {
    if (error) return;
    if (is_stopping_) {
      for (size_t j = 0; j < records_.size(); ++j) engine_->kill_job(make_id<JobId>(j));
    }
    stop();
    watch_signals();
  });
}

void Application::Impl::arm_timer() {
  const Instant next = scheduler_->next_timer();
  timer_.cancel();
  if (next >= kNever) return;
  timer_.expires_at(start_ + std::chrono::nanoseconds(next.ns));
  timer_.async_wait([this](const ErrorCodeOut& error) {
    if (error) return;
    push(Tick{});
    pump();
  });
}

void Application::Impl::stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  for (size_t j = 0; j < scheduler_->job_count(); ++j) {
    const JobId job = make_id<JobId>(j);
    if (is_end_state(scheduler_->job_state(job))) continue;
    records_[j].message = "the server was stopped";
    push(JobCancelled{job});
  }
  pump();
}

void Application::Impl::finish_when_over() {
  if (is_finishing_ || !engine_->is_idle()) return;
  is_finishing_ = true;
  server_->close();
  api_->feed().ring();
  finish(std::chrono::steady_clock::now() + kFarewell);
}

/// Lets clients read the end of what they follow, but not for ever.
void Application::Impl::finish(std::chrono::steady_clock::time_point deadline) {
  if (server_->busy_count() == 0 || std::chrono::steady_clock::now() >= deadline) return context_.stop();
  farewell_.expires_after(std::chrono::milliseconds(10));
  farewell_.async_wait([this, deadline](const ErrorCodeOut& error) {
    if (!error) finish(deadline);
  });
}

void Application::Impl::run() {
  context_.run();
  if (const auto finished = journal_.finish(); !finished) log_->error("{}", finished.error().message);
}

void Application::Impl::after(Duration delay, std::function<void()> action) {
  auto timer = std::make_shared<asio::steady_timer>(context_, std::chrono::nanoseconds(delay.ns));
  timer->async_wait([timer, action = std::move(action)](const ErrorCodeOut& error) {
    if (!error) action();
  });
}

Application::Application(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Application::~Application() = default;

Result<std::unique_ptr<Application>> Application::create(const ApplicationOptions& options) {
  auto folder = StateFolder::take(options.state_directory, options.grace);
  if (!folder) return std::unexpected(folder.error());
  auto machine = local::detect_machine({.virtual_gpus = options.virtual_gpus, .disk_path = folder->path()});
  if (!machine) return std::unexpected(machine.error());
  ::signal(SIGPIPE, SIG_IGN);
  auto impl = std::make_unique<Impl>(std::move(*folder), std::move(*machine), options.log_level);
  if (auto opened = impl->open(options); !opened) return std::unexpected(opened.error());
  return std::unique_ptr<Application>(new Application(std::move(impl)));
}

void Application::run() { impl_->run(); }
void Application::stop() { impl_->stop(); }
void Application::after(Duration delay, std::function<void()> action) { impl_->after(delay, std::move(action)); }
service::Api& Application::api() { return impl_->api(); }
const NodeSpec& Application::node() const { return impl_->machine().node; }
const std::vector<std::string>& Application::notes() const { return impl_->machine().notes; }

std::string machine_text(const NodeSpec& node) {
  std::string text;
  if (!node.devices.empty()) {
    const DeviceSpec& first = node.devices.front();
    text = fmt::format("{} {}GPU{} ({}), ", node.devices.size(), first.uuid.empty() ? "virtual " : "",
                       node.devices.size() == 1 ? "" : "s", first.model);
  }
  return fmt::format("{}{} CPU{}, {} memory", text, format_milli(node.cpu_milli), node.cpu_milli == 1000 ? "" : "s",
                     format_bytes_short(node.memory_bytes));
}

std::string default_state_directory() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
    return value == nullptr ? "" : value;
  };
  if (const std::string state = variable("XDG_STATE_HOME"); !state.empty()) return state + "/weft";
  if (::geteuid() == 0) return "/var/lib/weft";
  return variable("HOME") + "/.local/state/weft";
}

}  // namespace weft::cli
