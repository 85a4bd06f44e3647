#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace weft::store {

/// Closes what SQLite opened.
struct DatabaseCloser {
  void operator()(sqlite3* database) const;
  void operator()(sqlite3_stmt* statement) const;
};

/// A prepared statement. Parameters are bound by their place from 1, columns read by theirs from 0. Text and blobs that
/// are bound must live until the step; those that are read, until the next step or reset.
class Statement {
 public:
  enum class Step : uint8_t { kRow, kDone, kFailed };

  void bind(int place, int64_t value);
  void bind_blob(int place, std::string_view value);
  void bind_text(int place, std::string_view value);
  Step step();
  /// Makes it ready to be stepped again.
  void reset();

  bool is_integer(int column) const;
  bool is_blob(int column) const;
  bool is_text(int column) const;
  int64_t integer(int column) const;
  std::string_view bytes(int column) const;  ///< of a blob or a text

 private:
  friend class Database;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  std::unique_ptr<sqlite3_stmt, DatabaseCloser> statement_;
};

/// One SQLite file, used by one thread. Knows nothing of what stands in it.
class Database {
 public:
  enum class Access : uint8_t {
    kWrite,  ///< the file is there; an empty one is a new database
    kRead,   ///< nothing of the file is changed, and its contents are not trusted; a file in use may be read, too
  };
  /// Error: in words, with the path.
  static Result<Database> open(const std::string& path, Access access);

  /// Statements without results, or whose results do not matter.
  Result<void> run(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  /// The number that a statement gives; Error where it gives none.
  Result<int64_t> integer(std::string_view sql);
  /// All of it stands in the one file.
  bool is_without_log();
  /// What went wrong last: "PATH: cannot be written: the disk is full".
  Error last_error() const;
  const std::string& path() const { return path_; }

 private:
  Database(std::string path, Access access, sqlite3* database)
      : path_(std::move(path)), access_(access), database_(database) {}

  std::string path_;
  Access access_;
  std::unique_ptr<sqlite3, DatabaseCloser> database_;
};

}  // namespace weft::store
