#include "engine/local/launch_plan.h"

#include "base/bits.h"
#include "base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace weft::local {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

/// An absolute form of `path`; the kernel resolves what is left of dots.
std::string absolute(std::string_view directory, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", path);
}

/// How CUDA is told of one device. A real one goes by UUID, which no other order of counting can confuse.
std::string device_word(const NodeSpec& node, unsigned device) {
  WEFT_CHECK(device < node.devices.size(), "a placement names devices of its node");
  const std::string& uuid = node.devices[device].uuid;
  return uuid.empty() ? fmt::format("{}", device) : uuid;
}

void append_devices(const NodeSpec& node, DeviceMask devices, std::string& list) {
  for_each_bit(devices, [&](unsigned device) {
    const std::string word = device_word(node, device);
    // Fractional tasks of one job may share a device.
    if (list == word || list.starts_with(word + ",") || list.find("," + word + ",") != std::string::npos ||
        list.ends_with("," + word)) {
      return;
    }
    if (!list.empty()) list += ',';
    list += word;
  });
}

void set_devices(const LaunchContext& context, const JobSpec& spec, std::span<const TaskPlacement> gang,
                 size_t index_in_gang, Variables& variables) {
  std::string own;
  append_devices(context.node, gang[index_in_gang].devices, own);
  std::string all;
  for (const TaskPlacement& placement : gang) append_devices(context.node, placement.devices, all);
  const bool sees_all = spec.launch.device_view == DeviceView::kJob && !own.empty();
  const std::string visible = sees_all ? all : own;

  // An empty list would leave it to the library whether nothing or everything is meant; -1 is no device for every one
  // of them.
  variables["CUDA_VISIBLE_DEVICES"] = visible.empty() ? "-1" : visible;
  variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  variables["WEFT_TASK_GPUS"] = own;
  const bool has_real_devices =
      std::ranges::any_of(context.node.devices, [](const DeviceSpec& d) { return !d.uuid.empty(); });
  if (has_real_devices) variables["NVIDIA_VISIBLE_DEVICES"] = visible.empty() ? "none" : visible;
}

void set_identity(const LaunchContext& context, JobId job, const JobSpec& spec, int32_t task, Variables& variables) {
  variables["WEFT_JOB_ID"] = fmt::format("{}", index(job));
  variables["WEFT_JOB_NAME"] = spec.name;
  variables["WEFT_TASK"] = fmt::format("{}", task);
  if (!context.socket_path.empty()) variables["WEFT_SOCKET"] = context.socket_path;
  // Of a single task a library could take them for a gang that it should wait for; of several it needs them.
  const int32_t tasks = task_count(spec);
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE"}) variables.erase(name);
  if (tasks > 1) {
    variables["RANK"] = fmt::format("{}", task);
    variables["LOCAL_RANK"] = fmt::format("{}", task);
    variables["WORLD_SIZE"] = fmt::format("{}", tasks);
  }
}

}  // namespace

std::string script_path(std::string_view job_directory) { return fmt::format("{}/script", job_directory); }

int32_t task_count(const JobSpec& spec) {
  int32_t count = 0;
  for (const RoleSpec& role : spec.roles) count += role.count;
  return count;
}

const RoleSpec& role_of_task(const JobSpec& spec, int32_t task) {
  for (const RoleSpec& role : spec.roles) {
    if (task < role.count) return role;
    task -= role.count;
  }
  WEFT_CHECK(false, "the job has so many tasks");
  std::unreachable();
}

Result<std::string> expand_output_pattern(std::string_view pattern, JobId job, std::string_view name, int32_t task) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    const char letter = i + 1 < pattern.size() ? pattern[++i] : '\0';
    if (letter == 'j') {
      out += fmt::format("{}", index(job));
    } else if (letter == 't') {
      out += fmt::format("{}", task);
    } else if (letter == '%') {
      out += '%';
    } else if (letter == 'x') {
      std::string harmless(name);
      std::ranges::replace(harmless, '/', '_');
      out += harmless;
    } else {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("output file '{}': '%{}' is not known; use %j (job), %x (name), %t (task) or %%", pattern,
                              letter == '\0' ? std::string() : std::string(1, letter)));
    }
  }
  return out;
}

Result<TaskFiles> task_files(const LaunchContext& context, JobId job, const JobSpec& spec, int32_t task) {
  const LaunchSpec& launch = spec.launch;
  if (launch.output_path.empty() && launch.error_path.empty()) {
    return TaskFiles{.output = fmt::format("{}/out", context.job_directory),
                     .error = fmt::format("{}/err", context.job_directory)};
  }
  TaskFiles files;
  const auto expand = [&](const std::string& pattern, std::string& out) -> Result<void> {
    auto path = expand_output_pattern(pattern, job, spec.name, task);
    if (!path) return std::unexpected(path.error());
    out = absolute(launch.working_directory, *path);
    return {};
  };
  files.output = fmt::format("{}/out", context.job_directory);
  if (!launch.output_path.empty()) {
    if (auto done = expand(launch.output_path, files.output); !done) return std::unexpected(done.error());
  }
  files.error = files.output;
  if (!launch.error_path.empty()) {
    if (auto done = expand(launch.error_path, files.error); !done) return std::unexpected(done.error());
  }
  return files;
}

Result<TaskLaunch> plan_launch(const LaunchContext& context, JobId job, const JobSpec& spec, int32_t task,
                               std::span<const TaskPlacement> gang, size_t index_in_gang) {
  TaskLaunch out;
  auto files = task_files(context, job, spec, task);
  if (!files) return std::unexpected(files.error());
  out.output_path = files->output;
  if (files->error != files->output) out.error_path = files->error;
  out.directory = spec.launch.working_directory.empty() ? "/" : spec.launch.working_directory;
  out.arguments = spec.launch.command;
  if (!spec.launch.script.empty()) {
    if (out.arguments.empty()) out.arguments.emplace_back();
    out.arguments[0] = script_path(context.job_directory);
    if (!spec.launch.script.starts_with("#!")) out.arguments.insert(out.arguments.begin(), "/bin/sh");
  }
  if (out.arguments.empty()) return fail(ErrorCode::kInvalidInput, "the job has no command");

  Variables variables(spec.launch.environment.begin(), spec.launch.environment.end());
  variables.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  variables.try_emplace("PYTHONUNBUFFERED", "1");  // else a log stays empty for hours
  const int64_t cpus = std::max<int64_t>(1, role_of_task(spec, task).cpu_milli / 1000);
  variables.try_emplace("OMP_NUM_THREADS", fmt::format("{}", cpus));
  set_identity(context, job, spec, task, variables);
  set_devices(context, spec, gang, index_in_gang, variables);
  for (const auto& [name, value] : variables) out.environment.push_back(name + "=" + value);
  return out;
}

}  // namespace weft::local
