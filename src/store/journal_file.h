#pragma once

#include "base/result.h"

#include <memory>
#include <string>

namespace weft::store {

/// The place of a journal on disk while it is written, with the files that SQLite keeps beside it. Held by a lock, so
/// that two writers never share one; the lock goes with the process.
class JournalFile {
 public:
  /// PATH.unfinished, new: what a killed run left there goes. A link is followed. Error: another program writes it.
  static Result<std::unique_ptr<JournalFile>> beside(const std::string& path);
  /// PATH itself, for the owner's eyes only. Error: there is something.
  static Result<std::unique_ptr<JournalFile>> at(const std::string& path);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  const std::string& path() const { return path_; }

  // Of a file beside its place, when no database has it open any more.
  /// Puts it in its place, and away with what was there.
  Result<void> take_place();
  void remove();

 private:
  JournalFile(std::string path, std::string place, int fd)
      : path_(std::move(path)), place_(std::move(place)), fd_(fd) {}

  std::string path_;
  std::string place_;  ///< empty: it stands in it
  int fd_ = -1;
};

}  // namespace weft::store
