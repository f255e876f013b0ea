#include "server/store/request_log_file.h"

#include <utility>

#include "common/base/strings.h"
#include "server/store/private_file.h"
#include "server/store/records.h"
#include "server/store/schema.h"

namespace taut::server {
namespace {

constexpr const char* kRequestMigrations[] = {
    // 1
    R"(
CREATE TABLE entries(id INTEGER PRIMARY KEY AUTOINCREMENT, request INTEGER NOT NULL, time_s INTEGER NOT NULL,
                     who TEXT NOT NULL, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
CREATE INDEX entries_by_request ON entries(request);
)"};

constexpr size_t kRequestLogVersion = 1;
static_assert(std::size(kRequestMigrations) == kRequestLogVersion);

int64_t EntrySum(const RequestLogEntry& e) { return RowSum::Of(e.request, e.time_s, e.who, e.text); }

std::string MarkOf(const std::string& path) { return path + ".made"; }

// Returns false if the file cannot be created; the next entry tries again.
bool Mark(const std::string& path) {
  CloseToOthers(MarkOf(path));
  return IdentityOf(MarkOf(path)).has_value();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RequestLogFile>> RequestLogFile::Open(const std::string& path) {
  CloseToOthers(path);
  absl::StatusOr<std::unique_ptr<Database>> db = Database::Open(path, Database::Access::kReadWrite);
  if (!db.ok()) return db.status();
  absl::Status status = Migrate(**db, kRequestMigrations);
  if (status.ok()) status = (*db)->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  if (status.ok()) status = SyncDirectoryOf(path);
  if (!status.ok()) return status;
  // AUTOINCREMENT remembers the highest ID, also after all entries were forgotten.
  const absl::StatusOr<int64_t> had =
      (*db)->Number("SELECT EXISTS(SELECT 1 FROM sqlite_sequence WHERE seq > 0)");
  if (!had.ok()) return had.status();
  const bool is_lost = *had == 0 && IdentityOf(MarkOf(path)).has_value();
  std::unique_ptr<RequestLogFile> log(new RequestLogFile(*std::move(db), is_lost));
  if (*had != 0) log->is_marked_ = Mark(path);
  return log;
}

std::string RequestLogFile::LostText() const {
  return StrCat(db_->path(), " had entries and was deleted: restore it from a backup, or delete ",
                MarkOf(db_->path()), " to begin again, and restart tautd");
}

absl::Status RequestLogFile::CheckFile() const {
  if (is_lost_) return absl::UnavailableError(LostText());
  if (IdentityOf(db_->path()) == identity_) return absl::OkStatus();
  return absl::UnavailableError(
      StrCat(db_->path(), " was deleted or replaced: put it back, or restart tautd"));
}

absl::Status RequestLogFile::Check() {
  const std::lock_guard guard(mutex_);
  return CheckFile();
}

absl::Status RequestLogFile::Append(std::span<const RequestLogEntry> entries) {
  const std::lock_guard guard(mutex_);
  if (absl::Status s = CheckFile(); !s.ok()) return s;
  if (!is_marked_) is_marked_ = Mark(db_->path());
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  for (const RequestLogEntry& e : entries) {
    const absl::Status status = append_.Run(e.request, e.time_s, e.who, e.text, EntrySum(e));
    if (!status.ok()) return status;
  }
  return (*transaction)->Commit();
}

absl::Status RequestLogFile::Read(absl::FunctionRef<void(const RequestLogEntry&)> yield,
                                  absl::FunctionRef<void(const std::string&)> on_damage) {
  const std::lock_guard guard(mutex_);
  if (is_lost_) on_damage(LostText());
  Rows rows = read_.Query();
  while (true) {
    const absl::StatusOr<bool> more = rows.Next();
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    const RequestLogEntry entry{static_cast<uint64_t>(rows.Int(1)), rows.Int(2), std::string(rows.Bytes(3)),
                                std::string(rows.Bytes(4))};
    if (rows.Int(5) == EntrySum(entry)) {
      yield(entry);
    } else {
      on_damage(StrCat(db_->path(), ": entry ", rows.Int(0), " of request ", entry.request,
                       " is damaged (its checksum does not match) and is left out"));
    }
  }
}

absl::Status RequestLogFile::Forget(std::span<const uint64_t> requests) {
  const std::lock_guard guard(mutex_);
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  for (const uint64_t request : requests) {
    if (const absl::Status status = forget_.Run(request); !status.ok()) return status;
  }
  return (*transaction)->Commit();
}

}  // namespace taut::server
