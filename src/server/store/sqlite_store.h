// The store in one SQLite file with a write-ahead log. Usage is stored in checksummed blocks, everything else
// in rows. Layout in docs/reference/storage.md, "The store".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/store/pass_rules.h"
#include "server/store/states.h"
#include "server/store/store.h"

namespace taut::server {

// One thread calls the functions of Store. Any thread calls the functions of History and States, which have
// separate connections. Readers and writers do not wait for each other; writers take turns. If single blocks are
// damaged, calls return all other data, and damage() lists the skipped blocks. For other damage, calls return
// DataLoss with the remedy.
class SqliteStore final : public Store, public History {
 public:
  enum class Sync : uint8_t {
    kPowerLoss,  // all acknowledged commits survive a loss of power
    kProcess     // all acknowledged commits survive any end of the process
  };
  struct Options {
    // Path of the file, which is created if it is missing. The file's directory must exist. The files
    // `path`.lock, `path`-wal and `path`-shm are beside the file.
    std::string path;
    Retention keep;
    Sync sync = Sync::kPowerLoss;
    // Hours between a day's end and the conversion of the day's usage from window blocks to day blocks. With
    // window blocks, reading all jobs of a window is cheap. With day blocks, reading all windows of a job is
    // cheap.
    int32_t regroup_after_hours = 6;
  };

  // Opens the store, or creates it:
  //   FailedPrecondition   another process has the store open, or a newer version of the program wrote it
  //   InvalidArgument      database of another program
  //   DataLoss             damaged, as far as a quick check detects (complete up to 64 MiB)
  //   PermissionDenied, NotFound, Unavailable   errors of the file system
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const Options& options);
  ~SqliteStore() override;

  // After Unavailable, the caller may commit the same pass again. Outcomes of deleted decisions are skipped.
  absl::Status Commit(const PassRecord& pass) override;
  // Skips damaged checkpoints. The caller rebuilds the jobs of these checkpoints from their windows.
  absl::StatusOr<StoreEnds> Restore(const RestoreSink& sink) override;
  // `yield` must not use the store.
  absl::Status ReadForgotten(int64_t from_s,
                             absl::FunctionRef<void(const JobRecord&, int64_t)> yield) override;
  absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) override;
  // Keeps one window in memory, or about 256 MiB for day blocks. `yield` must not use the store.
  absl::Status ReadWindows(WindowId after,
                           absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) override;
  // Takes about 50 ms per call.
  absl::StatusOr<bool> Maintain(WindowId now) override;
  // Returns Unavailable if the file at the path is missing or was replaced; Commit then fails as well.
  absl::Status Check() override;

  absl::StatusOr<JobRecord> Job(JobId id) override;
  absl::StatusOr<std::vector<JobDay>> JobDays(JobId job, WindowId from, WindowId to) override;
  absl::StatusOr<std::vector<Decision>> Decisions(const DecisionQuery& query, Reasons reasons) override;
  absl::StatusOr<std::vector<OomRecord>> Ooms(std::optional<JobId> job, int64_t from_s,
                                              size_t limit) override;
  absl::StatusOr<std::vector<TierAct>> TierActs(const TierActQuery& query) override;
  absl::StatusOr<std::vector<SettingChange>> Settings(std::optional<std::string> job, size_t limit) override;
  absl::StatusOr<std::vector<FleetPoint>> FleetPoints(WindowId from, WindowId to, int32_t stride) override;
  absl::Status ReadAccount(
      WindowId from, WindowId to,
      absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) override;

  // Returns the daemon's named states. The reference is valid as long as the store exists.
  States& states();
  // Returns descriptions of the damage found and skipped so far, one line each. Thread-safe.
  std::vector<std::string> damage() const;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace taut::server
