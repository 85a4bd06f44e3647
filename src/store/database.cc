#include "store/database.h"

#include "base/check.h"
#include "base/printable.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>
#include <limits>
#include <system_error>
#include <unistd.h>

namespace weft::store {

namespace {

/// A path as a URI, which alone can say `immutable`: what has a meaning there is written as %XX.
std::string immutable_uri(const std::string& path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
  std::string uri = "file:";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return uri + "?immutable=1";
}

/// A path that SQLite cannot take for a URI or a name of its own.
std::string plain_path(const std::string& path) { return path.starts_with('/') ? path : "./" + path; }

std::string system_reason(sqlite3* database) {
  const int number = sqlite3_system_errno(database);
  return number != 0 ? std::generic_category().message(number) : sqlite3_errmsg(database);
}

}  // namespace

void DatabaseCloser::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void DatabaseCloser::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

// ---- Statements

void Statement::bind(int place, int64_t value) { sqlite3_bind_int64(statement_.get(), place, value); }

// The pointer of an empty view may be null, and null would be no blob.
void Statement::bind_blob(int place, std::string_view value) {
  sqlite3_bind_blob64(statement_.get(), place, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC);
}

void Statement::bind_text(int place, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), place, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

Statement::Step Statement::step() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW: return Step::kRow;
    case SQLITE_DONE: return Step::kDone;
    default: return Step::kFailed;
  }
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

bool Statement::is_integer(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER; }
bool Statement::is_blob(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_BLOB; }
bool Statement::is_text(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT; }
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string_view Statement::bytes(int column) const {
  const void* const data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), static_cast<size_t>(size));
}

// ---- Databases

Result<Database> Database::open(const std::string& path, Access access) {
  const auto open_as = [&](const std::string& name, int flags) {
    sqlite3* opened = nullptr;
    sqlite3_open_v2(name.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    WEFT_CHECK(opened != nullptr, "SQLite has memory for a handle");
    return Database(path, access, opened);
  };
  Database database =
      open_as(plain_path(path), access == Access::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  if (access == Access::kWrite) {
    if (sqlite3_errcode(database.database_.get()) != SQLITE_OK) return std::unexpected(database.last_error());
    return database;
  }
  sqlite3* const handle = database.database_.get();
  if (sqlite3_errcode(handle) == SQLITE_OK) {
    sqlite3_busy_timeout(handle, 5000);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    if (const auto first = database.integer("SELECT count(*) FROM sqlite_schema"); first) return database;
  }
  // A file that was written with a log beside it needs files beside it also to be read. Where there is no such log, and
  // none can be made, the file is all there is.
  const int code = sqlite3_errcode(handle) & 0xff;
  const bool lacks_log = (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) && ::access(path.c_str(), R_OK) == 0;
  if (!lacks_log) return std::unexpected(database.last_error());
  if (::access((path + "-wal").c_str(), F_OK) == 0) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("{0}: its log, {0}-wal, can only be read by its owner or where a file can be made beside it: "
                    "copy both into a folder of your own",
                    printable(path)));
  }
  Database still = open_as(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  if (const auto first = still.integer("SELECT count(*) FROM sqlite_schema"); !first)
    return std::unexpected(first.error());
  return still;
}

Result<void> Database::run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return std::unexpected(last_error());
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  WEFT_CHECK(sql.size() < std::numeric_limits<int>::max(), "statements are short");
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
    return std::unexpected(last_error());
  return Statement(statement);
}

Result<int64_t> Database::integer(std::string_view sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  if (statement->step() != Statement::Step::kRow) return std::unexpected(last_error());
  return statement->integer(0);
}

bool Database::is_without_log() {
  Result<Statement> mode = prepare("PRAGMA journal_mode");
  return mode && mode->step() == Statement::Step::kRow && mode->bytes(0) != "wal";
}

Error Database::last_error() const {
  sqlite3* const handle = database_.get();
  const auto error = [&](ErrorCode code, std::string_view what) {
    return Error{code, fmt::format("{}: {}", printable(path_), what)};
  };
  switch (sqlite3_errcode(handle) & 0xff) {
    case SQLITE_NOTADB: return error(ErrorCode::kInvalidInput, "is no journal of weft");
    case SQLITE_CORRUPT: return error(ErrorCode::kInvalidInput, "is damaged: its pages do not fit together");
    case SQLITE_FULL: return error(ErrorCode::kUnavailable, "cannot be written: no space is left for it");
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return error(ErrorCode::kUnavailable, "is in use by another program");
    case SQLITE_READONLY:
    case SQLITE_PERM: return error(ErrorCode::kUnavailable, "cannot be written: it may only be read");
    case SQLITE_CANTOPEN:
      return error(ErrorCode::kInvalidInput, fmt::format("cannot be opened: {}", system_reason(handle)));
    case SQLITE_IOERR:
      return error(
          ErrorCode::kUnavailable,
          fmt::format("cannot be {}: {}", access_ == Access::kWrite ? "written" : "read", system_reason(handle)));
    default: return error(ErrorCode::kInvalidInput, fmt::format("is no journal of weft ({})", sqlite3_errmsg(handle)));
  }
}

}  // namespace weft::store
