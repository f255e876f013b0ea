// What the control plane remembers beyond its own life. One writer (Store), any number of readers (History).
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

// State of some jobs as of the end of a window. Opaque to the store.
struct Checkpoint {
  uint32_t chunk = 0;  // which jobs; a later checkpoint of the same chunk replaces this one
  WindowId through;    // windows up to this one, inclusive, are in it
  std::string bytes;   // "": the chunk has no jobs any more; the store drops what it has of it
};
// Not a chunk: its `through` says up to which window every checkpoint in the store holds that is older,
// because nothing of its jobs has changed since.
inline constexpr uint32_t kUnchangedChunk = UINT32_MAX - 1;
// The chunk that stands for what all jobs share.
inline constexpr uint32_t kFleetChunk = UINT32_MAX;
// The chunk that stands for what the actuator remembers.
inline constexpr uint32_t kActuatorChunk = UINT32_MAX - 2;

// What a source of history has of a job from before tautd knew it, for which each job is asked for once, or
// of a gap.
enum class PastState : uint8_t { kRead = 1, kNothing = 2 };
struct JobPast {
  JobId job;
  std::optional<PastState> state;  // nullopt: of a gap; whether the job was asked for stays as it is
  // Days ascending, each once. A window that was also measured live, or is stored from before, does not
  // count.
  std::vector<JobDay> days;
};

// Everything that one pass leaves behind. Views: valid during the call.
struct PassRecord {
  const ClosedWindow* window = nullptr;      // null: nothing closed (an OOM or a setting between two windows)
  std::span<const JobRecord> new_jobs;       // ids ascending, each one above the last ever given out
  std::span<const JobId> forgotten_jobs;     // not restored any more; their numbers and history stay
  std::span<const JobRecord> returned_jobs;  // forgotten ones, by the numbers they had, after forgotten_jobs
  int64_t forgotten_s = 0;                   // when
  std::span<const JobRecord> relabelled_jobs;  // known ones, after all these, with the labels they have now
  std::span<const Decision> decisions;
  std::span<const OutcomeUpdate> outcomes;
  std::span<const OomRecord> ooms;
  std::span<const TierAct> tier_acts;
  std::span<const SettingChange> settings;
  std::span<const Checkpoint> checkpoints;
  std::span<const JobPast> pasts;  // of jobs that the store has
  const FleetPoint* fleet = nullptr;
  std::span<const AccountEntry> account;      // of `window`, ascending by job
  std::span<const LateAccount> late_account;  // of `pasts`
};

// What the account says of a time in which windows are summed up: of the newest each, then of hours, then of
// days.
struct AccountSpan {
  WindowId first;
  int32_t windows = 1;
  bool late = false;  // it was counted later than its time, and beside what is of the same time
};

// Restores after a stop, in this order: jobs, settings, checkpoints, windows.
struct RestoreSink {
  absl::FunctionRef<absl::Status(const JobRecord&)> on_job;          // ids ascending
  absl::FunctionRef<absl::Status(const SettingChange&)> on_setting;  // the newest of each job and key
  absl::FunctionRef<absl::Status(const Checkpoint&)> on_checkpoint;  // chunks ascending, kFleetChunk last
};
struct StoreEnds {
  std::optional<WindowId> first_window, last_window;  // that are kept
  uint64_t last_decision = 0, last_setting = 0, last_oom = 0;
  std::optional<uint32_t> last_job;  // the highest number ever assigned
};

// Not thread-safe: one thread writes. Not OK means that nothing of the call was taken in, unless said
// otherwise.
class Store {
 public:
  virtual ~Store() = default;

  // One transaction, durable when it returns OK: all or nothing. AlreadyExists if the window is not later
  // than the last one taken in. Unavailable: try again (disk full, busy).
  virtual absl::Status Commit(const PassRecord& pass) = 0;
  virtual absl::StatusOr<StoreEnds> Restore(const RestoreSink& sink) = 0;
  // The jobs that were forgotten at `from_s` or later and did not return.
  virtual absl::Status ReadForgotten(
      int64_t from_s, absl::FunctionRef<void(const JobRecord&, int64_t forgotten_s)> yield) = 0;
  // Jobs whose past was asked for, forgotten ones included.
  virtual absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) = 0;
  // The windows after `after` in time order, whole. Without those of JobPast.
  virtual absl::Status ReadWindows(WindowId after,
                                   absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) = 0;
  // Whether what is committed reaches what a later start would read: not if its file was deleted or replaced.
  virtual absl::Status Check() { return absl::OkStatus(); }
  // Housekeeping a piece at a time: regroups old windows by job, forgets what is past retention. `now`: the
  // newest closed window. True: there is more to do.
  virtual absl::StatusOr<bool> Maintain(WindowId now) = 0;
};

struct DecisionQuery {
  std::optional<JobId> job;
  std::optional<Target> target;
  std::optional<DecisionKind> kind;
  std::optional<Outcome> outcome;
  uint64_t before_id = UINT64_MAX;  // exclusive: the page after a page
  uint64_t after_id = 0;            // exclusive
  int64_t from_s = INT64_MIN;       // inclusive
  size_t limit = 100;
};

struct TierActQuery {
  std::string job, machine;    // "": any
  int64_t from_s = INT64_MIN;  // inclusive
  size_t limit = 100;
};

// Reads only. Thread-safe; sees what Commit has returned from.
class History {
 public:
  virtual ~History() = default;

  // The job of this number, also a forgotten one. NotFound once its decisions are past retention.
  virtual absl::StatusOr<JobRecord> Job(JobId id) = 0;
  // The job's windows in [from, to), those of JobPast included, one JobDay a day that has any, ascending.
  virtual absl::StatusOr<std::vector<JobDay>> JobDays(JobId job, WindowId from, WindowId to) = 0;
  // Newest first. With Decision::reason only if `with_reasons`.
  enum class Reasons : uint8_t { kLeaveOut, kInclude };
  virtual absl::StatusOr<std::vector<Decision>> Decisions(const DecisionQuery& query, Reasons reasons) = 0;
  // Newest first; `job` absent: all jobs.
  virtual absl::StatusOr<std::vector<OomRecord>> Ooms(std::optional<JobId> job, int64_t from_s,
                                                      size_t limit) = 0;
  // Newest first.
  virtual absl::StatusOr<std::vector<TierAct>> TierActs(const TierActQuery& query) = 0;
  virtual absl::StatusOr<std::vector<SettingChange>> Settings(std::optional<std::string> job,
                                                              size_t limit) = 0;
  // [from, to), ascending; every `stride`-th window (of window % stride == 0) so that a month stays small.
  virtual absl::StatusOr<std::vector<FleetPoint>> FleetPoints(WindowId from, WindowId to, int32_t stride) = 0;
  // The account of the times that begin in [from, to): chunks of jobs, each time and job in one entry. A time
  // that has been summed up to an hour or a day begins with it. `yield` may ask the History. O(windows, hours
  // and days in it * jobs).
  virtual absl::Status ReadAccount(
      WindowId from, WindowId to,
      absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) = 0;
};

}  // namespace taut::server
