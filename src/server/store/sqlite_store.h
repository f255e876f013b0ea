// The store of one file: SQLite with a write-ahead log. Usage lies in it as checked blocks, the rest as rows;
// layout in docs/reference/storage.md, "The store".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/store/pass_rules.h"
#include "server/store/store.h"

namespace taut::server {

// Store: one thread. History: any threads, on connections of their own; readers and the writer do not wait
// for each other. Damage in single blocks is no error: what is whole is read, and damage() says what was
// skipped. Other damage is DataLoss and says what to do.
class SqliteStore final : public Store, public History {
 public:
  enum class Sync : uint8_t {
    kPowerLoss,  // what Commit acknowledged survives the loss of power
    kProcess     // it survives the end of the process, however violent
  };
  struct Options {
    std::string
        path;  // made if it is not there, but not its directory; `path`.lock, -wal, -shm lie beside it
    Retention keep;
    Sync sync = Sync::kPowerLoss;
    // Usage of a day is regrouped by job when the day is over for as long: reading all jobs of a window is
    // cheap before, reading all windows of a job after.
    int32_t regroup_after_hours = 6;
  };

  //   FailedPrecondition   another process has it open; or it is of a newer version of the program
  //   InvalidArgument      the file is another program's database
  //   DataLoss             damaged, as far as a quick look tells (all of it up to 64 MiB)
  //   PermissionDenied, NotFound, Unavailable   the file system's reasons
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const Options& options);
  ~SqliteStore() override;

  // After Unavailable the same pass may be given again. Outcomes of decisions no longer kept are skipped.
  absl::Status Commit(const PassRecord& pass) override;
  // A damaged checkpoint is left out: build these jobs anew from their windows.
  absl::StatusOr<StoreEnds> Restore(const RestoreSink& sink) override;
  // Costs memory for one window, or about 256 MiB where the day is regrouped. `yield` may not use the store.
  absl::Status ReadForgotten(int64_t from_s,
                             absl::FunctionRef<void(const JobRecord&, int64_t)> yield) override;
  absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) override;
  absl::Status ReadWindows(WindowId after,
                           absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) override;
  // Some 50 ms a call.
  absl::StatusOr<bool> Maintain(WindowId now) override;
  // Unavailable: the file is not at its path any more; nothing is committed as long as it is not.
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

  // Damage found and skipped so far, a line each. Thread-safe.
  std::vector<std::string> damage() const;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace taut::server
