#include "service/api.h"

#include "base/text.h"
#include "model/names.h"
#include "service/describe.h"
#include "service/info.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <pwd.h>
#include <utility>

namespace weft::service {
namespace {

constexpr int64_t kListMax = 100'000;

Reply answer(std::string body, unsigned status = 200) { return {.status = status, .body = std::move(body)}; }

Reply refuse(unsigned status, std::string_view code, std::string_view message) {
  return answer(write_error(code, message), status);
}

Reply refuse(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidInput: return refuse(400, "invalid_input", error.message);
    case ErrorCode::kNotFound: return refuse(404, "not_found", error.message);
    case ErrorCode::kPermission: return refuse(403, "permission", error.message);
    case ErrorCode::kUnavailable: return refuse(503, "unavailable", error.message);
    case ErrorCode::kConflict: return refuse(409, "conflict", error.message);
    case ErrorCode::kUnsupported: return refuse(501, "unsupported", error.message);
    case ErrorCode::kInternal: break;
  }
  return refuse(500, "internal", error.message);
}

Reply wrong_method(std::string_view allowed) {
  return refuse(405, "method", fmt::format("this path takes {} only", allowed));
}

}  // namespace

/// A target cut into its parts. Nothing in it needs percent signs, so none are decoded.
struct Api::Path {
  explicit Path(std::string_view target) {
    const size_t question = target.find('?');
    std::string_view path = target.substr(0, question);
    while (path.starts_with('/')) {
      path.remove_prefix(1);
      parts.push_back(path.substr(0, path.find('/')));
      path.remove_prefix(parts.back().size());
    }
    if (question == std::string_view::npos) return;
    std::string_view rest = target.substr(question + 1);
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const size_t equals = pair.find('=');
      query.emplace_back(pair.substr(0, equals), equals == std::string_view::npos ? "1" : pair.substr(equals + 1));
    }
  }

  std::string_view part(size_t i) const { return i < parts.size() ? parts[i] : std::string_view{}; }
  /// The value of `key`; empty when it is not there.
  std::string_view value(std::string_view key) const {
    for (const auto& [name, value] : query) {
      if (name == key) return value;
    }
    return {};
  }
  bool has(std::string_view key) const { return !value(key).empty() && value(key) != "0"; }
  /// The first key that is not among `known`; empty when all are.
  std::string_view unknown_key(std::initializer_list<std::string_view> known) const {
    for (const auto& [name, value] : query) {
      if (std::ranges::find(known, name) == known.end()) return name;
    }
    return {};
  }

  std::vector<std::string_view> parts;
  std::vector<std::pair<std::string_view, std::string_view>> query;
};

std::string user_name(uid_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return fmt::format("{}", uid);
}

Reply Api::handle(const Request& request) {
  if (request.peer != owner_ && request.peer != 0) {
    return refuse(403, "permission",
                  fmt::format("this server belongs to user {}; user {} may not use it", user_name(owner_),
                              user_name(request.peer)));
  }
  if (!is_utf8(request.target)) return refuse(400, "invalid_input", "the path is not valid UTF-8");
  const Path path(request.target);
  if (path.part(0) != "v1")
    return refuse(404, "not_found",
                  fmt::format("there is no path {}; all start with /v1/", request.target.substr(0, 100)));
  return route(request, path);
}

Reply Api::route(const Request& request, const Path& path) {
  const std::string_view what = path.part(1);
  const bool is_get = request.method == Method::kGet;
  if (what == "jobs" && path.parts.size() == 2) {
    if (request.method == Method::kPost) return submit(request, path);
    return is_get ? list_jobs(path) : wrong_method("GET and POST");
  }
  if (what == "jobs") return route_job(request, path);
  if (path.parts.size() == 2 && (what == "nodes" || what == "queues" || what == "cluster" || what == "events")) {
    if (!is_get) return wrong_method("GET");
    if (what == "nodes") return answer(write_nodes(describe_nodes(backend_)));
    if (what == "queues") return answer(write_queues(describe_queues(backend_)));
    if (what == "cluster") return answer(write_cluster(describe_cluster(backend_)));
    uint64_t after = feed_.last();
    if (!path.value("after").empty()) {
      const auto number = parse_integer(path.value("after"), 0, INT64_MAX);
      if (!number) return refuse(400, "invalid_input", fmt::format("after: {}", number.error().message));
      after = static_cast<uint64_t>(*number);
    }
    return {.content_type = "text/event-stream", .follower = follow_events(backend_, feed_, after)};
  }
  return refuse(404, "not_found", fmt::format("there is no path {}", request.target.substr(0, 100)));
}

Reply Api::route_job(const Request& request, const Path& path) {
  const auto job = find_job(path.part(2), request.peer);
  if (!job) return refuse(job.error());
  const std::string_view what = path.part(3);
  if (path.parts.size() == 3) {
    if (request.method == Method::kDelete) return cancel(*job, path);
    return request.method == Method::kGet ? answer(write_job(describe_job(backend_, *job)))
                                          : wrong_method("GET and DELETE");
  }
  if (path.parts.size() == 4 && (what == "output" || what == "attach" || what == "why")) {
    if (request.method != Method::kGet) return wrong_method("GET");
    if (what == "output") return output(*job, path);
    if (what == "attach")
      return {.content_type = "application/octet-stream", .follower = follow_attached(backend_, *job)};
    const JobInfo info = describe_job(backend_, *job);
    const boost::json::object why{
        {"id", info.id}, {"state", info.state}, {"reason", info.reason}, {"why", info.why}, {"message", info.message}};
    return answer(boost::json::serialize(why));
  }
  return refuse(404, "not_found", fmt::format("there is no path {}", request.target.substr(0, 100)));
}

/// `word` is a number, or @ for the latest job of whoever asks.
Result<JobId> Api::find_job(std::string_view word, uid_t peer) const {
  const auto count = static_cast<int64_t>(backend_.scheduler().job_count());
  if (word == "@") {
    const std::string user = user_name(peer);
    for (int64_t i = count; i-- > 0;) {
      const JobId job = make_id<JobId>(static_cast<size_t>(i));
      if (backend_.spec(job).user == user) return job;
    }
    return fail(ErrorCode::kNotFound, "you have no job yet");
  }
  const auto number = parse_integer(word, 0, UINT32_MAX);
  if (!number)
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is not a job: expected its number, or @ for your latest one", word.substr(0, 40)));
  if (*number >= count) return fail(ErrorCode::kNotFound, fmt::format("there is no job {}", *number));
  return make_id<JobId>(static_cast<size_t>(*number));
}

Reply Api::submit(const Request& request, const Path& path) {
  if (const auto key = path.unknown_key({"attach"}); !key.empty()) {
    return refuse(400, "invalid_input", fmt::format("unknown parameter '{}'; expected 'attach'", key.substr(0, 40)));
  }
  if (backend_.is_stopping()) return refuse(503, "unavailable", "the server is about to end and takes no more jobs");
  auto wanted = read_job_request(request.body);
  if (!wanted) return refuse(wanted.error());
  JobSpec spec = to_spec(*wanted, defaults_, user_name(request.peer));
  const auto verdict = backend_.scheduler().what_if(spec);
  if (!verdict)
    return refuse(400, "invalid_input", verdict.error().message);  // also a queue or model that is not there
  if (verdict->is_never) {
    return refuse(422, "never", fmt::format("the job is refused: {}", backend_.scheduler().text(*verdict)));
  }
  const auto job = backend_.submit(std::move(spec));
  if (!job) return refuse(job.error());
  if (path.has("attach"))
    return {.content_type = "application/octet-stream", .follower = follow_attached(backend_, *job)};
  return answer(write_job(describe_job(backend_, *job)), 201);
}

Reply Api::list_jobs(const Path& path) {
  if (const auto key = path.unknown_key({"all", "limit"}); !key.empty()) {
    return refuse(400, "invalid_input",
                  fmt::format("unknown parameter '{}'; expected 'all' or 'limit'", key.substr(0, 40)));
  }
  int64_t limit = kListMax;
  if (!path.value("limit").empty()) {
    const auto number = parse_integer(path.value("limit"), 1, kListMax);
    if (!number) return refuse(400, "invalid_input", fmt::format("limit: {}", number.error().message));
    limit = *number;
  }
  std::vector<JobInfo> jobs;
  for (size_t j = backend_.scheduler().job_count(); j-- > 0 && static_cast<int64_t>(jobs.size()) < limit;) {
    const JobId job = make_id<JobId>(j);
    if (path.has("all") || !is_end_state(backend_.scheduler().job_state(job)))
      jobs.push_back(describe_job(backend_, job));
  }
  std::ranges::reverse(jobs);
  return answer(write_jobs(jobs));
}

Reply Api::cancel(JobId job, const Path& path) {
  const JobState state = backend_.scheduler().job_state(job);
  if (is_end_state(state))
    return refuse(409, "conflict", fmt::format("job {} has ended already ({})", index(job), to_text(state)));
  backend_.cancel(job, path.has("kill") ? CancelMode::kKill : CancelMode::kGraceful);
  return answer(write_job(describe_job(backend_, job)));
}

Reply Api::output(JobId job, const Path& path) {
  const std::string_view stream = path.value("stream");
  if (!stream.empty() && stream != "out" && stream != "err")
    return refuse(400, "invalid_input", "stream: expected 'out' or 'err'");
  int64_t task = 0;
  if (!path.value("task").empty()) {
    int64_t tasks = 0;
    for (const RoleSpec& role : backend_.spec(job).roles) tasks += role.count;
    const auto number = parse_integer(path.value("task"), 0, tasks - 1);
    if (!number) return refuse(400, "invalid_input", fmt::format("task: {}", number.error().message));
    task = *number;
  }
  const OutputStream which = stream == "err" ? OutputStream::kErr : OutputStream::kOut;
  const OutputUntil until = path.has("follow") ? OutputUntil::kJobEnd : OutputUntil::kNow;
  return {.content_type = "text/plain; charset=utf-8",
          .follower = follow_output(backend_, job, static_cast<int32_t>(task), which, until)};
}

void Api::job_changed(JobId job) {
  const JobState state = backend_.scheduler().job_state(job);
  if (told_.size() <= index(job)) told_.resize(index(job) + 1);
  if (std::exchange(told_[index(job)], state) == state) return;
  feed_.publish(write_news({.job = static_cast<int64_t>(index(job)),
                            .state = std::string(to_text(state)),
                            .time_ms = backend_.wall_ms(backend_.scheduler().now())}));
}

}  // namespace weft::service
