#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::service {

/// Tells when files grow, by one inotify descriptor for all of them: a user may have only a few of those.
/// Where the system has none to give, nobody is told, and readers look again now and then anyway.
class FileWatcher {
 public:
  FileWatcher();
  ~FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  /// Readable when something has changed; -1 where there is no inotify.
  int fd() const { return fd_; }
  /// `reader` is called when the file grows; until forget(). A file that is not there yet is passed over: watch it
  /// again later.
  void watch(const std::string& path, uint64_t reader);
  void forget(uint64_t reader);
  /// The readers of what has changed since the last call, each once, in ascending order.
  std::vector<uint64_t> take_changed();

 private:
  int fd_ = -1;
  std::map<int, std::vector<uint64_t>> readers_;             ///< by watch
  std::map<std::pair<uint64_t, std::string>, int> watches_;  ///< by reader and path
};

}  // namespace weft::service
