#include "cli/present.h"

#include "base/printable.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/ioctl.h>
#include <unistd.h>

namespace weft::cli {
namespace {

using service::JobInfo;
using service::NodeInfo;

/// What an end state means in one cell of a table.
std::string reason_cell(const JobInfo& job) {
  if (job.state == "pending") return job.why.empty() ? "waits for its turn" : job.why;
  if (job.has_ended() && job.state != "done") return job.message.empty() ? outcome_text(job) : job.message;
  return command_text(job.command);
}

std::string gpu_state(const service::GpuInfo& gpu) {
  if (!gpu.is_healthy) return "broken";
  if (gpu.free_milli == 1000) return "free";
  return gpu.free_milli == 0 ? "busy" : fmt::format("{} free", format_milli(gpu.free_milli));
}

}  // namespace

void say(std::string_view text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int report(std::string_view message, int exit_status) {
  say(fmt::format("weft: {}\n", printable(message)));
  return exit_status;
}

int report(const Error& error) {
  const bool is_input = error.code == ErrorCode::kInvalidInput || error.code == ErrorCode::kNotFound;
  return report(error.message, is_input ? kUsage : kFailure);
}

int report(std::string_view command, const Error& error) {
  return report(Error{error.code, fmt::format("{}: {}", command, error.message)});
}

Error error_of(const service::Client::Answer& answer) {
  const auto error = service::read_error(answer.body);
  const bool is_input = answer.status == 400 || answer.status == 404 || answer.status == 405 || answer.status == 413 ||
                        answer.status == 422 || answer.status == 431;
  return {is_input ? ErrorCode::kInvalidInput : ErrorCode::kUnavailable,
          error ? error->message : fmt::format("the server answered with status {}", answer.status)};
}

int report(const service::Client::Answer& answer) { return report(error_of(answer)); }

size_t terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string index_ranges(std::vector<int32_t> indices) {
  std::ranges::sort(indices);
  indices.erase(std::ranges::unique(indices).begin(), indices.end());
  std::string out;
  for (size_t i = 0; i < indices.size();) {
    size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += last == i ? fmt::format("{}", indices[i])
                     : fmt::format("{}{}{}", indices[i], last == i + 1 ? ',' : '-', indices[last]);
    i = last + 1;
  }
  return out.empty() ? "-" : out;
}

std::string gpus_text(const JobInfo& job) {
  std::vector<std::pair<std::string, std::vector<int32_t>>> by_node;
  for (const service::TaskInfo& task : job.tasks) {
    if (task.gpus.empty()) continue;
    auto found = std::ranges::find(by_node, task.node, [](const auto& entry) { return entry.first; });
    if (found == by_node.end()) found = by_node.insert(by_node.end(), {task.node, {}});
    found->second.insert(found->second.end(), task.gpus.begin(), task.gpus.end());
  }
  if (by_node.empty()) return "-";
  if (by_node.size() == 1) return index_ranges(by_node[0].second);
  std::string out;
  for (const auto& [node, gpus] : by_node)
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", node, index_ranges(gpus));
  return out;
}

std::string command_text(const std::vector<std::string>& command) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  std::string out;
  for (const std::string& word : command) {
    if (!out.empty()) out += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) {
      if (c == '\'') {
        out += "'\\''";
      } else {
        out += c;
      }
    }
    out += '\'';
  }
  return printable(out);  // a table has one line a job, whatever its command holds
}

std::string request_text(const JobInfo& job) {
  const std::string cpus = fmt::format("{} CPU{}", format_milli(job.cpu_milli), job.cpu_milli == 1000 ? "" : "s");
  const std::string tasks = job.tasks.size() > 1 ? fmt::format(" in {} tasks", job.tasks.size()) : "";
  const std::string models = job.gpu_models.empty() ? "" : fmt::format(" ({})", fmt::join(job.gpu_models, " or "));
  return fmt::format("{}{}, {}, {}{}", format_count(job.gpus, "GPU"), models, cpus,
                     format_bytes_short(job.memory_bytes), tasks);
}

std::string clock_text(int64_t wall_ms) {
  const std::time_t seconds_now = std::time(nullptr);
  const auto at = static_cast<std::time_t>(wall_ms / 1000);
  std::tm today{};
  std::tm moment{};
  ::localtime_r(&seconds_now, &today);
  ::localtime_r(&at, &moment);
  char text[64] = "";
  const bool is_today = today.tm_yday == moment.tm_yday && today.tm_year == moment.tm_year;
  std::strftime(text, sizeof(text), is_today ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &moment);
  return text;
}

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string duration_text(const JobInfo& job) {
  const int64_t end = job.has_ended() ? job.ended_ms : now_ms();
  const int64_t begin = job.started_ms > 0 ? job.started_ms : job.submitted_ms;
  const int64_t seconds_long = std::max<int64_t>(0, (end - begin) / 1000);
  return format_duration(seconds(seconds_long));
}

std::string times_text(const JobInfo& job) {
  const auto between = [](int64_t begin_ms, int64_t end_ms) {
    return format_duration(seconds(std::max<int64_t>(0, (end_ms - begin_ms) / 1000)));
  };
  const std::string waited = "waited " + between(job.submitted_ms, job.started_ms > 0 ? job.started_ms : job.ended_ms);
  return job.started_ms > 0 ? fmt::format("{}, ran {}", waited, between(job.started_ms, job.ended_ms))
                            : waited + ", never ran";
}

std::string limit_text(const JobInfo& job) {
  return job.time_limit_ms ? format_duration(milliseconds(*job.time_limit_ms)) : "";
}

std::string outcome_text(const JobInfo& job) {
  if (!job.message.empty() && job.state != "done") return fmt::format("{}: {}", job.state, job.message);
  if (job.state != "failed" || !job.exit_status) return job.state;
  const int status = *job.exit_status;
  if (status <= 128 || status > 128 + 64) return fmt::format("failed with exit status {}", status);
  return fmt::format("failed: killed by signal {} ({})", status - 128,
                     ::strsignal(status - 128));  // NOLINT(concurrency-mt-unsafe)
}

std::string fragmentation_text(const service::ClusterInfo& cluster) {
  if (cluster.gpus == 0) return "no GPUs";
  const std::string free = fmt::format("{} of {} free", cluster.gpus_free, format_count(cluster.gpus, "GPU"));
  if (cluster.gpu_milli_free == 0) return free + ", so there is no fragmentation";
  if (cluster.jobs_pending + cluster.jobs_running + cluster.jobs_ended == 0)
    return free + "; fragmentation: no jobs seen yet";
  if (!cluster.fragment_ratio || !cluster.fragment_milli)
    return free + "; fragmentation: no jobs seen yet that ask for GPUs";
  if (*cluster.fragment_milli < 5) return free + "; fragmentation 0 %";  // of a hundredth of a GPU
  return fmt::format("{}; fragmentation {:.1f} %: {:.2f} fit no likely job", free, *cluster.fragment_ratio * 100,
                     *cluster.fragment_milli / 1000);
}

std::string jobs_table(const std::vector<JobInfo>& jobs, size_t width) {
  const bool has_ended = std::ranges::any_of(jobs, [](const JobInfo& job) { return job.has_ended(); });
  std::vector<Table::Column> columns{{"JOB", Table::Align::kRight},
                                     {"NAME"},
                                     {"USER"},
                                     {"STATE"},
                                     {"GPUS", Table::Align::kRight},
                                     {"ON"},
                                     {"TIME", Table::Align::kRight},
                                     {"LIMIT", Table::Align::kRight}};
  if (has_ended) columns.push_back({"EXIT", Table::Align::kRight});
  columns.push_back({"WHY / COMMAND"});
  Table table(std::move(columns));
  for (const JobInfo& job : jobs) {
    std::vector<std::string> row{fmt::format("{}", job.id),   shortened(job.name, 24),
                                 shortened(job.user, 12),     job.state,
                                 fmt::format("{}", job.gpus), gpus_text(job),
                                 duration_text(job),          job.time_limit_ms ? limit_text(job) : "-"};
    if (has_ended) row.push_back(job.exit_status ? fmt::format("{}", *job.exit_status) : "-");
    row.push_back(reason_cell(job));
    table.add(std::move(row));
  }
  return table.text(width);
}

std::string nodes_table(const std::vector<NodeInfo>& nodes, size_t width) {
  Table table({{"NODE"},
               {"STATE"},
               {"GPUS FREE", Table::Align::kRight},
               {"CPUS FREE", Table::Align::kRight},
               {"MEMORY FREE", Table::Align::kRight},
               {"GPU MODEL"}});
  for (const NodeInfo& node : nodes) {
    table.add(
        {node.name, node.state, fmt::format("{} of {}", node.free_gpu_count(), node.gpus.size()),
         fmt::format("{} of {}", format_milli(node.free_cpu_milli), format_milli(node.cpu_milli)),
         fmt::format("{} of {}", format_bytes_short(node.free_memory_bytes), format_bytes_short(node.memory_bytes)),
         node.gpu_model.empty() ? "-" : node.gpu_model});
  }
  return table.text(width);
}

std::string gpus_table(const std::vector<NodeInfo>& nodes, size_t width) {
  Table table({{"NODE"},
               {"GPU", Table::Align::kRight},
               {"STATE"},
               {"JOBS"},
               {"MODEL"},
               {"MEMORY", Table::Align::kRight},
               {"BUS"},
               {"UUID"}});
  for (const NodeInfo& node : nodes) {
    for (const service::GpuInfo& gpu : node.gpus) {
      table.add({node.name, fmt::format("{}", gpu.index), gpu_state(gpu),
                 gpu.jobs.empty() ? "-" : fmt::format("{}", fmt::join(gpu.jobs, ",")), gpu.model,
                 format_bytes_short(gpu.memory_bytes), gpu.bus_id.empty() ? "-" : gpu.bus_id,
                 gpu.uuid.empty() ? "virtual" : gpu.uuid});
    }
  }
  return table.is_empty() ? std::string() : table.text(width);
}

}  // namespace weft::cli
