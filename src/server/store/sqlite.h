// SQLite with typed values and absl::Status: a connection, and statements that bind values in order and reset
// themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/store/write_turns.h"

struct sqlite3;
struct sqlite3_stmt;

namespace taut::server {

// Bytes to bind as a blob; the bytes must exist until the rows are read.
struct Blob {
  std::string_view bytes;
};

class Database;

// Result rows of a statement; the destructor resets the statement. Columns are numbered from 0. Views are
// valid until the next call of Next().
class Rows {
 public:
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows();

  absl::StatusOr<bool> Next();  // returns false if there are no more rows
  int64_t Int(int column) const;
  std::optional<int64_t> IntOrNull(int column) const;
  std::optional<double> RealOrNull(int column) const;
  std::string_view Bytes(int column) const;  // bytes of a text or blob

 private:
  friend class Statement;
  Rows(Database* db, sqlite3_stmt* statement) : db_(db), statement_(statement) {}
  Database* db_;
  sqlite3_stmt* statement_;
};

// A statement, prepared at its first use, so that a class may hold all its statements as members. Stores a
// pointer to its Database, which must outlive the statement.
class Statement {
 public:
  Statement(Database* db, std::string sql) : db_(db), sql_(std::move(sql)) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // Binds `values` to ?1, ?2, ... Texts and blobs must exist until the rows are read. Next() returns an error
  // of the binding.
  template <typename... Values>
  Rows Query(const Values&... values) {
    Prepare();
    int at = 0;
    (Bind(++at, values), ...);
    return Rows(db_, statement_);
  }
  // Runs a statement without result rows.
  template <typename... Values>
  absl::Status Run(const Values&... values) {
    Rows rows = Query(values...);
    return rows.Next().status();
  }

 private:
  void Prepare();
  template <typename T>
  requires std::is_integral_v<T>
  void Bind(int at, T value) { BindInt(at, static_cast<int64_t>(value)); }
  void Bind(int at, const std::optional<double>& value);
  void Bind(int at, const std::optional<int64_t>& value);
  void Bind(int at, std::string_view text);
  void Bind(int at, const std::string& text) { Bind(at, std::string_view(text)); }
  void Bind(int at, Blob blob);
  void BindInt(int at, int64_t value);

  Database* db_;
  std::string sql_;
  sqlite3_stmt* statement_ = nullptr;
};

// One connection. Not thread-safe.
class Database {
 public:
  enum class Access : uint8_t { kReadWrite, kRead };
  // Opens the file; kReadWrite creates a missing file. Returns the errors of Error().
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs any number of statements without parameters; result rows are ignored.
  absl::Status Execute(const char* sql);
  // Returns the single number that `sql` returns; 0 if there is no row.
  absl::StatusOr<int64_t> Number(const char* sql);
  int64_t changes() const;  // number of rows changed by the last statement that wrote
  bool in_transaction() const;
  const std::string& path() const { return path_; }
  // Makes write transactions take turns with write transactions of other connections that use `turns`, which must
  // outlive this object.
  void TakeTurns(WriteTurns* turns) { turns_ = turns; }

  // Returns the error of the last SQLite call, which returned `code`:
  //   Unavailable         no space, an I/O error, locked: retry
  //   PermissionDenied    the file or its directory is not writable
  //   NotFound            the file's directory does not exist
  //   DataLoss            damaged; the message contains the remedy
  //   ResourceExhausted, InvalidArgument   out of memory; a value is too large
  //   Internal            an error in this program
  absl::Status Error(int code) const;

 private:
  friend class Statement;
  friend class Transaction;
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  sqlite3* handle_;
  WriteTurns* turns_ = nullptr;
};

// Returns DataLoss with the file, the damage and the remedy.
absl::Status Damaged(std::string_view path, std::string_view what);

// A transaction; its destructor rolls back unless Commit returned OK.
class Transaction {
 public:
  enum class Kind : uint8_t { kRead, kWrite };
  // Begins a transaction; kWrite locks the file at once. Returns the errors of Database::Error.
  static absl::StatusOr<std::unique_ptr<Transaction>> Begin(Database& db, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  // Commits and ends the transaction. On an error, the destructor rolls back.
  absl::Status Commit();

 private:
  Transaction(Database& db, std::unique_lock<WriteTurns> turn) : turn_(std::move(turn)), db_(db) {}
  const std::unique_lock<WriteTurns> turn_;
  Database& db_;
};

}  // namespace taut::server
