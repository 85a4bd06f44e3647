#pragma once

#include "base/result.h"
#include "base/units.h"
#include "engine/local/lease.h"

#include <optional>
#include <string>

namespace weft::cli {

/// The folder in which a server keeps scripts and output of its jobs while it runs. One server at a time, by a lock in
/// it.
class StateFolder {
 public:
  /// Makes the folder where it is missing, locks it, waits for the tasks of a server that was killed (after `patience`
  /// they are killed too), and empties the jobs folder of what it left. A folder that holds other things, and
  /// was never one of weft's, is refused.
  static Result<StateFolder> take(const std::string& path, Duration patience);
  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&&) = delete;
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;
  /// Removes the jobs folder.
  ~StateFolder();

  std::string jobs() const { return path_ + "/jobs"; }
  const std::string& path() const { return path_; }
  /// To be held by every task's supervisor.
  int lease_fd() const { return lease_ ? lease_->fd() : -1; }

 private:
  StateFolder(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

  std::string path_;
  int lock_fd_ = -1;
  std::optional<local::Lease> lease_;
};

}  // namespace weft::cli
