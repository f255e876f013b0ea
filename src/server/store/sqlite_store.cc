#include "server/store/sqlite_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <utility>

#include "common/base/strings.h"
#include "server/store/damage_log.h"
#include "server/store/file_lock.h"
#include "server/store/history_reader.h"
#include "server/store/maintenance.h"
#include "server/store/pass_writer.h"
#include "server/store/private_file.h"
#include "server/store/restorer.h"
#include "server/store/schema.h"
#include "server/store/sqlite.h"
#include "server/store/state_import.h"
#include "server/store/state_rows.h"

namespace taut::server {
namespace {

// Lends each caller a connection. The pool grows to the highest number of connections that were in use at one
// time.
class ReaderPool {
 public:
  ReaderPool(std::string path, DamageLog* damage) : path_(std::move(path)), damage_(damage) {}

  // Returns the result of `read`, called with one of the connections.
  template <typename Read>
  auto With(Read read) -> decltype(read(std::declval<HistoryReader&>())) {
    absl::StatusOr<std::unique_ptr<HistoryReader>> reader = Take();
    if (!reader.ok()) return reader.status();
    auto result = read(**reader);
    const std::lock_guard lock(mutex_);
    idle_.push_back(*std::move(reader));
    return result;
  }

 private:
  absl::StatusOr<std::unique_ptr<HistoryReader>> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<HistoryReader> reader = std::move(idle_.back());
        idle_.pop_back();
        return reader;
      }
    }
    return HistoryReader::Open(path_, damage_);
  }

  const std::string path_;
  DamageLog* const damage_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<HistoryReader>> idle_;
};

absl::StatusOr<std::unique_ptr<Database>> OpenDatabase(const SqliteStore::Options& options) {
  CloseToOthers(options.path);
  auto db = Database::Open(options.path, Database::Access::kReadWrite);
  if (!db.ok()) return db;
  // The page size applies to new files only. Most bytes are in blocks of many pages, and each page is written
  // twice. The log is copied to the file every 1,024 pages, which are 16 MiB; the log keeps a size of 64 MiB.
  absl::Status status = (*db)->Execute("PRAGMA page_size = 16384; PRAGMA cache_size = -65536");
  if (status.ok()) status = Migrate(**db, StoreMigrations());
  if (status.ok()) {
    status = (*db)->Execute(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 1024; "
        "PRAGMA journal_size_limit = 67108864");
  }
  if (status.ok()) {
    status = (*db)->Execute(options.sync == SqliteStore::Sync::kPowerLoss ? "PRAGMA synchronous = FULL"
                                                                          : "PRAGMA synchronous = NORMAL");
  }
  if (status.ok()) status = CheckStructure(**db);
  if (status.ok()) status = SyncDirectoryOf(options.path);
  if (status.ok()) status = ImportFilesBeside(**db);
  if (!status.ok()) return status;
  return db;
}

// Returns a warning if the store is missing but its lock file, which remains after each use, exists; otherwise "".
std::string LossOf(const std::string& path, const std::string& lock) {
  std::error_code error;
  const bool has_store = std::filesystem::file_size(path, error) > 0 && !error;
  if (has_store || !std::filesystem::exists(lock, error)) return "";
  return StrCat(
      path, ": the store is new and empty, although ", lock,
      " shows that there was one: its history, settings, quota and ledger of budgets are gone; stop "
      "tautd, move the new store away and restore a backup with `taut restore`");
}

}  // namespace

// The members are ordered by dependency: the lock is destroyed last, after the database is closed.
struct SqliteStore::Parts {
  Parts(const Options& options, std::unique_ptr<FileLock> its_lock, std::unique_ptr<Database> its_db)
      : lock(std::move(its_lock)),
        db(std::move(its_db)),
        writer(db.get()),
        restorer(db.get(), &damage),
        maintenance(db.get(), &damage, options.keep, options.regroup_after_hours),
        readers(options.path, &damage),
        place(options.path) {
    db->TakeTurns(&turns);
  }

  DamageLog damage;
  std::unique_ptr<FileLock> lock, of_file;  // of_file: lock of a file with several names
  WriteTurns turns;
  std::unique_ptr<Database> db;
  PassWriter writer;
  Restorer restorer;
  Maintenance maintenance;
  ReaderPool readers;
  PassEnds ends;
  const FilePlace place;
  std::unique_ptr<StateRows> states;
};

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SqliteStore::~SqliteStore() = default;

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const Options& options) {
  // A symbolic link is another name for the same store, so the lock belongs to the real path.
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::weakly_canonical(options.path, failed);
  const std::string lock_path = (failed ? options.path : real.string()) + ".lock";
  const std::string loss = LossOf(options.path, lock_path);
  auto lock = FileLock::Take(lock_path);
  if (!lock.ok()) return lock.status();
  std::unique_ptr<FileLock> of_file;
  if (std::filesystem::hard_link_count(options.path, failed) > 1 && !failed) {
    auto taken = FileLock::TakeFile(options.path);
    if (!taken.ok()) return taken.status();
    of_file = *std::move(taken);
  }
  auto db = OpenDatabase(options);
  if (!db.ok()) return db.status();
  auto parts = std::make_unique<Parts>(options, *std::move(lock), *std::move(db));
  const absl::StatusOr<PassEnds> ends = parts->writer.ReadEnds();
  if (!ends.ok()) return ends.status();
  parts->ends = *ends;
  parts->of_file = std::move(of_file);
  if (!loss.empty()) parts->damage.Add(loss);
  auto states = StateRows::Open(&parts->place, &parts->turns);
  if (!states.ok()) return states.status();
  parts->states = *std::move(states);
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(parts)));
}

absl::Status SqliteStore::Commit(const PassRecord& pass) {
  absl::Status status = Check();
  if (status.ok()) status = CheckPass(pass, parts_->ends);
  if (!status.ok()) return status;
  const PassEnds ends = EndsAfter(pass, parts_->ends);
  status = parts_->writer.Write(pass, ends);
  // The numbers change only after success, so that the same pass can be committed again.
  if (status.ok()) parts_->ends = ends;
  return status;
}

absl::StatusOr<StoreEnds> SqliteStore::Restore(const RestoreSink& sink) {
  const absl::Status status = parts_->restorer.Restore(sink);
  if (!status.ok()) return status;
  StoreEnds ends;
  ends.last_decision = parts_->ends.decision;
  ends.last_setting = parts_->ends.setting;
  ends.last_job = parts_->ends.job;
  const absl::StatusOr<int64_t> last_oom = parts_->db->Number("SELECT ifnull(max(id), 0) FROM ooms");
  if (!last_oom.ok()) return last_oom.status();
  ends.last_oom = static_cast<uint64_t>(*last_oom);
  const absl::StatusOr<int64_t> windows = parts_->db->Number("SELECT EXISTS(SELECT 1 FROM windows)");
  if (!windows.ok()) return windows.status();
  if (*windows == 0) return ends;
  const absl::StatusOr<int64_t> first = parts_->db->Number("SELECT min(window) FROM windows");
  const absl::StatusOr<int64_t> last = parts_->db->Number("SELECT max(window) FROM windows");
  if (!first.ok()) return first.status();
  if (!last.ok()) return last.status();
  ends.first_window = WindowId{static_cast<int32_t>(*first)};
  ends.last_window = WindowId{static_cast<int32_t>(*last)};
  return ends;
}

absl::Status SqliteStore::ReadForgotten(int64_t from_s,
                                        absl::FunctionRef<void(const JobRecord&, int64_t)> yield) {
  return parts_->restorer.ReadForgotten(from_s, yield);
}

absl::Status SqliteStore::ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) {
  return parts_->restorer.ReadPasts(yield);
}

absl::StatusOr<JobRecord> SqliteStore::Job(JobId id) {
  return parts_->readers.With([&](HistoryReader& r) { return r.Job(id); });
}

absl::Status SqliteStore::ReadWindows(WindowId after,
                                      absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) {
  return parts_->restorer.ReadWindows(after, yield);
}

absl::Status SqliteStore::Check() { return parts_->place.Check(); }

States& SqliteStore::states() { return *parts_->states; }

absl::StatusOr<bool> SqliteStore::Maintain(WindowId now) {
  const absl::StatusOr<bool> more = parts_->maintenance.Forget(now);
  if (!more.ok() || *more) return more;
  const absl::StatusOr<bool> account = parts_->maintenance.SumUpAccount(parts_->ends.window);
  if (!account.ok()) return account;
  const absl::StatusOr<bool> usage = parts_->maintenance.Regroup(parts_->ends.window);
  if (!usage.ok()) return usage;
  return *account || *usage;
}

absl::StatusOr<std::vector<JobDay>> SqliteStore::JobDays(JobId job, WindowId from, WindowId to) {
  return parts_->readers.With([&](HistoryReader& r) { return r.JobDays(job, from, to); });
}
absl::StatusOr<std::vector<Decision>> SqliteStore::Decisions(const DecisionQuery& query, Reasons reasons) {
  return parts_->readers.With([&](HistoryReader& r) { return r.Decisions(query, reasons); });
}
absl::StatusOr<std::vector<OomRecord>> SqliteStore::Ooms(std::optional<JobId> job, int64_t from_s,
                                                         size_t limit) {
  return parts_->readers.With([&](HistoryReader& r) { return r.Ooms(job, from_s, limit); });
}
absl::StatusOr<std::vector<TierAct>> SqliteStore::TierActs(const TierActQuery& query) {
  return parts_->readers.With([&](HistoryReader& r) { return r.TierActs(query); });
}
absl::StatusOr<std::vector<SettingChange>> SqliteStore::Settings(std::optional<std::string> job,
                                                                 size_t limit) {
  return parts_->readers.With([&](HistoryReader& r) { return r.Settings(job, limit); });
}
absl::StatusOr<std::vector<FleetPoint>> SqliteStore::FleetPoints(WindowId from, WindowId to, int32_t stride) {
  return parts_->readers.With([&](HistoryReader& r) { return r.FleetPoints(from, to, stride); });
}

absl::Status SqliteStore::ReadAccount(
    WindowId from, WindowId to,
    absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) {
  return parts_->readers.With([&](HistoryReader& r) { return r.ReadAccount(from, to, yield); });
}

std::vector<std::string> SqliteStore::damage() const { return parts_->damage.messages(); }

}  // namespace taut::server
