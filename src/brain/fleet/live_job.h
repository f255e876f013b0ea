// One job of a running cell: its lanes, its limits and other state, and its latest figures.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "brain/fleet/day_record.h"
#include "brain/fleet/job_stepper.h"
#include "brain/fleet/live_replicas.h"
#include "brain/fleet/past_limits.h"
#include "brain/fleet/policies.h"
#include "brain/fleet/recent_peaks.h"
#include "brain/fleet/risk_table.h"
#include "brain/fleet/standing_peaks.h"
#include "brain/recommend/start_boost.h"
#include "brain/rollout/migration.h"
#include "brain/rollout/rules.h"
#include "common/base/packed_text.h"
#include "common/model/reason.h"
#include "common/model/rollout.h"
#include "common/model/start_usage.h"

namespace taut::brain {

// One resource of a job. Floats are in cores or bytes; a negative value (kAbsent) means absent.
struct LiveLane : ManagedLane {
  // Creates a lane that sleeps, without a recommender.
  LiveLane() : ManagedLane(Lane(nullptr)) {}

  PackedText asleep;  // the lane's packed state while lane.sleeps()
  PackedText hold;    // reason why a recommendation is not applied; "" if none
  // Usage per task in the last measured window.
  float usage_mean = kAbsent;  // mean usage of the tasks
  float usage_peak = kAbsent;  // highest usage of a task
  float need_peak = kAbsent;   // highest need of a task, with kNeedMargin; absent without probes; not saved
  float owner_limit = kAbsent;
  // The owner's request in addition to owner_limit; absent if owner_limit is itself the request.
  float owner_request = kAbsent;
  bool of_request = false;  // true if owner_limit is a request; false from a restart to the next window
  // True if an autoscaler uses the request; false from a restart to the next window.
  bool request_stays = false;
  bool needs_history = false;  // true if the recommender is new and has to process the stored history
  uint32_t tasks = 0;
  // owner_before: the owner's last known amount, used while a series reports an order instead of the owner's
  // amount. ordered_before: the order that the current order replaced; some tasks may still have the replaced
  // amount.
  float owner_before = kAbsent, ordered_before = kAbsent;
  DayRecord days;
  OpenRiskDay risk;  // promise and outcome of the current day
  // Limit in the kernel as agents last reported the limit, mean over tasks. kNoLimit: at least one task has no
  // limit; kAbsent: no agent reports a limit.
  float applied = kAbsent;
  // Returns true during a restore while the recommender is neither loaded nor created.
  bool is_blank() const { return lane.sleeps() && asleep.empty(); }

  // Returns the owner's limit; nullopt: unknown, or no limit.
  std::optional<double> owner() const {
    return owner_limit >= 0 ? std::optional<double>(owner_limit) : std::nullopt;
  }
  // Returns the amount for which a cluster bills a task with limit `amount` (BilledAmount), for savings and
  // costs.
  double Billed(Resource r, double amount, const Allocation& allocation) const;
  // Returns true if Tautline has ordered `amount`, for all tasks or for the tasks of a trial.
  bool IsOrdered(Resource r, double amount) const;
  // Sets ordered_before to `before`, the limit before a decision, if the decision has changed the limit.
  void NoteOrder(std::optional<double> before) {
    if (before.has_value() && before != gate.in_force) ordered_before = static_cast<float>(*before);
  }
  // Returns the limit of tasks outside a trial.
  std::optional<double> limit() const { return LimitInForce(owner()); }
  // Returns the limit that agents report as applied; absent: no report, or no limit.
  std::optional<double> reported() const {
    return applied >= 0 && applied != kNoLimit ? std::optional<double>(applied) : std::nullopt;
  }
  // Returns the limit at which tasks run: the applied limit if agents report it, else the ordered limit.
  std::optional<double> real_limit() const {
    if (applied == kNoLimit) return owner();
    return applied >= 0 ? std::optional<double>(applied) : limit();
  }
};

// State of task starts. The CPU usage of starts is stored separately from steady usage.
struct JobStarts {
  // CPU limits that were recently set for starting tasks; negative: none. A reported limit that equals one of
  // these limits is not attributed to the owner.
  static constexpr size_t kGiven = 8;  // number of windows in the longest start-up window, plus one

  StartPeaks peaks;
  std::array<float, kGiven> given;  // limits of starting tasks, newest first, without duplicates
  // Sums of the last window; not saved.
  StartSums last;
  WindowId last_window{INT32_MIN};

  JobStarts() { given.fill(kAbsent); }
  // Records that starting tasks have this CPU limit.
  void NoteGiven(double cores);
};

// Memory data of a job other than usage: past limits, and peaks kept by kernels.
struct JobMemory {
  PastLimits past_limits;
  RecentPeaks kernel_peaks;  // peaks per task, without peaks that reached the limit in force at the time
  StandingPeaks standing_peaks;
  uint64_t last_oom = 0;  // highest OomRecord::id that the job has counted; 0: unknown
};

// State of a job without its record.
struct LiveJobState {
  std::shared_ptr<const JobPolicy> policy;
  std::vector<Override> overrides;
  PerResource<LiveLane> lanes;             // lanes by Resource
  std::unique_ptr<LiveReplicas> replicas;  // replica state; null: the number of tasks is not recommended
  // Null: cpu.startup_window is off, or no window has closed since the setting was made.
  std::unique_ptr<JobStarts> starts;
  std::unique_ptr<JobMemory> memory;  // memory data; null: none yet
  bool lost = false;                  // true during a restore if the job's checkpoint could not be read
  // True while the owner's settings are not known; modes auto and canary then decide nothing. Not saved: after a
  // restart the job waits again.
  bool awaits_owner = false;
  // A kill (oom_waits), or a setting that requires a decision (setting_waits), arrived before the owner's
  // settings.
  bool oom_waits = false, setting_waits = false;
  // True if a current window was closed since the start of tautd. Until then, the owner's limit is known from
  // history only, and may have changed.
  bool measured_now = false;
  bool seen_today = false, over_today = false;
  bool managed = false;             // true if agents applied limits to the job's tasks in the last window
  int32_t day = INT32_MIN;          // the day that the job's lanes have started; INT32_MIN: none
  WindowId last_window{INT32_MIN};  // the last measured window; INT32_MIN: none
  // Time of the last OOM kill, seconds since the epoch; INT64_MIN: none.
  int64_t last_oom_s = INT64_MIN;
  std::array<uint16_t, 7> ooms_of_day{};  // number of OOM kills; index: day mod 7
  int32_t ooms_day = INT32_MIN;           // the newest day in ooms_of_day
  MigrationState migration;
  PackedText notice;  // notice for people about a due change of mode; "" if none
  // CFS periods of the job's tasks, and throttled periods among them, as agents report them. Sums decay with a
  // half-life of a day.
  float periods = 0, throttled = 0;

  // Returns the share of throttled periods; nullopt: no agent reports periods.
  std::optional<double> throttled_share() const {
    return periods > 0 ? std::optional(double{throttled} / double{periods}) : std::nullopt;
  }
  bool needs_history() const { return std::ranges::any_of(lanes, &LiveLane::needs_history); }
  // Returns the boost of a starting task if other tasks have the CPU limit `steady`; nullopt if the setting is off
  // or the boosted limit is not above `steady`.
  std::optional<StartBoost> BoostAt(double steady) const;
  // Returns the boost for the ordered limit; nullopt if no limit is ordered, or if BoostAt returns nullopt.
  std::optional<StartBoost> BoostNow() const;
  // Sets needs_history in all lanes.
  void WantHistory() {
    for (LiveLane& lane : lanes) lane.needs_history = true;
  }
  // Returns true if the job's lanes are packed into bytes. The next measured window unpacks them.
  bool sleeps() const { return lanes[0].lane.sleeps(); }
  bool is_blank() const { return std::ranges::any_of(lanes, &LiveLane::is_blank); }
  // Packs the lanes into bytes, which frees the memory of their recommenders.
  void Sleep();

  // Returns `memory`; creates the object if the pointer is null.
  JobMemory& Memory() {
    if (memory == nullptr) memory = std::make_unique<JobMemory>();
    return *memory;
  }
  LiveLane& of(Resource r) { return lanes[IndexOf(r)]; }
  const LiveLane& of(Resource r) const { return lanes[IndexOf(r)]; }
  // Returns the number of OOM kills in the 7 days up to and including `day`.
  uint32_t OomsOfWeek(int32_t day) const;
  uint64_t last_oom() const { return memory != nullptr ? memory->last_oom : 0; }
  // Records the kill's time, and its id if it is the highest id.
  void NoteOom(const OomRecord& oom) {
    last_oom_s = std::max(last_oom_s, oom.time_s);
    if (oom.id > last_oom()) Memory().last_oom = oom.id;
  }
  // Adds kills to a day; ignores days that are a week or more before the newest day.
  void CountOoms(int32_t day, uint64_t kills);
  // Returns the time of the newest change of a limit, seconds since the epoch; INT64_MIN: none.
  int64_t last_change_s() const {
    int64_t newest = INT64_MIN;
    for (const LiveLane& lane : lanes) newest = std::max(newest, lane.gate.last_change_s);
    return newest;
  }
};

struct LiveJob : LiveJobState {
  // Immutable, because snapshots share the record with other threads. A change of labels replaces the record. Not
  // null in a fleet.
  std::shared_ptr<const JobRecord> record;
};

// SaveLiveJob appends the job's state without its record and overrides. LoadLiveJob reads the state into a job
// with the same policy. A lane whose recommender differs from the saved recommender is not loaded and gets
// needs_history. Sleeping lanes keep the bytes and stay asleep. Returns DataLoss if the bytes are damaged.
void SaveLiveJob(const LiveJob& job, ByteWriter& out);
absl::Status LoadLiveJob(ByteReader& in, LiveJob& job);
// Copies the fields that SaveLiveJob does not write, except `lost`, from a saved job to a job that has loaded the
// bytes.
void CopyNotSaved(const LiveJobState& from, LiveJobState& to);

// Appends a sentence to the explanation of the memory limit: the tasks' need in the last window, or a note that
// usage counted instead. No effect if the recommender learns from usage alone.
void ExplainNeeded(const LiveJob& job, Reason& reason);

}  // namespace taut::brain
