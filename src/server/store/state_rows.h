// States as rows of the store's file, over a separate connection. Part of SqliteStore.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "server/store/private_file.h"
#include "server/store/sqlite.h"
#include "server/store/states.h"

namespace taut::server {

// RequestLog as a table with one row per entry. Thread-safe; `mutex` guards the connection.
class LogRows final : public RequestLog {
 public:
  LogRows(const std::string& table, Database* db, std::mutex* mutex, const FilePlace* place);

  absl::Status Append(std::span<const RequestLogEntry> entries) override;
  absl::Status Check() override { return place_->Check(); }
  absl::Status Read(absl::FunctionRef<void(const RequestLogEntry&)> yield,
                    absl::FunctionRef<void(const std::string&)> on_damage) override;
  absl::Status Forget(std::span<const uint64_t> requests) override;

 private:
  const std::string table_;
  Database* const db_;
  std::mutex* const mutex_;
  const FilePlace* const place_;
  Statement append_, read_, forget_;
};

class StateRows final : public States {
 public:
  // Opens the file of `place`, in which the tables exist. Both arguments must outlive the object.
  static absl::StatusOr<std::unique_ptr<StateRows>> Open(const FilePlace* place, WriteTurns* turns);

  absl::Status Put(std::string_view name, std::string_view bytes) override;
  absl::StatusOr<std::optional<std::string>> Get(std::string_view name) override;
  LogRows& requests() override { return requests_; }
  LogRows& budgets() override { return budgets_; }

 private:
  StateRows(std::unique_ptr<Database> db, const FilePlace* place)
      : db_(std::move(db)),
        place_(place),
        requests_("request_log", db_.get(), &mutex_, place),
        budgets_("budget_ledger", db_.get(), &mutex_, place) {}

  std::mutex mutex_;  // lock for the connection
  const std::unique_ptr<Database> db_;
  const FilePlace* const place_;
  Statement put_{db_.get(), "INSERT OR REPLACE INTO states VALUES(?1, ?2, ?3)"};
  Statement drop_{db_.get(), "DELETE FROM states WHERE name = ?1"};
  Statement get_{db_.get(), "SELECT bytes, sum FROM states WHERE name = ?1"};
  LogRows requests_, budgets_;
};

// Returns the checksum of a row.
int64_t SumOf(const RequestLogEntry& entry);
int64_t StateSum(std::string_view name, std::string_view bytes);

}  // namespace taut::server
