// Persistent state of the control plane, with one writer (Store) and any number of readers (History).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/account.h"
#include "common/model/closed_window.h"
#include "common/model/rollout.h"
#include "common/model/tier_act.h"

namespace taut::server {

// State of some jobs at the end of a window. Opaque to the store.
struct Checkpoint {
  // Number of the chunk, a group of jobs. A later checkpoint of the same chunk replaces this checkpoint.
  uint32_t chunk = 0;
  WindowId through;   // last window whose data the state includes
  std::string bytes;  // state; "": the chunk has no jobs any more, and the store deletes its checkpoint
};
// Chunk ID of a checkpoint without state. Such a checkpoint means that every older checkpoint is valid up to this
// checkpoint's `through`, because the jobs of older checkpoints have not changed since.
inline constexpr uint32_t kUnchangedChunk = UINT32_MAX - 1;
// Chunk ID of the state that all jobs share.
inline constexpr uint32_t kFleetChunk = UINT32_MAX;
// Chunk ID of the actuator's saved state.
inline constexpr uint32_t kActuatorChunk = UINT32_MAX - 2;

// Result of a request for history: usage of one job from before tautd first saw the job (requested once per
// job), or from a gap.
enum class PastState : uint8_t { kRead = 1, kNothing = 2 };
struct JobPast {
  JobId job;
  // Result of the request; nullopt: usage of a gap, which does not change the stored state.
  std::optional<PastState> state;
  // Days in ascending order, each once. Windows that were measured live or are already stored are ignored.
  std::vector<JobDay> days;
};

// All data that one pass stores. The views are valid during the call.
struct PassRecord {
  // Closed window; null if no window closed, but the pass has an OOM kill or a setting between two windows.
  const ClosedWindow* window = nullptr;
  std::span<const JobRecord> new_jobs;    // jobs with ascending numbers above all numbers assigned before
  std::span<const JobId> forgotten_jobs;  // jobs that later starts do not restore; numbers and history stay
  // Forgotten jobs that have returned, with their previous numbers; written after forgotten_jobs.
  std::span<const JobRecord> returned_jobs;
  int64_t forgotten_s = 0;  // time at which the jobs were forgotten, seconds since the epoch
  // Known jobs with their new labels; written after new_jobs and returned_jobs.
  std::span<const JobRecord> relabelled_jobs;
  std::span<const Decision> decisions;
  std::span<const OutcomeUpdate> outcomes;
  std::span<const OomRecord> ooms;
  std::span<const TierAct> tier_acts;
  std::span<const SettingChange> settings;
  std::span<const Checkpoint> checkpoints;
  std::span<const JobPast> pasts;  // historical usage of jobs that are already stored
  const FleetPoint* fleet = nullptr;
  std::span<const AccountEntry> account;      // entries for `window`, ascending by job
  std::span<const LateAccount> late_account;  // entries for `pasts`
};

// Time that an entry of the account covers: one window for the newest entries, an hour for older entries, a day
// for the oldest.
struct AccountSpan {
  WindowId first;
  int32_t windows = 1;
  bool late = false;  // true if the entry was added later, in addition to the other entries for this time
};

// Receives the restored state, in this order: jobs, settings, checkpoints.
struct RestoreSink {
  absl::FunctionRef<absl::Status(const JobRecord&)> on_job;          // jobs ascending by number
  absl::FunctionRef<absl::Status(const SettingChange&)> on_setting;  // newest setting of each job and key
  // Checkpoints ascending by chunk, kFleetChunk last.
  absl::FunctionRef<absl::Status(const Checkpoint&)> on_checkpoint;
};
struct StoreEnds {
  std::optional<WindowId> first_window, last_window;  // first and last stored window
  uint64_t last_decision = 0, last_setting = 0, last_oom = 0;
  std::optional<uint32_t> last_job;  // highest job number ever assigned; absent if none
};

// Not thread-safe: one thread writes. A call that returns an error has stored nothing, unless noted otherwise.
class Store {
 public:
  virtual ~Store() = default;

  // Stores a pass in one transaction, all or nothing. Returns OK once the pass is durable, AlreadyExists if the
  // window is not later than the last window, and Unavailable if a retry can succeed (disk full, busy).
  virtual absl::Status Commit(const PassRecord& pass) = 0;
  // Passes the stored state to `sink`, and returns the last window and numbers. Returns DataLoss or Unavailable if
  // the state cannot be read.
  virtual absl::StatusOr<StoreEnds> Restore(const RestoreSink& sink) = 0;
  // Yields the jobs that were forgotten at `from_s` or later and have not returned since.
  virtual absl::Status ReadForgotten(
      int64_t from_s, absl::FunctionRef<void(const JobRecord&, int64_t forgotten_s)> yield) = 0;
  // Yields the jobs whose history was requested, including forgotten jobs.
  virtual absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) = 0;
  // Yields the complete windows after `after`, in time order, without usage from JobPast. An error of `yield`
  // ends the read and is returned.
  virtual absl::Status ReadWindows(WindowId after,
                                   absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) = 0;
  // Returns an error if later commits would be lost for the next start, because the file was deleted or
  // replaced.
  virtual absl::Status Check() { return absl::OkStatus(); }
  // Does a part of the housekeeping: converts windows of finished days to days of one job, and deletes data
  // past their retention. `now`: the newest closed window. Returns true if there is more to do.
  virtual absl::StatusOr<bool> Maintain(WindowId now) = 0;
};

struct DecisionQuery {
  std::optional<JobId> job;
  std::optional<Target> target;
  std::optional<DecisionKind> kind;
  std::optional<Outcome> outcome;
  uint64_t before_id = UINT64_MAX;  // exclusive upper bound of ids, for the next page
  uint64_t after_id = 0;            // exclusive lower bound of ids
  int64_t from_s = INT64_MIN;       // inclusive lower bound of times, seconds since the epoch
  size_t limit = 100;
};

struct TierActQuery {
  std::string job, machine;    // names of job and machine; "": any job, any machine
  int64_t from_s = INT64_MIN;  // inclusive lower bound of times, seconds since the epoch
  size_t limit = 100;
};

// Read access to the store. Thread-safe. Results include every Commit that has returned.
class History {
 public:
  virtual ~History() = default;

  // Returns a job by number, including a forgotten job. Returns NotFound once the job's decisions are past
  // retention.
  virtual absl::StatusOr<JobRecord> Job(JobId id) = 0;
  // Returns the job's windows in [from, to), including usage from JobPast. The result has one JobDay for each
  // day with at least one window, ascending.
  virtual absl::StatusOr<std::vector<JobDay>> JobDays(JobId job, WindowId from, WindowId to) = 0;
  enum class Reasons : uint8_t { kLeaveOut, kInclude };
  // Returns the decisions of the query, newest first. With kLeaveOut, Decision::reason is empty.
  virtual absl::StatusOr<std::vector<Decision>> Decisions(const DecisionQuery& query, Reasons reasons) = 0;
  // Returns OOM kills from `from_s` on, newest first, at most `limit`; `job` absent: all jobs.
  virtual absl::StatusOr<std::vector<OomRecord>> Ooms(std::optional<JobId> job, int64_t from_s,
                                                      size_t limit) = 0;
  // TierActs and Settings return their results newest first; `job` absent: all jobs.
  virtual absl::StatusOr<std::vector<TierAct>> TierActs(const TierActQuery& query) = 0;
  virtual absl::StatusOr<std::vector<SettingChange>> Settings(std::optional<std::string> job,
                                                              size_t limit) = 0;
  // Returns the points of the windows in [from, to), ascending, but only of windows with window % stride == 0, so
  // that the result for a month stays small. Returns InvalidArgument if stride < 1.
  virtual absl::StatusOr<std::vector<FleetPoint>> FleetPoints(WindowId from, WindowId to, int32_t stride) = 0;
  // Yields the account of all spans that begin in [from, to), in chunks of jobs. Each amount of a job is in
  // exactly one entry; late entries are separate. An hour or day that was added up has one entry, at its start.
  // `yield` may call the History. O((windows + hours + days) · jobs).
  virtual absl::Status ReadAccount(
      WindowId from, WindowId to,
      absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) = 0;
};

}  // namespace taut::server
