#pragma once

#include "base/result.h"
#include "base/units.h"
#include "engine/local/file_descriptor.h"

#include <functional>
#include <string>

namespace weft::local {

/// A lock on a file that a server and the supervisors of all its tasks hold together, as one open file: it is free when
/// the last of them is gone. A server that was killed leaves tasks that end within their grace; until then they may
/// still use their devices, so the next server takes the lease before it gives any device to anybody.
class Lease {
 public:
  /// Waits until nobody else holds the file at `path`. After `patience` what is left of the tasks is killed.
  /// `on_wait` is told once, before the wait, how many tasks there are.
  /// Error kUnavailable: the file cannot be opened. kConflict: what holds it is no supervisor that this user may end.
  static Result<Lease> take(const std::string& path, Duration patience, const std::function<void(size_t)>& on_wait);

  int fd() const { return file_.get(); }

 private:
  explicit Lease(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace weft::local
