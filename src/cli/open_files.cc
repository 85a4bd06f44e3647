#include "cli/open_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <system_error>

namespace weft::cli {
namespace {

/// A connection, and the two streams of the job that it follows.
constexpr uint64_t kFilesPerConnection = 3;
/// What jobs keep of few descriptors: the start of a task takes four for a moment.
constexpr uint64_t kFilesPerStart = 4;
constexpr uint64_t kFilesForJobsMin = 2 * kFilesPerStart;

}  // namespace

uint64_t raise_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const uint64_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

uint64_t open_files_left() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  uint64_t used = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    uint64_t number = 0;
    // An inherited one may have a number above the limit: it takes nothing away.
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc() && number < limit.rlim_cur)
      ++used;
  }
  if (used > 0) --used;  // the folder itself
  return limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, used);
}

size_t connections_max(uint64_t open_files_left) {
  const uint64_t for_jobs = std::max(kFilesForJobsMin, open_files_left / 4);
  const uint64_t with_streams = (open_files_left - std::min(open_files_left, for_jobs)) / kFilesPerConnection;
  // So few that connections and jobs must take turns: two, so that one can cancel the job that the other follows.
  const uint64_t in_turns = open_files_left - std::min(open_files_left, kFilesPerStart);
  return std::max({with_streams, std::min<uint64_t>(in_turns, 2), uint64_t{1}});
}

}  // namespace weft::cli
