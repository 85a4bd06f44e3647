#pragma once

#include "base/result.h"

#include <string>

namespace weft::cli {

/// The folder in which a server keeps scripts and output of its jobs while it runs. One server at a time, by a lock in
/// it.
class StateFolder {
 public:
  /// Makes the folder where it is missing, locks it, and empties its jobs folder of what a server that was killed left.
  static Result<StateFolder> take(const std::string& path);
  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&&) = delete;
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;
  /// Removes the jobs folder.
  ~StateFolder();

  std::string jobs() const { return path_ + "/jobs"; }
  const std::string& path() const { return path_; }

 private:
  StateFolder(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

  std::string path_;
  int lock_fd_ = -1;
};

}  // namespace weft::cli
