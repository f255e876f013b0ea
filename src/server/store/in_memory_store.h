// Store in memory, for tests and for daemons without files.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/store/in_memory_states.h"
#include "server/store/pass_rules.h"
#include "server/store/store.h"

namespace taut::server {

// Every call returns the same result as the call of SqliteStore. Thread-safe. Uses about as much memory as the
// usage. One call of Maintain does all work, at a cost proportional to the deleted data.
class InMemoryStore final : public Store, public History {
 public:
  explicit InMemoryStore(const Retention& keep = {}) : keep_(keep) {}

  absl::Status Commit(const PassRecord& pass) override;
  absl::StatusOr<StoreEnds> Restore(const RestoreSink& sink) override;
  absl::Status ReadForgotten(int64_t from_s,
                             absl::FunctionRef<void(const JobRecord&, int64_t)> yield) override;
  absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) override;
  absl::Status ReadWindows(WindowId after,
                           absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) override;
  absl::StatusOr<bool> Maintain(WindowId now) override;

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

  InMemoryStates& states() { return states_; }

 private:
  // Returns the newest setting ID of each job and key. REQUIRES mutex_.
  std::map<std::pair<std::string, std::string>, uint64_t> NewestSettings() const;
  uint64_t LastOom() const;

  const Retention keep_;
  std::mutex mutex_;  // lock for all members below except states_
  PassEnds ends_;
  std::map<uint32_t, JobRecord> jobs_;
  std::map<uint32_t, int64_t> forgotten_;  // time at which the job was forgotten, by job
  std::map<uint32_t, PastState> pasts_;
  std::map<std::pair<int32_t, uint32_t>, JobDay> past_days_;  // days by day and job
  std::map<WindowId, std::vector<AccountEntry>> account_;
  std::vector<LateAccount> late_account_;
  std::map<WindowId, ClosedWindow> windows_;
  std::map<uint64_t, Decision> decisions_;
  std::vector<OomRecord> ooms_;     // kills in order of time, then of arrival
  std::vector<TierAct> tier_acts_;  // acts in order of time, then of arrival
  std::map<uint64_t, SettingChange> settings_;
  std::map<uint32_t, Checkpoint> checkpoints_;
  std::map<WindowId, FleetPoint> fleet_;
  InMemoryStates states_;  // states, guarded by a mutex of their own
};

}  // namespace taut::server
