#include "server/store/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include "common/base/strings.h"

namespace taut::server {

Rows::~Rows() {
  if (statement_ != nullptr) sqlite3_reset(statement_);
}

absl::StatusOr<bool> Rows::Next() {
  // A null statement means that its preparation failed; the connection still has the error.
  if (statement_ == nullptr) return db_->Error(SQLITE_ERROR);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return db_->Error(code);
}

int64_t Rows::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::optional<int64_t> Rows::IntOrNull(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return Int(column);
}

std::optional<double> Rows::RealOrNull(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement_, column);
}

std::string_view Rows::Bytes(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, static_cast<size_t>(size));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::Prepare() {
  if (statement_ != nullptr) return;
  sqlite3_prepare_v3(db_->handle_, sql_.data(), static_cast<int>(sql_.size()), SQLITE_PREPARE_PERSISTENT,
                     &statement_, nullptr);
}

// Binding fails only for values that are too large (SQLITE_TOOBIG). The column is then NULL, and the step
// fails with NOT NULL. A null pointer would bind NULL, so an empty text is bound with a pointer to other
// memory.
void Statement::BindInt(int at, int64_t value) { sqlite3_bind_int64(statement_, at, value); }

void Statement::Bind(int at, const std::optional<double>& value) {
  value ? sqlite3_bind_double(statement_, at, *value) : sqlite3_bind_null(statement_, at);
}

void Statement::Bind(int at, const std::optional<int64_t>& value) {
  value ? sqlite3_bind_int64(statement_, at, *value) : sqlite3_bind_null(statement_, at);
}

void Statement::Bind(int at, std::string_view text) {
  sqlite3_bind_text64(statement_, at, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

void Statement::Bind(int at, Blob blob) {
  sqlite3_bind_blob64(statement_, at, blob.bytes.empty() ? "" : blob.bytes.data(), blob.bytes.size(),
                      SQLITE_STATIC);
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path, Access access) {
  sqlite3* handle = nullptr;
  const int flags =
      access == Access::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<Database> db(new Database(path, handle));
  if (handle == nullptr) return absl::ResourceExhaustedError(StrCat(path, ": out of memory"));
  if (code != SQLITE_OK) return db->Error(code);
  // Other connections of this process hold locks only for short times.
  sqlite3_busy_timeout(handle, 5000);
  return db;
}

Database::~Database() { sqlite3_close_v2(handle_); }

absl::Status Database::Execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code);
}

absl::StatusOr<int64_t> Database::Number(const char* sql) {
  Statement statement(this, sql);
  Rows rows = statement.Query();
  const absl::StatusOr<bool> any = rows.Next();
  if (!any.ok()) return any.status();
  return *any ? rows.Int(0) : 0;
}

int64_t Database::changes() const { return sqlite3_changes64(handle_); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

absl::Status Database::Error(int code) const {
  const int last = sqlite3_extended_errcode(handle_);
  if (last != SQLITE_OK) code = last;
  const int os_error = sqlite3_system_errno(handle_);
  const std::string why = StrCat(path_, ": ", sqlite3_errmsg(handle_),
                                 os_error != 0 ? StrCat(" (", std::strerror(os_error), ")") : "");
  switch (code & 0xff) {
    case SQLITE_FULL:
      return absl::UnavailableError(StrCat(why, "; free disk space; tautd retries"));
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_CORRUPTFS) return Damaged(path_, "the file system reports damage");
      return absl::UnavailableError(StrCat(why, "; check its disk; tautd retries"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(StrCat(why, "; another program uses it"));
    case SQLITE_CANTOPEN:
      if (os_error == ENOSPC || os_error == EMFILE || os_error == ENFILE) return absl::UnavailableError(why);
      if (os_error == ENOENT) return absl::NotFoundError(StrCat(why, "; its directory must exist"));
      [[fallthrough]];
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(StrCat(why, "; the file and its directory must be writable"));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Damaged(path_, sqlite3_errmsg(handle_));
    case SQLITE_NOMEM:
      return absl::ResourceExhaustedError(why);
    case SQLITE_TOOBIG:
      return absl::InvalidArgumentError(why);
    default:
      return absl::InternalError(StrCat(why, " (SQLite ", code, ")"));
  }
}

absl::Status Damaged(std::string_view path, std::string_view what) {
  return absl::DataLossError(StrCat(path, " is damaged: ", what, ". Stop the daemon and move the file and ",
                                    path,
                                    "-wal away: the daemon starts with an empty store and reads history by "
                                    "backfill. Recover the readable part with `sqlite3 ",
                                    path, " '.clone recovered.db'`"));
}

absl::StatusOr<std::unique_ptr<Transaction>> Transaction::Begin(Database& db, Kind kind) {
  std::unique_lock<WriteTurns> turn;
  if (kind == Kind::kWrite && db.turns_ != nullptr) turn = std::unique_lock(*db.turns_);
  const absl::Status begun = db.Execute(kind == Kind::kRead ? "BEGIN" : "BEGIN IMMEDIATE");
  if (!begun.ok()) return begun;
  return std::unique_ptr<Transaction>(new Transaction(db, std::move(turn)));
}

Transaction::~Transaction() {
  // After some errors, SQLite has already rolled back.
  if (db_.in_transaction()) (void)db_.Execute("ROLLBACK");
}

absl::Status Transaction::Commit() { return db_.Execute("COMMIT"); }

}  // namespace taut::server
