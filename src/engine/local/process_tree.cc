#include "engine/local/process_tree.h"

#include "engine/local/control.h"
#include "engine/local/file_descriptor.h"
#include "engine/local/process_handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/wait.h>
#include <unordered_map>

namespace weft::local {
namespace {

/// The `count`th blank-separated field of `text`, from 0; empty when there are fewer.
std::string_view field(std::string_view text, unsigned count) {
  for (; count > 0; --count) {
    const size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return {};
    text.remove_prefix(blank + 1);
  }
  return text.substr(0, text.find(' '));
}

template <typename Number>
bool parse_whole(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

enum class Look : uint8_t { kSeen, kGone, kRefused };

Look look_at(pid_t pid, Process& out) {
  const FileDescriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return is_shortage(errno) ? Look::kRefused : Look::kGone;
  std::array<char, 1024> buffer{};
  const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
  if (size <= 0) return Look::kGone;
  const auto process = parse_process_stat({buffer.data(), static_cast<size_t>(size)});
  if (!process) return Look::kGone;
  out = *process;
  return Look::kSeen;
}

struct Listing {
  std::vector<Process> found;
  bool is_whole = true;  ///< false: there may be others, which the system would not show
};

Listing all_processes() {
  Listing listing;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (folder == nullptr) return {.is_whole = false};
  while (const dirent* entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): one thread
    pid_t pid = 0;
    if (!parse_whole(std::string_view(entry->d_name), pid)) continue;
    Process process;
    switch (look_at(pid, process)) {
      case Look::kSeen: listing.found.push_back(process); break;
      case Look::kRefused: listing.is_whole = false; break;
      case Look::kGone: break;
    }
  }
  return listing;
}

std::vector<Process> below(const std::vector<Process>& all, pid_t root) {
  std::unordered_multimap<pid_t, size_t> by_parent;
  by_parent.reserve(all.size());
  for (size_t i = 0; i < all.size(); ++i) by_parent.emplace(all[i].parent, i);

  std::vector<Process> found;
  std::vector<pid_t> parents{root};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto [first, last] = by_parent.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      found.push_back(all[child->second]);
      parents.push_back(all[child->second].pid);
    }
    // The listing is no snapshot: a reused id could close a circle. No process is visited twice.
    by_parent.erase(first, last);
  }
  return found;
}

}  // namespace

std::optional<Process> parse_process_stat(std::string_view text) {
  // "pid (name) state parent …": the name may hold blanks and brackets, so the fields count from the last one.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
  Process process;
  const std::string_view rest = text.substr(name_end + 2);
  const std::string_view state = field(rest, 0);
  if (state.size() != 1) return std::nullopt;
  process.state = state[0];
  if (!parse_whole(field(text, 0), process.pid) || !parse_whole(field(rest, 1), process.parent) ||
      !parse_whole(field(rest, 19), process.start_ticks)) {
    return std::nullopt;
  }
  return process;
}

std::optional<Process> find_process(pid_t pid) {
  Process process;
  return look_at(pid, process) == Look::kSeen ? std::optional(process) : std::nullopt;
}

std::vector<Process> descendants_of(pid_t root) { return below(all_processes().found, root); }

std::optional<std::vector<Process>> all_descendants_of(pid_t root) {
  const Listing listing = all_processes();
  return listing.is_whole ? std::optional(below(listing.found, root)) : std::nullopt;
}

Signalled signal_process(const Process& process, int signal) {
  const FileDescriptor handle = open_process(process.pid);
  if (!handle.is_open()) return Signalled::kGone;
  // The handle holds whoever has the id now; only the start time says that it is still the one that was listed.
  const auto now = find_process(process.pid);
  if (!now || now->start_ticks != process.start_ticks) return Signalled::kGone;
  if (signal_process_handle(handle, signal) == 0) return Signalled::kYes;
  return errno == EPERM ? Signalled::kRefused : Signalled::kGone;
}

Strays kill_strays(const std::set<pid_t>& keep) {
  const auto descendants = all_descendants_of(::getpid());
  if (!descendants) return Strays::kSome;
  std::set<pid_t> strays{::getpid()};
  for (const Process& process : *descendants) {  // parents come before children
    if (keep.contains(process.pid) || !strays.contains(process.parent)) continue;
    strays.insert(process.pid);
    if (process.state != 'Z') {
      signal_process(process, SIGKILL);
    } else if (process.parent == ::getpid()) {
      ::waitpid(process.pid, nullptr, WNOHANG);
    }
  }
  return strays.size() == 1 ? Strays::kNone : Strays::kSome;
}

Strays kill_below(pid_t root) {
  const auto descendants = all_descendants_of(root);
  if (!descendants) return Strays::kSome;
  Strays left = Strays::kNone;
  for (const Process& process : *descendants) {
    if (process.state == 'Z') continue;
    left = Strays::kSome;
    signal_process(process, SIGKILL);
  }
  return left;
}

}  // namespace weft::local
