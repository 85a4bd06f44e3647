#include "service/job_request.h"

#include "base/printable.h"
#include "base/text.h"
#include "service/strict_json.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weft::service {
namespace {

namespace json = boost::json;

template <typename... Args>
std::unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ErrorCode::kInvalidInput, fmt::format(text, std::forward<Args>(args)...));
}

constexpr std::array<std::string_view, 17> kKeys{
    "name",  "queue",    "priority", "tasks",  "gpus",   "gpu_models", "cpus",        "memory",   "time",
    "grace", "gpu_bind", "command",  "script", "output", "error",      "environment", "directory"};

/// Reads the values of one object by key; the first thing that is wrong is kept, and what follows is passed over.
class Fields {
 public:
  explicit Fields(const json::object& object) : object_(object) {}

  const json::value* find(std::string_view key) const { return problem_ ? nullptr : object_.if_contains(key); }

  void text(std::string_view key, std::string& out) {
    const json::value* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return refuse(key, "expected a text");
    out = std::string(value->get_string());
  }

  void texts(std::string_view key, std::vector<std::string>& out) {
    const json::value* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return refuse(key, "expected a list of texts");
    for (const json::value& entry : value->get_array()) {
      if (!entry.is_string()) return refuse(key, "expected a list of texts");
      out.emplace_back(entry.get_string());
    }
  }

  void pairs(std::string_view key, std::vector<std::pair<std::string, std::string>>& out) {
    const json::value* value = find(key);
    if (value == nullptr) return;
    if (!value->is_object()) return refuse(key, "expected an object of texts");
    for (const auto& entry : value->get_object()) {
      if (!entry.value().is_string()) return refuse(key, "expected an object of texts");
      out.emplace_back(entry.key(), entry.value().get_string());
    }
  }

  void whole(std::string_view key, int32_t low, int32_t high, int32_t& out) {
    const json::value* value = find(key);
    if (value == nullptr) return;
    const auto number = value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
    if (!number || *number < low || *number > high)
      return refuse(key, fmt::format("expected a whole number from {} to {}", low, high));
    out = static_cast<int32_t>(*number);
  }

  /// A text as people write it, or a number of `unit`s.
  template <typename Out>
  void quantity(std::string_view key, Result<Out> (*parse)(std::string_view), std::string_view what,
                std::optional<Out>& out) {
    const json::value* value = find(key);
    if (value == nullptr) return;
    std::string written;
    if (value->is_string()) {
      written = std::string(value->get_string());
    } else if (value->is_number()) {
      written = json::serialize(*value);
      if (value->is_double()) written = fmt::format("{}", value->get_double());
    } else {
      return refuse(key, fmt::format("expected {}", what));
    }
    auto parsed = parse(written);
    if (!parsed) return refuse(key, parsed.error().message);
    out = *parsed;
  }

  void refuse(std::string_view key, std::string_view why) {
    if (!problem_) problem_ = Error{ErrorCode::kInvalidInput, fmt::format("{}: {}", key, why)};
  }
  const std::optional<Error>& problem() const { return problem_; }

 private:
  const json::object& object_;
  std::optional<Error> problem_;
};

/// A short text that is shown in tables: a name of a job, a queue, a model.
Result<void> check_word(std::string_view what, std::string_view text) {
  if (text.size() > kNameBytesMax)
    return wrong("{}: {} bytes; at most {} are allowed", what, text.size(), kNameBytesMax);
  if (!is_utf8(text)) return wrong("{}: it is not valid UTF-8", what);
  if (!is_printable(text)) return wrong("{}: it holds a control character", what);
  return {};
}

Result<void> check_path(std::string_view what, std::string_view path) {
  if (path.size() > kPathBytesMax)
    return wrong("{}: {} bytes; a path has at most {}", what, path.size(), kPathBytesMax);
  if (!is_utf8(path)) return wrong("{}: it is not valid UTF-8", what);
  if (!is_printable(path)) return wrong("{}: it holds a control character", what);
  return {};
}

Result<void> check_argument(std::string_view what, std::string_view text) {
  if (text.size() > kArgumentBytesMax) {
    return wrong("{}: one of {} bytes; the system takes at most {}", what, text.size(), kArgumentBytesMax);
  }
  if (!is_utf8(text))
    return wrong("{}: '{}…' is not valid UTF-8", what, is_utf8(text.substr(0, 20)) ? text.substr(0, 20) : "");
  if (text.find('\0') != std::string_view::npos) return wrong("{}: it holds a NUL character", what);
  return {};
}

Result<void> check_launch(const JobRequest& request) {
  size_t bytes = 0;
  for (const std::string& argument : request.command) {
    if (auto ok = check_argument("command", argument); !ok) return ok;
    bytes += argument.size() + sizeof(char*) + 1;
  }
  for (const auto& [name, value] : request.environment) {
    if (name.empty() || name.find('=') != std::string::npos)
      return wrong("environment: '{}' is not the name of a variable", name);
    if (auto ok = check_argument("environment", name + "=" + value); !ok) return ok;
    bytes += name.size() + value.size() + sizeof(char*) + 2;
  }
  if (bytes > kCommandBytesMax) {
    return wrong("command and environment have {} bytes; at most {} are allowed",
                 format_count(static_cast<int64_t>(bytes)), format_count(static_cast<int64_t>(kCommandBytesMax)));
  }
  if (request.script.size() > kScriptBytesMax) {
    return wrong("script: {} bytes; at most {} are allowed", format_count(static_cast<int64_t>(request.script.size())),
                 format_count(static_cast<int64_t>(kScriptBytesMax)));
  }
  if (!is_utf8(request.script)) return wrong("script: it is not valid UTF-8");
  if (request.script.find('\0') != std::string::npos) return wrong("script: it holds a NUL character");
  if (request.command.empty()) return wrong("command: it is missing");
  if (request.script.empty() && request.command[0].empty()) return wrong("command: the program has no name");
  if (!request.directory.starts_with('/')) return wrong("directory: expected an absolute path");
  for (const auto& [what, path] :
       {std::pair("directory", &request.directory), {"output", &request.output}, {"error", &request.error}}) {
    if (auto ok = check_path(what, *path); !ok) return ok;
  }
  return {};
}

std::string default_name(const JobRequest& request) {
  const std::string& program = request.command[0];
  std::string name = program.substr(program.rfind('/') + 1);  // npos + 1 is 0
  while (name.size() > kNameBytesMax || !is_utf8(name)) name.pop_back();
  std::erase_if(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return name.empty() || !is_printable(name) ? "job" : name;
}

}  // namespace

Result<void> check_job_request(const JobRequest& request) {
  if (auto ok = check_word("name", request.name); !ok) return ok;
  if (auto ok = check_word("queue", request.queue); !ok) return ok;
  if (request.queue.empty()) return wrong("queue: it is empty");
  for (const std::string& model : request.gpu_models) {
    if (auto ok = check_word("gpu_models", model); !ok) return ok;
    if (model.empty()) return wrong("gpu_models: a model has no name");
  }
  if (!request.gpu_models.empty() && request.gpus == 0) return wrong("gpu_models: a model is asked for, but no GPU");
  if (request.time_limit <= Duration{0} || (request.time_limit > kTimeMax && request.time_limit != kEndless)) {
    return wrong("time: expected more than 0 and at most ten years");
  }
  if (request.grace && (*request.grace < Duration{0} || *request.grace > hours(24)))
    return wrong("grace: expected 0 to 24h");
  if (request.cpu_milli && *request.cpu_milli > kUnlimited / 1'000'000) return wrong("cpus: too large a number");
  if (request.memory_bytes && *request.memory_bytes > kUnlimited / 1'000'000)
    return wrong("memory: too large a number");
  return check_launch(request);
}

Result<JobRequest> read_job_request(std::string_view text) {
  auto value = parse_strict_json(text);
  if (!value) return std::unexpected(value.error());
  if (!value->is_object()) return wrong("a job is a JSON object");
  const json::object& object = value->get_object();
  for (const auto& entry : object) {
    const std::string_view key(entry.key().data(), entry.key().size());
    if (std::ranges::find(kKeys, key) != kKeys.end()) continue;
    const std::string_view near = nearest(key, kKeys);
    return wrong("unknown key '{}'{}", key.substr(0, 60),
                 near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
  }
  JobRequest request;
  Fields fields(object);
  fields.text("name", request.name);
  fields.text("queue", request.queue);
  fields.whole("priority", -kPriorityMax, kPriorityMax, request.priority);
  fields.whole("tasks", 1, kTasksMax, request.tasks);
  fields.whole("gpus", 0, kGpusMax, request.gpus);
  fields.texts("gpu_models", request.gpu_models);
  fields.quantity("cpus", parse_milli, "a number of CPUs", request.cpu_milli);
  fields.quantity("memory", parse_bytes, "an amount of memory", request.memory_bytes);
  std::optional<Duration> time_limit;
  fields.quantity("time", parse_duration, "a time", time_limit);
  request.time_limit = time_limit.value_or(kEndless);
  fields.quantity("grace", parse_duration, "a time", request.grace);
  std::string gpu_bind = "job";
  fields.text("gpu_bind", gpu_bind);
  if (gpu_bind != "job" && gpu_bind != "task") fields.refuse("gpu_bind", "expected 'job' or 'task'");
  request.device_view = gpu_bind == "task" ? DeviceView::kTask : DeviceView::kJob;
  fields.texts("command", request.command);
  fields.text("script", request.script);
  fields.pairs("environment", request.environment);
  fields.text("directory", request.directory);
  fields.text("output", request.output);
  fields.text("error", request.error);
  if (fields.problem()) return std::unexpected(*fields.problem());
  if (auto ok = check_job_request(request); !ok) return std::unexpected(ok.error());
  return request;
}

std::string write_job_request(const JobRequest& request) {
  json::object out;
  const auto put_text = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) out[key] = text;
  };
  put_text("name", request.name);
  put_text("queue", request.queue);
  out["priority"] = request.priority;
  out["tasks"] = request.tasks;
  out["gpus"] = request.gpus;
  if (!request.gpu_models.empty())
    out["gpu_models"] = json::array(request.gpu_models.begin(), request.gpu_models.end());
  if (request.cpu_milli) out["cpus"] = format_milli(*request.cpu_milli);
  if (request.memory_bytes) out["memory"] = *request.memory_bytes;
  const auto nanoseconds = [](Duration duration) {
    return fmt::format("{}.{:09}", duration.ns / 1'000'000'000, duration.ns % 1'000'000'000);
  };
  if (request.time_limit != kEndless) out["time"] = nanoseconds(request.time_limit);
  if (request.grace) out["grace"] = nanoseconds(*request.grace);
  out["gpu_bind"] = request.device_view == DeviceView::kTask ? "task" : "job";
  out["command"] = json::array(request.command.begin(), request.command.end());
  put_text("script", request.script);
  json::object environment;
  for (const auto& [name, value] : request.environment) environment[name] = value;
  if (!environment.empty()) out["environment"] = std::move(environment);
  put_text("directory", request.directory);
  put_text("output", request.output);
  put_text("error", request.error);
  return json::serialize(out);
}

JobDefaults defaults_for(int64_t node_cpu_milli, int64_t node_memory_bytes, int64_t node_gpus) {
  JobDefaults defaults;
  defaults.cpu_milli = std::min<int64_t>(1000, node_cpu_milli);
  defaults.memory_bytes = std::min<int64_t>(kGiB, node_memory_bytes / 8);
  if (node_gpus > 0) {
    defaults.cpu_milli_per_gpu = node_cpu_milli / 2 / node_gpus;
    defaults.memory_bytes_per_gpu = node_memory_bytes / 2 / node_gpus;
  }
  return defaults;
}

JobSpec to_spec(const JobRequest& request, const JobDefaults& defaults, std::string user) {
  JobSpec spec;
  spec.name = request.name.empty() ? default_name(request) : request.name;
  spec.queue = request.queue;
  spec.user = std::move(user);
  spec.priority = request.priority;
  spec.time_limit = request.time_limit;
  spec.estimate = request.time_limit;
  spec.grace = request.grace.value_or(defaults.grace);
  RoleSpec& role = spec.roles.emplace_back();
  role.count = request.tasks;
  const int64_t gpus = request.gpus;
  role.cpu_milli = request.cpu_milli.value_or(gpus > 0 ? defaults.cpu_milli_per_gpu * gpus : defaults.cpu_milli);
  role.memory_bytes =
      request.memory_bytes.value_or(gpus > 0 ? defaults.memory_bytes_per_gpu * gpus : defaults.memory_bytes);
  if (gpus > 0) role.devices = {.kind = DeviceNeedKind::kWhole, .count = request.gpus};
  role.constraint.models = request.gpu_models;
  spec.launch = {.command = request.command,
                 .environment = request.environment,
                 .working_directory = request.directory,
                 .output_path = request.output,
                 .error_path = request.error,
                 .script = request.script,
                 .device_view = request.device_view};
  return spec;
}

}  // namespace weft::service
