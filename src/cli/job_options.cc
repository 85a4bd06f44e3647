#include "cli/job_options.h"

#include "base/printable.h"
#include "base/text.h"
#include "cli/present.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <unordered_set>

namespace weft::cli {
namespace {

using service::JobRequest;

/// Parses the value of an option where it is given; an Error starts with the option's name.
template <typename Out, typename Parse>
Result<void> take(const std::optional<std::string>& value, std::string_view option, Out& out, Parse&& parse) {
  if (!value) return {};
  auto parsed = parse(*value);
  if (!parsed) return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", option, parsed.error().message));
  out = static_cast<Out>(*parsed);
  return {};
}

auto whole(int64_t low, int64_t high) {
  return [low, high](std::string_view text) { return parse_integer(text, low, high); };
}

Result<int64_t> parse_gpus(std::string_view text) {
  const auto milli = parse_milli(text);
  if (milli && *milli % 1000 != 0)
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} is a part of a GPU; sharing GPUs is not supported yet by serve, write a whole number",
                            quote(text)));
  return parse_integer(text, 0, service::kGpusMax);
}

/// As people write memory: 8Gi, 500M, 1g, 8gb. Elsewhere a number alone would be megabytes, so here it must have a
/// unit.
Result<int64_t> parse_memory(std::string_view text) {
  if (parse_bytes(text) && text.find_first_not_of("0123456789.") == std::string_view::npos)
    return fail(ErrorCode::kInvalidInput, fmt::format("{0} has no unit; write {0}M or {0}G", text));
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == 'I') c = 'i';
  }
  const auto bytes = parse_bytes(upper);
  return bytes ? bytes : parse_bytes(text);  // whose error says what was written
}

/// This process's environment. A variable that JSON cannot carry stays behind, and the user is told.
std::vector<std::pair<std::string, std::string>> own_environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  std::unordered_set<std::string_view> known;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=', 1);
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (!is_utf8(text)) {
      say(fmt::format("weft: note: the variable {} is not valid UTF-8 and is not passed on\n", printable(name)));
      continue;
    }
    // The first one of a name counts, as for getenv().
    if (known.insert(name).second) variables.emplace_back(name, text.substr(equals + 1));
  }
  return variables;
}

Result<void> check_is_folder(std::string_view option, const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  const bool is_there = std::filesystem::exists(folder, error);
  const std::string what = error ? fmt::format("the folder {} cannot be reached: {}", folder.string(), error.message())
                           : is_there ? fmt::format("{} is not a directory", folder.string())
                                      : fmt::format("the folder {} does not exist", folder.string());
  return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", option, what));
}

Result<std::string> working_directory(const JobOptions& options) {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  if (error) return fail(ErrorCode::kUnavailable, "the working directory is gone");
  if (!options.directory) return here.string();
  const auto wanted = (here / *options.directory).lexically_normal();
  if (auto ok = check_is_folder("--directory", wanted); !ok) return std::unexpected(ok.error());
  return wanted.string();
}

/// The folder of an output file is a thing to say now, not when the job starts hours later.
Result<void> check_folder(std::string_view option, const std::string& directory, const std::string& path) {
  const size_t slash = path.rfind('/');
  if (path.empty() || slash == std::string::npos || path.substr(0, slash).find('%') != std::string::npos) return {};
  return check_is_folder(option, (std::filesystem::path(directory) / path.substr(0, slash + 1)).lexically_normal());
}

Result<void> take_numbers(const JobOptions& options, JobRequest& request) {
  Result<void> ok;
  const auto step = [&](auto&& run) {
    if (ok) ok = run();
  };
  step([&] { return take(options.gpus, "--gpus", request.gpus, parse_gpus); });
  step([&] { return take(options.tasks, "--count", request.tasks, whole(1, service::kTasksMax)); });
  step([&] {
    return take(options.priority, "--priority", request.priority, whole(-service::kPriorityMax, service::kPriorityMax));
  });
  step([&] { return take(options.cpus, "--cpus", request.cpu_milli, parse_milli); });
  step([&] { return take(options.memory, "--mem", request.memory_bytes, parse_memory); });
  step([&] { return take(options.time, "--time", request.time_limit, parse_duration); });
  step([&] { return take(options.grace, "--grace", request.grace, parse_duration); });
  return ok;
}

}  // namespace

Error named_by_option(Error error) {
  const std::string_view word = std::string_view(error.message).substr(0, error.message.find(':'));
  for (const OptionName& name : kOptionNames) {
    if (word == name.key) return {error.code, fmt::format("{}{}", name.option, error.message.substr(word.size()))};
  }
  return error;
}

JobOptions merged(const JobOptions& stronger, const JobOptions& weaker) {
  JobOptions out = stronger;
  for (const auto field :
       {&JobOptions::gpus, &JobOptions::cpus, &JobOptions::memory, &JobOptions::name, &JobOptions::queue,
        &JobOptions::priority, &JobOptions::gpu_model, &JobOptions::tasks, &JobOptions::time, &JobOptions::grace,
        &JobOptions::gpu_bind, &JobOptions::directory, &JobOptions::output, &JobOptions::error}) {
    if (!(out.*field)) out.*field = weaker.*field;
  }
  return out;
}

Result<JobRequest> make_request(const JobOptions& options) {
  JobRequest request;
  if (auto ok = take_numbers(options, request); !ok) return std::unexpected(ok.error());
  request.name = options.name.value_or("");
  for (const auto& [option, value] :
       {std::pair("--name", &options.name), {"--output", &options.output}, {"--error", &options.error}}) {
    if (*value && (*value)->empty()) return fail(ErrorCode::kInvalidInput, fmt::format("{}: it is empty", option));
  }
  request.queue = options.queue.value_or("default");
  if (options.gpu_model) {
    request.gpu_models = {*options.gpu_model};
    if (!options.gpus) request.gpus = 1;
  }
  if (options.gpu_bind && *options.gpu_bind != "job" && *options.gpu_bind != "task") {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("--gpu-bind: '{}' is not known; expected 'job' or 'task'", *options.gpu_bind));
  }
  request.device_view = options.gpu_bind == "task" ? DeviceView::kTask : DeviceView::kJob;
  auto directory = working_directory(options);
  if (!directory) return std::unexpected(directory.error());
  request.directory = std::move(*directory);
  request.output = options.output.value_or("");
  request.error = options.error.value_or("");
  if (auto ok = check_folder("--output", request.directory, request.output); !ok) return std::unexpected(ok.error());
  if (auto ok = check_folder("--error", request.directory, request.error); !ok) return std::unexpected(ok.error());
  request.environment = own_environment();
  return request;
}

}  // namespace weft::cli
