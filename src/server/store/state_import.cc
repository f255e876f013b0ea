#include "server/store/state_import.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/strings.h"
#include "common/base/whole_file.h"
#include "server/store/private_file.h"
#include "server/store/schema.h"
#include "server/store/state_rows.h"

namespace taut::server {
namespace {

namespace fs = std::filesystem;

struct Beside {
  std::string_view suffix;  // suffix of the file's name
  std::string_view name;    // name of the state, or of the log's table
};
constexpr Beside kStateFiles[] = {{".machines", "machines"}, {".capacity", "capacity"}, {".quota", "quota"},
                                  {".prices", "prices"},     {".backfill", "backfill"}, {".gaps", "gaps"}};
constexpr Beside kLogFiles[] = {{".requests", "request_log"}, {".budgets", "budget_ledger"}};

constexpr const char* kRequestMigrations[] = {
    // Version 1
    R"(
CREATE TABLE entries(id INTEGER PRIMARY KEY AUTOINCREMENT, request INTEGER NOT NULL, time_s INTEGER NOT NULL,
                     who TEXT NOT NULL, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
CREATE INDEX entries_by_request ON entries(request);
)"};

constexpr size_t kRequestLogVersion = 1;
static_assert(std::size(kRequestMigrations) == kRequestLogVersion);

bool IsThere(const std::string& path) {
  std::error_code absent;
  return fs::exists(path, absent);
}

absl::Status PutState(std::string_view name, std::string_view bytes, Database& db) {
  Statement put(&db, "INSERT OR REPLACE INTO states VALUES(?1, ?2, ?3)");
  return put.Run(name, Blob{bytes}, StateSum(name, bytes));
}

absl::Status ImportState(const std::string& file, std::string_view name, Database& db) {
  const std::string bytes = ReadWhole(file).value_or("");
  return bytes.empty() ? absl::OkStatus() : PutState(name, bytes, db);
}

// Copies rows with their checksums, so that a later read of the table detects damage that the file had.
absl::Status ImportLog(const std::string& file, std::string_view table, Database& db) {
  absl::StatusOr<std::unique_ptr<Database>> log = Database::Open(file, Database::Access::kReadWrite);
  if (!log.ok()) return log.status();
  if (absl::Status s = Migrate(**log, kRequestMigrations); !s.ok()) return s;
  // sqlite_sequence keeps the numbers of deleted entries.
  const absl::StatusOr<int64_t> had =
      (*log)->Number("SELECT EXISTS(SELECT 1 FROM sqlite_sequence WHERE seq > 0)");
  if (!had.ok()) return had.status();
  if (*had == 0 && IsThere(file + ".made"))
    return absl::DataLossError(StrCat(file,
                                      " had entries and was deleted: restore it from a backup, or delete ",
                                      file, ".made to begin again"));
  Statement put(&db, StrCat("INSERT INTO ", table, " VALUES(?1, ?2, ?3, ?4, ?5, ?6)"));
  Statement read(log->get(), "SELECT id, request, time_s, who, text, sum FROM entries ORDER BY id");
  Rows rows = read.Query();
  while (true) {
    const absl::StatusOr<bool> more = rows.Next();
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    const absl::Status s =
        put.Run(rows.Int(0), rows.Int(1), rows.Int(2), rows.Bytes(3), rows.Bytes(4), rows.Int(5));
    if (!s.ok()) return s;
  }
}

using ImportOne = absl::Status (*)(const std::string& file, std::string_view name, Database& db);

absl::Status ImportAll(std::span<const Beside> files, ImportOne import_one, Database& db) {
  for (const Beside& beside : files) {
    const std::string file = StrCat(db.path(), beside.suffix);
    if (!IsThere(file) && !IsThere(file + ".made")) continue;
    if (absl::Status s = import_one(file, beside.name, db); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void RenameAll(std::span<const Beside> files, const std::string& store) {
  for (const Beside& beside : files) {
    const std::string file = StrCat(store, beside.suffix);
    std::error_code ignored;
    if (IsThere(file)) fs::rename(file, file + ".imported", ignored);
    for (const char* suffix : {"-wal", "-shm", ".made"}) fs::remove(file + suffix, ignored);
  }
}

// State of the import: absent until the files are copied to the tables, then kTaken, and kRenamed after the files
// were renamed.
constexpr std::string_view kProgress = "files_beside", kTaken = "taken", kRenamed = "renamed";

absl::StatusOr<std::string> ProgressOf(Database& db) {
  Statement get(&db, "SELECT bytes FROM states WHERE name = ?1");
  Rows rows = get.Query(kProgress);
  const absl::StatusOr<bool> any = rows.Next();
  if (!any.ok()) return any.status();
  return *any ? std::string(rows.Bytes(0)) : std::string();
}

absl::Status TakeFiles(Database& db) {
  auto transaction = Transaction::Begin(db, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  if (absl::Status s = ImportAll(kStateFiles, ImportState, db); !s.ok()) return s;
  if (absl::Status s = ImportAll(kLogFiles, ImportLog, db); !s.ok()) return s;
  if (absl::Status s = PutState(kProgress, kTaken, db); !s.ok()) return s;
  return (*transaction)->Commit();
}

}  // namespace

absl::Status ImportFilesBeside(Database& db) {
  const absl::StatusOr<std::string> progress = ProgressOf(db);
  if (!progress.ok() || *progress == kRenamed) return progress.status();
  if (progress->empty()) {
    if (absl::Status s = TakeFiles(db); !s.ok()) return s;
  }
  RenameAll(kStateFiles, db.path());
  RenameAll(kLogFiles, db.path());
  if (absl::Status s = SyncDirectoryOf(db.path()); !s.ok()) return s;
  return PutState(kProgress, kRenamed, db);
}

}  // namespace taut::server
