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
#include <span>
#include <string>
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

enum class ParameterKind : uint8_t { kFlag, kValue };

struct Parameter {
  std::string_view key;
  ParameterKind kind = ParameterKind::kValue;
};

std::string names_of(std::span<const Parameter> parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(fmt::format("'{}'", parameter.key));
  return fmt::format("{}", fmt::join(names, ", "));
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
      query.push_back({pair.substr(0, equals),
                       equals == std::string_view::npos ? std::nullopt : std::optional(pair.substr(equals + 1))});
    }
  }

  /// What may stand behind the path's question mark; nothing when there is no such path.
  std::optional<std::vector<Parameter>> parameters(Method method) const;
  /// Each of them at most once, and a flag is 0 or 1, or has no value, which is 1.
  Result<void> check(std::span<const Parameter> known) const;

  std::string_view part(size_t i) const { return i < parts.size() ? parts[i] : std::string_view{}; }
  // Require: check() passed.
  std::optional<std::string_view> value(std::string_view key) const {
    const auto found = std::ranges::find(query, key, &Pair::key);
    return found == query.end() ? std::nullopt : found->value;
  }
  bool has(std::string_view key) const {
    const auto found = std::ranges::find(query, key, &Pair::key);
    return found != query.end() && found->value != "0";
  }

  struct Pair {
    std::string_view key;
    std::optional<std::string_view> value;
  };
  std::vector<std::string_view> parts;
  std::vector<Pair> query;
};

std::optional<std::vector<Parameter>> Api::Path::parameters(Method method) const {
  using enum ParameterKind;
  using List = std::vector<Parameter>;
  const std::string_view what = part(1);
  if (parts.size() == 2 && what == "events") return List{{"after", kValue}};
  if (parts.size() == 2 && (what == "nodes" || what == "queues" || what == "cluster")) return List{};
  if (what != "jobs") return std::nullopt;
  if (parts.size() == 2) return method == Method::kPost ? List{{"attach", kFlag}} : List{{"all", kFlag}, {"limit"}};
  if (parts.size() == 3) return method == Method::kDelete ? List{{"kill", kFlag}} : List{};
  if (parts.size() != 4) return std::nullopt;
  if (part(3) == "output") return List{{"stream"}, {"task"}, {"follow", kFlag}};
  return part(3) == "attach" || part(3) == "why" ? std::optional(List{}) : std::nullopt;
}

Result<void> Api::Path::check(std::span<const Parameter> known) const {
  const auto wrong = [](std::string text) { return fail(ErrorCode::kInvalidInput, std::move(text)); };
  for (const Pair& pair : query) {
    const auto parameter = std::ranges::find(known, pair.key, &Parameter::key);
    if (parameter == known.end()) {
      const std::string expected = known.empty() ? "this path takes none" : "expected " + names_of(known);
      return wrong(fmt::format("unknown parameter {}; {}", quote(pair.key), expected));
    }
    if (std::ranges::count(query, pair.key, &Pair::key) > 1)
      return wrong(fmt::format("the parameter '{}' is given twice", pair.key));
    if (parameter->kind == ParameterKind::kValue && !pair.value)
      return wrong(fmt::format("{}: a value is missing", pair.key));
    if (parameter->kind == ParameterKind::kFlag && pair.value && pair.value != "0" && pair.value != "1")
      return wrong(fmt::format("{}: expected 0 or 1, not {}", pair.key, quote(*pair.value)));
  }
  return {};
}

std::string user_name(uid_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return fmt::format("{}", uid);
}

Reply Api::handle(const Request& request) {
  if (request.peer != owner_ && request.peer != 0) {
    return refuse(
        403, "permission",
        fmt::format("this server belongs to user {}; user {} may not use it", owner_name_, user_name(request.peer)));
  }
  if (!is_utf8(request.target)) return refuse(400, "invalid_input", "the path is not valid UTF-8");
  const Path path(request.target);
  if (path.part(0) != "v1")
    return refuse(404, "not_found",
                  fmt::format("there is no path {}; all start with /v1/", request.target.substr(0, 100)));
  if (const auto known = path.parameters(request.method)) {
    if (auto ok = path.check(*known); !ok) return refuse(ok.error());
  }
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
    if (const auto text = path.value("after")) {
      const auto number = parse_integer(*text, 0, INT64_MAX);
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
    const std::string& user = name_of(peer);
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

namespace {

/// Why the job can never run here. A model is called as the user wrote it: the verdict knows only what that may mean.
std::string never_text(Backend& backend, const JobSpec& spec, const Verdict& verdict) {
  const std::vector<std::string>& asked = spec.roles.front().constraint.models;
  if (verdict.reason != Reason::kModel || asked.empty() || spec.roles.size() != 1 || verdict.have > 0)
    return backend.scheduler().text(verdict);
  std::vector<std::string> known;
  for (size_t n = 0; n < backend.scheduler().node_count(); ++n) {
    for (const DeviceSpec& device : backend.node_spec(make_id<NodeId>(n)).devices) {
      if (std::ranges::find(known, device.model) == known.end()) known.push_back(device.model);
    }
  }
  return fmt::format(
      "can never run here: model: no GPU here is '{}'; {}", fmt::join(asked, "' or '"),
      known.empty() ? std::string("there are no GPUs") : fmt::format("this machine has {}", fmt::join(known, ", ")));
}

}  // namespace

Reply Api::submit(const Request& request, const Path& path) {
  if (backend_.is_stopping()) return refuse(503, "unavailable", "the server is about to end and takes no more jobs");
  auto wanted = read_job_request(request.body);
  if (!wanted) return refuse(wanted.error());
  JobSpec spec = to_spec(*wanted, defaults_, name_of(request.peer));
  const auto verdict = backend_.scheduler().what_if(spec);
  if (!verdict)
    return refuse(400, "invalid_input", verdict.error().message);  // also a queue or model that is not there
  if (verdict->is_never) {
    return refuse(422, "never", fmt::format("the job is refused: {}", never_text(backend_, spec, *verdict)));
  }
  const auto job = backend_.submit(std::move(spec));
  if (!job) return refuse(job.error());
  if (path.has("attach"))
    return {.content_type = "application/octet-stream", .follower = follow_attached(backend_, *job)};
  return answer(write_job(describe_job(backend_, *job)), 201);
}

Reply Api::list_jobs(const Path& path) {
  int64_t limit = kListMax;
  if (const auto text = path.value("limit")) {
    const auto number = parse_integer(*text, 1, kListMax);
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
  const std::string_view stream = path.value("stream").value_or("out");
  if (stream != "out" && stream != "err") return refuse(400, "invalid_input", "stream: expected 'out' or 'err'");
  int64_t task = 0;
  if (const auto text = path.value("task")) {
    int64_t tasks = 0;
    for (const RoleSpec& role : backend_.spec(job).roles) tasks += role.count;
    const auto number = parse_integer(*text, 0, tasks - 1);
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
