#include "engine/local/cgroup_limits.h"

#include "base/text.h"
#include "base/units.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace weft::local {
namespace {

/// The first line of a small file; nothing when it cannot be read.
std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<int64_t> number_in(std::string_view text) {
  const auto number = parse_integer(text, 0, INT64_MAX);
  return number ? std::optional(*number) : std::nullopt;
}

/// A quota of CPU time per period in thousandths of a CPU.
int64_t cpu_milli_of(int64_t quota, int64_t period) { return period > 0 ? quota * 1000 / period : kUnlimited; }

/// `visit` gets the folder of the group and of every group above it, up to `base`.
template <typename Visit>
void for_each_group(const std::string& base, std::string_view path, Visit&& visit) {
  while (path.size() > 1) {
    visit(base + std::string(path));
    path = path.substr(0, path.rfind('/'));
  }
  visit(base);
}

void read_version_2(const std::string& base, std::string_view path, CgroupLimits& limits) {
  for_each_group(base, path, [&](const std::string& group) {
    if (const auto line = first_line(group + "/cpu.max")) {
      const size_t blank = line->find(' ');
      const auto quota = number_in(std::string_view(*line).substr(0, blank));  // "max 100000" has none
      const auto period =
          blank == std::string::npos ? std::nullopt : number_in(std::string_view(*line).substr(blank + 1));
      if (quota && period) limits.cpu_milli = std::min(limits.cpu_milli, cpu_milli_of(*quota, *period));
    }
    if (const auto line = first_line(group + "/memory.max")) {
      if (const auto bytes = number_in(*line)) limits.memory_bytes = std::min(limits.memory_bytes, *bytes);
    }
  });
}

void read_version_1_cpu(const std::string& base, std::string_view path, CgroupLimits& limits) {
  for_each_group(base, path, [&](const std::string& group) {
    const auto quota = first_line(group + "/cpu.cfs_quota_us");
    const auto period = first_line(group + "/cpu.cfs_period_us");
    if (!quota || !period) return;
    const auto quota_us = number_in(*quota);  // -1 has none
    const auto period_us = number_in(*period);
    if (quota_us && period_us) limits.cpu_milli = std::min(limits.cpu_milli, cpu_milli_of(*quota_us, *period_us));
  });
}

void read_version_1_memory(const std::string& base, std::string_view path, CgroupLimits& limits) {
  for_each_group(base, path, [&](const std::string& group) {
    const auto line = first_line(group + "/memory.limit_in_bytes");
    if (!line) return;
    if (const auto bytes = number_in(*line)) limits.memory_bytes = std::min(limits.memory_bytes, *bytes);
  });
}

bool has_controller(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

CgroupLimits read_cgroup_limits(std::string_view membership, const std::string& mount) {
  CgroupLimits limits{.cpu_milli = kUnlimited, .memory_bytes = kUnlimited};
  while (!membership.empty()) {
    const size_t end = membership.find('\n');
    const std::string_view line = membership.substr(0, end);
    membership.remove_prefix(end == std::string_view::npos ? membership.size() : end + 1);
    // "4:memory:/path" in version 1, "0::/path" in version 2.
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (controllers.empty()) read_version_2(mount, path, limits);
    if (has_controller(controllers, "cpu")) {
      for (const char* folder : {"/cpu", "/cpu,cpuacct"}) read_version_1_cpu(mount + folder, path, limits);
    }
    if (has_controller(controllers, "memory")) read_version_1_memory(mount + "/memory", path, limits);
  }
  return limits;
}

}  // namespace weft::local
