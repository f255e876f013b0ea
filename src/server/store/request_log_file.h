// RequestLog in an SQLite file of its own beside the store, so that a decision on a request waits for no
// pass.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "server/store/private_file.h"
#include "server/store/request_log.h"
#include "server/store/sqlite.h"

namespace taut::server {

// The store's lock guards this file as well: one process at a time. The empty file "PATH.made" records that
// there were entries. If it exists without entries, the log was deleted: Read reports damage, and Append
// fails until the log is restored or "PATH.made" is deleted, and the daemon is restarted.
class RequestLogFile final : public RequestLog {
 public:
  // Opens the file, or creates it. Errors as SqliteStore::Open.
  static absl::StatusOr<std::unique_ptr<RequestLogFile>> Open(const std::string& path);

  absl::Status Append(std::span<const RequestLogEntry> entries) override;
  absl::Status Check() override;
  absl::Status Read(absl::FunctionRef<void(const RequestLogEntry&)> yield,
                    absl::FunctionRef<void(const std::string&)> on_damage) override;
  absl::Status Forget(std::span<const uint64_t> requests) override;

 private:
  RequestLogFile(std::unique_ptr<Database> db, bool is_lost)
      : db_(std::move(db)), identity_(IdentityOf(db_->path())), is_lost_(is_lost) {}
  std::string LostText() const;
  absl::Status CheckFile() const;

  std::mutex mutex_;  // over the database
  const std::unique_ptr<Database> db_;
  const std::optional<FileIdentity> identity_;  // file that is written
  const bool is_lost_;                          // there were entries, and the file was deleted
  bool is_marked_ = false;                      // "PATH.made" exists
  Statement append_{db_.get(),
                    "INSERT INTO entries(request, time_s, who, text, sum) VALUES (?1, ?2, ?3, ?4, ?5)"};
  Statement read_{db_.get(), "SELECT id, request, time_s, who, text, sum FROM entries ORDER BY id"};
  Statement forget_{db_.get(), "DELETE FROM entries WHERE request = ?1"};
};

}  // namespace taut::server
