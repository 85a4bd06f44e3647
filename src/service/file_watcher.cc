#include "service/file_watcher.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <sys/inotify.h>
#include <unistd.h>

namespace weft::service {

FileWatcher::FileWatcher() : fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

FileWatcher::~FileWatcher() {
  if (fd_ >= 0) ::close(fd_);
}

void FileWatcher::watch(const std::string& path, uint64_t reader) {
  if (fd_ < 0 || watches_.contains({reader, path})) return;
  const int watch = ::inotify_add_watch(fd_, path.c_str(), IN_MODIFY);
  if (watch < 0) return;
  watches_[{reader, path}] = watch;
  std::vector<uint64_t>& readers = readers_[watch];
  if (std::ranges::find(readers, reader) == readers.end()) readers.push_back(reader);
}

void FileWatcher::forget(uint64_t reader) {
  for (auto watch = watches_.lower_bound({reader, {}}); watch != watches_.end() && watch->first.first == reader;) {
    const auto readers = readers_.find(watch->second);
    if (readers != readers_.end()) {
      std::erase(readers->second, reader);
      if (readers->second.empty()) {
        ::inotify_rm_watch(fd_, readers->first);
        readers_.erase(readers);
      }
    }
    watch = watches_.erase(watch);
  }
}

std::vector<uint64_t> FileWatcher::take_changed() {
  std::set<uint64_t> changed;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer{};
  for (;;) {
    const ssize_t size = ::read(fd_, buffer.data(), buffer.size());
    if (size <= 0) break;
    for (size_t at = 0; at + sizeof(inotify_event) <= static_cast<size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      at += sizeof(event) + event.len;
      if (const auto readers = readers_.find(event.wd); readers != readers_.end()) {
        changed.insert(readers->second.begin(), readers->second.end());
      }
    }
  }
  return {changed.begin(), changed.end()};
}

}  // namespace weft::service
