#include "base/printable.h"
#include "cli/commands.h"
#include "cli/present.h"
#include "cli/query_commands.h"
#include "service/socket_place.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <optional>
#include <set>

namespace weft::cli {
namespace {

using service::Client;

/// Jobs that are waited for, and how those did that have ended.
class Waiting {
 public:
  explicit Waiting(const Client& client) : client_(client) {}

  /// Looks a job up; `word` may be @. Returns a status other than kSuccess when it cannot be waited for.
  int add(const std::string& word) {
    const auto job = fetch(word);
    if (!job) return report(job.error());
    note(*job);
    return kSuccess;
  }

  /// The events came on before the jobs are asked for a second time, so that no end falls between.
  Client::Flow on_data(std::string_view bytes) {
    if (!has_looked_) {
      has_looked_ = true;
      look_at_all();
    }
    text_ += bytes;
    for (size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      constexpr std::string_view kData = "data: ";
      const std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      if (line == "event: missed") look_at_all();  // the server kept no news that long
      if (!line.starts_with(kData)) continue;
      const auto news = service::read_news(std::string_view(line).substr(kData.size()));
      if (news && open_.contains(news->job)) look(news->job);
    }
    return open_.empty() ? Client::Flow::kStop : Client::Flow::kGoOn;
  }

  bool is_over() const { return open_.empty(); }
  int exit_status() const {
    if (ended_.size() == 1) return ended_.begin()->second;
    for (const auto& [id, status] : ended_) {
      if (status != kSuccess) return kFailure;
    }
    return kSuccess;
  }

 private:
  Result<service::JobInfo> fetch(const std::string& word) const {
    const auto target = job_target(word);
    if (!target) return std::unexpected(target.error());
    const auto answer = client_.request(service::Method::kGet, *target);
    if (!answer) return std::unexpected(answer.error());
    if (answer->is_good()) return service::read_job(answer->body);
    const auto error = service::read_error(answer->body);
    return fail(answer->status == 404 || answer->status == 400 ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                error ? error->message : fmt::format("the server answered with status {}", answer->status));
  }
  void look_at_all() {
    for (const int64_t id : std::set(open_)) look(id);
  }
  void look(int64_t id) {
    if (const auto job = fetch(fmt::format("{}", id))) note(*job);
  }
  void note(const service::JobInfo& job) {
    if (!job.has_ended()) {
      open_.insert(job.id);
      return;
    }
    open_.erase(job.id);
    const int status = job.state == "done" ? kSuccess : job.exit_status.value_or(0) != 0 ? *job.exit_status : kFailure;
    if (!ended_.emplace(job.id, status).second) return;
    fmt::print("job {}: {}\n", job.id, printable(outcome_text(job)));
    std::fflush(stdout);  // whoever reads it may wait for just this job
  }

  const Client& client_;
  std::set<int64_t> open_;
  std::map<int64_t, int> ended_;
  std::string text_;
  bool has_looked_ = false;
};

}  // namespace

int wait_command(const std::vector<std::string>& jobs) {
  const Client client(service::default_socket_path());
  Waiting waiting(client);
  for (const std::string& job : jobs) {
    if (const int status = waiting.add(job); status != kSuccess) return status;
  }
  if (waiting.is_over()) return waiting.exit_status();
  const auto answer =
      client.stream("/v1/events", {.on_data = [&](std::string_view bytes) { return waiting.on_data(bytes); }});
  if (!answer) return report(answer.error());
  if (!answer->is_good()) return report(*answer);
  return waiting.is_over() ? waiting.exit_status() : report("the server ended before the jobs did", kFailure);
}

}  // namespace weft::cli
