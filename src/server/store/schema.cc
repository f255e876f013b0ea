#include "server/store/schema.h"

#include <filesystem>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr const char* kMigrations[] = {
    // Version 1
    R"(
CREATE TABLE ends(one INTEGER PRIMARY KEY CHECK(one = 1), window INTEGER, job INTEGER,
                  decision INTEGER NOT NULL, setting INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT;
CREATE TABLE jobs(id INTEGER PRIMARY KEY, first_seen_s INTEGER NOT NULL, name TEXT NOT NULL,
                  labels BLOB NOT NULL, sum INTEGER NOT NULL) STRICT;
CREATE TABLE windows(window INTEGER PRIMARY KEY) STRICT;
CREATE TABLE window_blocks(key INTEGER PRIMARY KEY, block BLOB NOT NULL) STRICT;
CREATE TABLE day_blocks(key INTEGER PRIMARY KEY, block BLOB NOT NULL) STRICT;
CREATE TABLE checkpoints(chunk INTEGER PRIMARY KEY, block BLOB NOT NULL) STRICT;
CREATE TABLE decisions(id INTEGER PRIMARY KEY, job INTEGER NOT NULL, resource INTEGER NOT NULL,
                       kind INTEGER NOT NULL, mode INTEGER NOT NULL, time_s INTEGER NOT NULL,
                       before REAL, after REAL, outcome INTEGER NOT NULL, outcome_time_s INTEGER NOT NULL,
                       outcome_text TEXT NOT NULL, sentence TEXT NOT NULL, reason BLOB NOT NULL,
                       sum INTEGER NOT NULL) STRICT;
CREATE INDEX decisions_by_job ON decisions(job);
CREATE TABLE ooms(id INTEGER PRIMARY KEY, time_s INTEGER NOT NULL, job INTEGER NOT NULL,
                  task INTEGER NOT NULL, kills INTEGER NOT NULL, limit_bytes REAL, sum INTEGER NOT NULL) STRICT;
CREATE INDEX ooms_by_time ON ooms(time_s);
CREATE INDEX ooms_by_job ON ooms(job, time_s);
CREATE TABLE settings(id INTEGER PRIMARY KEY, time_s INTEGER NOT NULL, who TEXT NOT NULL, job TEXT NOT NULL,
                      key TEXT NOT NULL, value TEXT NOT NULL, before TEXT NOT NULL,
                      sum INTEGER NOT NULL) STRICT;
CREATE INDEX settings_by_job ON settings(job, key);
CREATE TABLE fleet(window INTEGER PRIMARY KEY, point BLOB NOT NULL) STRICT;
)",
    // Version 2
    R"(
ALTER TABLE jobs ADD COLUMN forgotten_s INTEGER;
CREATE INDEX jobs_forgotten ON jobs(forgotten_s) WHERE forgotten_s IS NOT NULL;
)",
    // Version 3: no table changes, but usage blocks may contain the throttled share. Older programs cannot read
    // such blocks.
    "SELECT 1;",
    // Version 4
    R"(
ALTER TABLE jobs ADD COLUMN past INTEGER;
CREATE TABLE past_days(key INTEGER PRIMARY KEY, block BLOB NOT NULL) STRICT;
)",
    // Version 5
    R"(
CREATE TABLE account_windows(key INTEGER PRIMARY KEY, block BLOB NOT NULL) STRICT;
CREATE TABLE account_hours(key INTEGER PRIMARY KEY, block BLOB NOT NULL) STRICT;
CREATE TABLE account_days(key INTEGER PRIMARY KEY, block BLOB NOT NULL) STRICT;
)",
    // Version 6
    R"(
CREATE TABLE account_late(id INTEGER PRIMARY KEY, key INTEGER NOT NULL, block BLOB NOT NULL) STRICT;
CREATE INDEX account_late_by_key ON account_late(key);
)",
    // Version 7: no table changes, but usage blocks may contain the load. Older programs cannot read such blocks.
    "SELECT 1;",
    // Version 8
    R"(
CREATE TABLE tier_acts(id INTEGER PRIMARY KEY, time_s INTEGER NOT NULL, at_us INTEGER NOT NULL,
                       machine TEXT NOT NULL, job TEXT NOT NULL, task TEXT NOT NULL, tier INTEGER NOT NULL,
                       kind INTEGER NOT NULL, observed INTEGER NOT NULL, usage_bytes REAL,
                       request_bytes REAL, high_bytes REAL, free_bytes REAL, total_bytes REAL,
                       pressure_some REAL, pressure_full REAL, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
CREATE INDEX tier_acts_by_time ON tier_acts(time_s);
)",
    // Version 9
    R"(
ALTER TABLE ooms ADD COLUMN shown_s INTEGER;
ALTER TABLE ooms ADD COLUMN since_s INTEGER;
)",
    // Version 10
    R"(
ALTER TABLE jobs ADD COLUMN parts BLOB NOT NULL DEFAULT x'';
)",
    // Version 11
    R"(
CREATE TABLE states(name TEXT PRIMARY KEY, bytes BLOB NOT NULL, sum INTEGER NOT NULL) STRICT;
CREATE TABLE request_log(id INTEGER PRIMARY KEY, request INTEGER NOT NULL, time_s INTEGER NOT NULL,
                         who TEXT NOT NULL, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
CREATE INDEX request_log_by_request ON request_log(request);
CREATE TABLE budget_ledger(id INTEGER PRIMARY KEY, request INTEGER NOT NULL, time_s INTEGER NOT NULL,
                           who TEXT NOT NULL, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
)",
    // Version 12: no table changes, but the parts of a job may contain its group. Older programs cannot read such
    // parts.
    "SELECT 1;",
};

static_assert(std::size(kMigrations) == kStoreVersion);

// Tables whose first and last rows are checked, each with its rowid column.
constexpr std::pair<const char*, const char*> kTables[] = {{"ends", "one"},
                                                           {"jobs", "id"},
                                                           {"windows", "window"},
                                                           {"window_blocks", "key"},
                                                           {"day_blocks", "key"},
                                                           {"checkpoints", "chunk"},
                                                           {"decisions", "id"},
                                                           {"ooms", "id"},
                                                           {"tier_acts", "id"},
                                                           {"settings", "id"},
                                                           {"fleet", "window"},
                                                           {"past_days", "key"},
                                                           {"account_windows", "key"},
                                                           {"account_hours", "key"},
                                                           {"account_days", "key"},
                                                           {"account_late", "id"},
                                                           {"states", "rowid"},
                                                           {"request_log", "id"},
                                                           {"budget_ledger", "id"}};

// A file up to this size is checked completely when it is opened; a larger file only in parts.
constexpr int64_t kSmallBytes = int64_t{64} << 20;

absl::Status Apply(Database& db, const char* migration, size_t version) {
  auto transaction = Transaction::Begin(db, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  absl::Status status = db.Execute(migration);
  const std::string stamp =
      StrCat("PRAGMA application_id = ", kStoreApplicationId, "; PRAGMA user_version = ", version);
  if (status.ok()) status = db.Execute(stamp.c_str());
  return status.ok() ? (*transaction)->Commit() : status;
}

}  // namespace

std::span<const char* const> StoreMigrations() { return kMigrations; }

absl::Status Migrate(Database& db, std::span<const char* const> migrations) {
  const absl::StatusOr<int64_t> id = db.Number("PRAGMA application_id");
  if (!id.ok()) return id.status();
  const absl::StatusOr<int64_t> version = db.Number("PRAGMA user_version");
  if (!version.ok()) return version.status();
  const absl::StatusOr<int64_t> tables = db.Number("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  const bool empty = *id == 0 && *version == 0 && *tables == 0;
  if (!empty && *id != kStoreApplicationId) {
    return absl::InvalidArgumentError(
        StrCat(db.path(), ": the database of another program; use another file for the store"));
  }
  if (*version < 0 || static_cast<size_t>(*version) > migrations.size()) {
    return absl::FailedPreconditionError(StrCat(
        db.path(), ": written by a newer version of Tautline (tables of version ", *version,
        ", this program supports up to ", migrations.size(), "); run that version, or use another file"));
  }
  for (auto v = static_cast<size_t>(*version); v < migrations.size(); ++v) {
    const absl::Status status = Apply(db, migrations[v], v + 1);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckStructure(Database& db) {
  for (const auto& [table, key] : kTables) {
    for (const char* end : {"min", "max"}) {
      const std::string sql = StrCat("SELECT ", end, "(", key, ") FROM ", table);
      const absl::Status status = db.Number(sql.c_str()).status();
      if (absl::IsInternal(status))
        return Damaged(db.path(), StrCat("its table ", table, " cannot be read completely"));
      if (!status.ok()) return status;
    }
  }
  std::error_code failed;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(db.path(), failed));
  if (failed || bytes > kSmallBytes) return absl::OkStatus();
  Statement check(&db, "PRAGMA quick_check(1)");
  Rows rows = check.Query();
  const absl::StatusOr<bool> any = rows.Next();
  if (!any.ok()) return any.status();
  return *any && rows.Bytes(0) == "ok" ? absl::OkStatus() : Damaged(db.path(), rows.Bytes(0));
}

}  // namespace taut::server
