#include "cli/query_commands.h"

#include "base/printable.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/job_filter.h"
#include "cli/present.h"
#include "service/socket_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <unistd.h>
#include <utility>

namespace weft::cli {
namespace {

using service::Client;
using service::Method;

/// The body of a good answer.
Result<std::string> fetch(const Client& client, const std::string& target) {
  auto answer = client.request(Method::kGet, target);
  if (!answer) return std::unexpected(answer.error());
  if (!answer->is_good()) return std::unexpected(error_of(*answer));
  return std::move(answer->body);
}

/// Asks and prints: the answer as it is for JSON, else what `text` makes of it.
template <typename T>
int ask(const std::string& target, Format format, Result<T> (*read)(std::string_view),
        const std::function<void(const T&)>& print) {
  const auto body = fetch(Client(service::default_socket_path()), target);
  if (!body) return report(body.error());
  if (format == Format::kJson) {
    fmt::print("{}\n", *body);
    return kSuccess;
  }
  const auto value = read(*body);
  if (!value) return report(value.error());
  print(*value);
  return kSuccess;
}

void print_line(std::string_view key, std::string_view value) {
  if (!value.empty()) fmt::print("  {:<10} {}\n", key, printable(value));
}

std::string uuids_text(const service::JobInfo& job) {
  std::vector<std::string> all;
  for (const service::TaskInfo& task : job.tasks) {
    for (const std::string& uuid : task.gpu_uuids) {
      if (std::ranges::find(all, uuid) == all.end()) all.push_back(uuid);
    }
  }
  return fmt::format("{}", fmt::join(all, ","));
}

std::string state_text(const service::JobInfo& job) {
  if (job.has_ended()) return fmt::format("{} at {}; {}", outcome_text(job), clock_text(job.ended_ms), times_text(job));
  if (job.started_ms > 0)
    return fmt::format("{} since {} ({})", job.state, clock_text(job.started_ms), duration_text(job));
  return fmt::format("{} since {} ({})", job.state, clock_text(job.submitted_ms), duration_text(job));
}

void print_job(const service::JobInfo& job) {
  fmt::print("job {}: {}\n", job.id, printable(job.name));
  print_line("state", state_text(job));
  if (job.exit_status) print_line("exit", fmt::format("status {}", *job.exit_status));
  print_line("why", job.why);
  print_line("user", fmt::format("{}, queue {}, priority {}", job.user, job.queue, job.priority));
  print_line("asks for", request_text(job));
  print_line("time limit", limit_text(job));
  print_line("GPUs", gpus_text(job) == "-" ? "" : gpus_text(job));
  print_line("UUIDs", uuids_text(job));
  print_line("node", job.tasks.empty() ? "" : job.tasks.front().node);
  print_line("command", command_text(job.command));
  print_line("directory", job.directory);
  print_line("output", job.output);
  print_line("errors", job.error == job.output ? "" : job.error);
  if (job.attempt > 1) print_line("attempt", fmt::format("{}", job.attempt));
  if (job.tasks.size() < 2) return;
  for (const service::TaskInfo& task : job.tasks) {
    const std::string status = task.exit_status ? fmt::format(", exit status {}", *task.exit_status) : "";
    const std::string gpus = task.gpus.empty() ? "" : fmt::format(", GPU {}", index_ranges(task.gpus));
    print_line(fmt::format("task {}", task.index), fmt::format("{}{}{}", task.state, gpus, status));
  }
}

Result<service::JobInfo> fetch_job(const Client& client, const std::string& word) {
  const auto target = job_target(word);
  if (!target) return std::unexpected(target.error());
  const auto body = fetch(client, *target);
  return body ? service::read_job(*body) : std::unexpected(body.error());
}

Result<std::vector<service::JobInfo>> fetch_jobs(const Client& client, const std::string& target) {
  const auto body = fetch(client, target);
  return body ? service::read_jobs(*body) : std::unexpected(body.error());
}

/// The jobs that were named, also those that have ended, oldest first.
Result<std::vector<service::JobInfo>> fetch_named(const Client& client, const std::vector<std::string>& words) {
  std::vector<service::JobInfo> jobs;
  for (const std::string& word : words) {
    auto job = fetch_job(client, word);
    if (!job) return std::unexpected(job.error());
    jobs.push_back(std::move(*job));
  }
  std::ranges::sort(jobs, {}, &service::JobInfo::id);
  const auto twice = std::ranges::unique(jobs, {}, &service::JobInfo::id);
  jobs.erase(twice.begin(), twice.end());
  return jobs;
}

int print_queue(const QueueOptions& options) {
  const auto filter = read_filter(options);
  if (!filter) return report(filter.error());
  const Client client(service::default_socket_path());
  const bool is_all = options.which == QueueOptions::Which::kAll || filter->wants_ended();
  auto jobs = options.jobs.empty() ? fetch_jobs(client, is_all ? "/v1/jobs?all=1" : "/v1/jobs")
                                   : fetch_named(client, options.jobs);
  if (!jobs) return report(jobs.error());
  filter->apply(*jobs);
  if (options.format == Format::kJson) {
    fmt::print("{}\n", service::write_jobs(*jobs));
    return kSuccess;
  }
  if (jobs->empty() && ::isatty(STDOUT_FILENO) != 0) say("weft: no jobs\n");
  fmt::print("{}", jobs_table(*jobs, terminal_width()));
  return kSuccess;
}

/// Whoever asks for one task's output and gets that of all is told so.
int check_task(const Client& client, const LogOptions& options) {
  const auto target = job_target(options.job);
  if (!target) return report(target.error());
  const auto task = parse_integer(*options.task, 0, INT32_MAX);
  if (!task) return report("--task: " + task.error().message, kUsage);
  const auto answer = client.request(Method::kGet, *target);
  if (!answer) return report(answer.error());
  if (!answer->is_good()) return report(*answer);
  const auto job = service::read_job(answer->body);
  if (!job) return report(job.error());
  if (job->is_output_shared && *task < std::ssize(job->tasks)) {
    say(fmt::format(
        "weft: note: the tasks of job {} write to one file, which is shown whole; %t in --output keeps them "
        "apart\n",
        job->id));
  }
  return kSuccess;
}

/// On a terminal nothing at all looks as if something had gone wrong.
void tell_of_silence(const Client& client, const std::string& word) {
  const auto job = fetch_job(client, word);
  if (!job) return;
  say(fmt::format("weft: job {} {}\n", job->id,
                  job->has_ended()          ? "wrote nothing"
                  : job->state == "pending" ? "waits, and has written nothing yet"
                                            : "has written nothing yet"));
}

/// Prints one stream of a job to `to` as it comes.
int copy_stream(const Client& client, const LogOptions& options, std::string_view stream, std::FILE* to,
                int64_t& bytes_printed) {
  const auto job = job_target(options.job);
  if (!job) return report(job.error());
  const std::string target = fmt::format("{}/output?stream={}&task={}{}", *job, stream, options.task.value_or("0"),
                                         options.follow == LogOptions::Follow::kYes ? "&follow=1" : "");
  const auto answer = client.stream(
      target, {.on_data = [&, to](std::string_view bytes) {
        bytes_printed += std::ssize(bytes);
        const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), to) == bytes.size() && std::fflush(to) == 0;
        return is_written ? Client::Flow::kGoOn : Client::Flow::kStop;
      }});
  if (!answer) return report(answer.error());
  return answer->is_good() ? kSuccess : report(*answer);
}

}  // namespace

Result<std::string> job_target(const std::string& word) {
  if (word == "@" || parse_integer(word, 0, UINT32_MAX)) return "/v1/jobs/" + word;
  return fail(ErrorCode::kInvalidInput,
              fmt::format("{} is not a job: expected its number, or @ for your latest one", quote(word)));
}

int queue_command(const QueueOptions& options) {
  if (options.repeat == QueueOptions::Repeat::kOnce) return print_queue(options);
  const Client client(service::default_socket_path());
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0 && options.format == Format::kText;
  for (;;) {
    if (is_terminal) fmt::print("\033[H\033[J");
    if (const int status = print_queue(options); status != kSuccess) return status;
    std::fflush(stdout);
    // Until a job changes its state, or long enough that the times are worth a new look.
    bool has_greeted = false;
    const auto answer = client.stream("/v1/events", {.on_data =
                                                         [&](std::string_view /*news*/) {
                                                           const bool is_news = std::exchange(has_greeted, true);
                                                           return is_news ? Client::Flow::kStop : Client::Flow::kGoOn;
                                                         },
                                                     .idle_time = is_terminal ? seconds(1) : kEndless,
                                                     .on_idle = [] { return Client::Flow::kStop; }});
    if (!answer) return report(answer.error());
    if (!answer->is_good()) return report(*answer);
  }
}

int show_command(const std::vector<std::string>& jobs, Format format) {
  int status = kSuccess;
  bool is_first = true;
  for (const std::string& job : jobs) {
    const auto target = job_target(job);
    const auto print = [&](const service::JobInfo& info) {
      if (!std::exchange(is_first, false)) fmt::print("\n");
      print_job(info);
    };
    status = std::max(
        status, target ? ask<service::JobInfo>(*target, format, service::read_job, print) : report(target.error()));
  }
  return status;
}

int why_command(const std::string& job, Format format) {
  const auto target = job_target(job);
  if (!target) return report(target.error());
  return ask<service::JobInfo>(
      *target + (format == Format::kJson ? "/why" : ""), format, service::read_job, [](const service::JobInfo& info) {
        if (info.state == "pending") {
          fmt::print("job {} waits: {}\n", info.id, info.why.empty() ? "for its turn" : printable(info.why));
          if (!info.message.empty()) fmt::print("the last attempt failed: {}\n", printable(info.message));
        } else if (info.has_ended()) {
          fmt::print("job {} does not run any more: {}\n", info.id, printable(outcome_text(info)));
        } else {
          fmt::print("job {} is {} since {}{}\n", info.id, info.state,
                     clock_text(info.started_ms > 0 ? info.started_ms : info.submitted_ms),
                     info.gpus > 0 ? " on GPU " + gpus_text(info) : "");
        }
      });
}

int nodes_command(Format format) {
  const int status =
      ask<std::vector<service::NodeInfo>>("/v1/nodes", format, service::read_nodes, [](const auto& nodes) {
        fmt::print("{}", nodes_table(nodes, terminal_width()));
        const std::string gpus = gpus_table(nodes, terminal_width());
        if (!gpus.empty()) fmt::print("\n{}", gpus);
      });
  if (status != kSuccess || format == Format::kJson) return status;
  return ask<service::ClusterInfo>(
      "/v1/cluster", format, service::read_cluster,
      [](const service::ClusterInfo& cluster) { fmt::print("\n{}\n", fragmentation_text(cluster)); });
}

int cluster_command(Format format) {
  return ask<service::ClusterInfo>(
      "/v1/cluster", format, service::read_cluster, [](const service::ClusterInfo& cluster) {
        fmt::print("weft {}\n", cluster.version);
        print_line("nodes", fmt::format("{} of {} available", cluster.nodes_available, cluster.nodes));
        print_line("GPUs", fragmentation_text(cluster));
        print_line("jobs", fmt::format("{} running, {} pending, {} ended", cluster.jobs_running, cluster.jobs_pending,
                                       cluster.jobs_ended));
        print_line("decisions", fmt::format("{}, hash {}", cluster.decision_count, cluster.decision_hash));
      });
}

int log_command(const LogOptions& options) {
  const Client client(service::default_socket_path());
  int64_t bytes_printed = 0;
  int status = options.task ? check_task(client, options) : kSuccess;
  if (status != kSuccess) return status;
  if (options.stream != LogOptions::Stream::kErr) status = copy_stream(client, options, "out", stdout, bytes_printed);
  if (status == kSuccess && options.stream != LogOptions::Stream::kOut) {
    std::FILE* to = options.stream == LogOptions::Stream::kErr ? stdout : stderr;
    status = copy_stream(client, options, "err", to, bytes_printed);
  }
  if (status == kSuccess && bytes_printed == 0 && ::isatty(STDERR_FILENO) != 0) tell_of_silence(client, options.job);
  return status;
}

int cancel_command(const CancelOptions& options) {
  const Client client(service::default_socket_path());
  std::vector<std::string> jobs = options.jobs;
  const bool is_all = options.which == CancelOptions::Which::kAll;
  if (is_all && !jobs.empty()) return report("cancel: give jobs or --all, not both", kUsage);
  if (!is_all && jobs.empty()) return report("cancel: no job given; 'weft cancel --all' cancels every one", kUsage);
  if (is_all) {
    const auto answer = client.request(Method::kGet, "/v1/jobs");
    if (!answer) return report(answer.error());
    if (!answer->is_good()) return report(*answer);
    const auto list = service::read_jobs(answer->body);
    if (!list) return report(list.error());
    for (const service::JobInfo& job : *list) jobs.push_back(fmt::format("{}", job.id));
    std::ranges::reverse(jobs);  // so that none starts in the place of one that is stopped
  }
  int status = kSuccess;
  for (const std::string& job : jobs) {
    const auto target_of_job = job_target(job);
    if (!target_of_job) {
      status = std::max(status, report(target_of_job.error()));
      continue;
    }
    const std::string target = *target_of_job + (options.how == CancelOptions::How::kKill ? "?kill=1" : "");
    const auto answer = client.request(Method::kDelete, target);
    if (!answer) return report(answer.error());
    if (is_all && answer->status == 409) continue;  // it was faster
    if (!answer->is_good()) {
      status = std::max(status, report(*answer));
      continue;
    }
    const auto info = service::read_job(answer->body);
    if (info) fmt::print("job {}: {}\n", info->id, info->has_ended() ? "cancelled" : "told to stop");
  }
  return status;
}

}  // namespace weft::cli
