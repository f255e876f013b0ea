#include "server/store/state_rows.h"

#include <utility>

#include "common/base/strings.h"
#include "server/store/records.h"

namespace taut::server {

int64_t SumOf(const RequestLogEntry& e) { return RowSum::Of(e.request, e.time_s, e.who, e.text); }

int64_t StateSum(std::string_view name, std::string_view bytes) { return RowSum::Of(name, bytes); }

LogRows::LogRows(const std::string& table, Database* db, std::mutex* mutex, const FilePlace* place)
    : table_(table),
      db_(db),
      mutex_(mutex),
      place_(place),
      append_(db, StrCat("INSERT INTO ", table, " VALUES(NULL, ?1, ?2, ?3, ?4, ?5)")),
      read_(db, StrCat("SELECT id, request, time_s, who, text, sum FROM ", table, " ORDER BY id")),
      forget_(db, StrCat("DELETE FROM ", table, " WHERE request = ?1")) {}

absl::Status LogRows::Append(std::span<const RequestLogEntry> entries) {
  const std::lock_guard lock(*mutex_);
  if (absl::Status s = place_->Check(); !s.ok()) return s;
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  for (const RequestLogEntry& e : entries) {
    const absl::Status status = append_.Run(e.request, e.time_s, e.who, e.text, SumOf(e));
    if (!status.ok()) return status;
  }
  return (*transaction)->Commit();
}

absl::Status LogRows::Read(absl::FunctionRef<void(const RequestLogEntry&)> yield,
                           absl::FunctionRef<void(const std::string&)> on_damage) {
  const std::lock_guard lock(*mutex_);
  Rows rows = read_.Query();
  while (true) {
    const absl::StatusOr<bool> more = rows.Next();
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    const RequestLogEntry entry{static_cast<uint64_t>(rows.Int(1)), rows.Int(2), std::string(rows.Bytes(3)),
                                std::string(rows.Bytes(4))};
    if (rows.Int(5) == SumOf(entry)) {
      yield(entry);
    } else {
      on_damage(StrCat(db_->path(), ": row ", rows.Int(0), " of its table ", table_, ", of request ",
                       entry.request, ", is damaged (its checksum does not match) and is left out"));
    }
  }
}

absl::Status LogRows::Forget(std::span<const uint64_t> requests) {
  const std::lock_guard lock(*mutex_);
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  for (const uint64_t request : requests) {
    if (const absl::Status status = forget_.Run(request); !status.ok()) return status;
  }
  return (*transaction)->Commit();
}

absl::StatusOr<std::unique_ptr<StateRows>> StateRows::Open(const FilePlace* place, WriteTurns* turns) {
  absl::StatusOr<std::unique_ptr<Database>> db = Database::Open(place->path(), Database::Access::kReadWrite);
  if (!db.ok()) return db.status();
  // NORMAL: a commit survives a kill, and the next pass syncs it. Passes copy the write-ahead log to the file.
  // This connection copies the log only after 4,096 pages without a pass, because its callers would wait for the
  // disk.
  absl::Status status = (*db)->Execute(
      "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864");
  if (!status.ok()) return status;
  (*db)->TakeTurns(turns);
  return std::unique_ptr<StateRows>(new StateRows(*std::move(db), place));
}

absl::Status StateRows::Put(std::string_view name, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (absl::Status s = place_->Check(); !s.ok()) return s;
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  const absl::Status status =
      bytes.empty() ? drop_.Run(name) : put_.Run(name, Blob{bytes}, StateSum(name, bytes));
  return status.ok() ? (*transaction)->Commit() : status;
}

absl::StatusOr<std::optional<std::string>> StateRows::Get(std::string_view name) {
  const std::lock_guard lock(mutex_);
  Rows rows = get_.Query(name);
  const absl::StatusOr<bool> any = rows.Next();
  if (!any.ok()) return any.status();
  if (!*any) return std::nullopt;
  std::string bytes(rows.Bytes(0));
  if (rows.Int(1) != StateSum(name, bytes)) {
    return absl::DataLossError(StrCat(db_->path(), ": the row ", name,
                                      " of its table states is damaged: its checksum does not match"));
  }
  return bytes;
}

}  // namespace taut::server
