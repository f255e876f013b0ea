// One job of a running cell: its lanes, the state between them and its limits, and its last figures.
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

// One resource of a job. Floats are cores or bytes; negative (kAbsent): absent.
struct LiveLane : ManagedLane {
  // Creates a sleeping lane, without a recommender.
  LiveLane() : ManagedLane(Lane(nullptr)) {}

  PackedText asleep;  // the lane's state while lane.sleeps()
  PackedText hold;    // what a recommendation waits for; "" if it does not wait
  // Per task, of the last measured window.
  float usage_mean = kAbsent;  // mean over tasks
  float usage_peak = kAbsent;  // highest task
  float need_peak = kAbsent;  // highest need that the recommender learnt, if it learns from probes; not saved
  float owner_limit = kAbsent;
  // The owner's request beside owner_limit; absent if owner_limit is itself the request.
  float owner_request = kAbsent;
  bool of_request = false;     // the owner's amount is a request; false after a restart until the next window
  bool request_stays = false;  // an autoscaler counts on it; false after a restart until the next window
  bool needs_history = false;  // the recommender is new and has to process the stored history
  uint32_t tasks = 0;
  // The owner's last known amount, and the order that the one in force replaced, which tasks may still have.
  // A series that reports an order says nothing about the owner.
  float owner_before = kAbsent, ordered_before = kAbsent;
  DayRecord days;
  OpenRiskDay risk;  // promise and outcome of today
  // Limit in the kernel as agents last reported it, mean over tasks; kNoLimit: some task has none; kAbsent:
  // no agent reports it.
  float applied = kAbsent;
  // True during a restore while its recommender is not yet loaded or made.
  bool is_blank() const { return lane.sleeps() && asleep.empty(); }

  // Returns the owner's limit; nullopt: unknown or none.
  std::optional<double> owner() const {
    return owner_limit >= 0 ? std::optional<double>(owner_limit) : std::nullopt;
  }
  // Returns the amount that a cluster bills for a task with limit `amount` (BilledAmount), for savings and
  // costs.
  double Billed(Resource r, double amount, const Allocation& allocation) const;
  // Returns whether Tautline has ordered this amount, for all tasks or for the tasks of a trial.
  bool IsOrdered(Resource r, double amount) const;
  // Remembers the limit before a decision, if the decision has replaced it.
  void NoteOrder(std::optional<double> before) {
    if (before.has_value() && before != gate.in_force) ordered_before = static_cast<float>(*before);
  }
  // Returns the limit of the tasks outside a trial.
  std::optional<double> limit() const { return LimitInForce(owner()); }
  // Returns the limit that agents report as applied; absent: none reported, or no limit.
  std::optional<double> reported() const {
    return applied >= 0 && applied != kNoLimit ? std::optional<double>(applied) : std::nullopt;
  }
  // Returns the limit that tasks run at: the applied one if agents report it, else the ordered one.
  std::optional<double> real_limit() const {
    if (applied == kNoLimit) return owner();
    return applied >= 0 ? std::optional<double>(applied) : limit();
  }
};

// The starts of a job's tasks, whose usage is kept apart from steady usage.
struct JobStarts {
  // Limits recently given to starting tasks, so that a series that reports one is not mistaken for the
  // owner's; negative: none.
  static constexpr size_t kGiven = 8;  // one more than the windows of the longest start-up window

  StartPeaks peaks;
  std::array<float, kGiven> given;  // newest first, without duplicates
  // Sums of the last window; not saved.
  StartSums last;
  WindowId last_window{INT32_MIN};

  JobStarts() { given.fill(kAbsent); }
  // Notes that starting tasks get this CPU limit.
  void NoteGiven(double cores);
};

// Memory facts of a job other than usage: past limits and peaks that kernels keep.
struct JobMemory {
  PastLimits past_limits;
  RecentPeaks kernel_peaks;  // per task; without peaks at the limit of their time
  StandingPeaks standing_peaks;
  uint64_t last_oom = 0;  // highest OomRecord::id counted for the job; 0: unknown
};

// State of a job without its identity.
struct LiveJobState {
  std::shared_ptr<const JobPolicy> policy;
  std::vector<Override> overrides;
  PerResource<LiveLane> lanes;             // by Resource
  std::unique_ptr<LiveReplicas> replicas;  // null: no number of tasks is recommended or ordered
  // Null: cpu.startup_window is off, or no window has closed since it was set.
  std::unique_ptr<JobStarts> starts;
  std::unique_ptr<JobMemory> memory;  // null: nothing known
  bool lost = false;                  // during a restore: its checkpoint could not be read
  // The owner's settings are not known yet, so modes auto and canary decide nothing. Not saved; a restart
  // waits again.
  bool awaits_owner = false;
  // A kill, or a setting that decides, arrived during the wait.
  bool oom_waits = false, setting_waits = false;
  // A current window was closed since the start. Before that the owner's limit is known from history only,
  // and may have changed.
  bool measured_now = false;
  bool seen_today = false, over_today = false;
  bool managed = false;             // agents applied limits to its tasks in the last window
  int32_t day = INT32_MIN;          // the day that its lanes have started; INT32_MIN: none
  WindowId last_window{INT32_MIN};  // the last measured window
  // Seconds since the epoch; INT64_MIN: none.
  int64_t last_oom_s = INT64_MIN;
  std::array<uint16_t, 7> ooms_of_day{};  // index: day mod 7
  int32_t ooms_day = INT32_MIN;           // the newest day in ooms_of_day
  MigrationState migration;
  PackedText notice;  // a due move, for people
  // CFS periods of its tasks as agents report them, decaying with a half-life of a day.
  float periods = 0, throttled = 0;

  // Returns the share of throttled periods; nullopt: no agent reports periods.
  std::optional<double> throttled_share() const {
    return periods > 0 ? std::optional(double{throttled} / double{periods}) : std::nullopt;
  }
  bool needs_history() const { return std::ranges::any_of(lanes, &LiveLane::needs_history); }
  // Returns the CPU limit of a task in its start-up window if other tasks have `steady`; nullopt if the
  // setting is off or that limit is not higher.
  std::optional<StartBoost> BoostAt(double steady) const;
  // Returns the boost for the ordered limit; nullopt also if no limit is ordered.
  std::optional<StartBoost> BoostNow() const;
  // Marks all lanes: their recommenders have to process the stored history.
  void WantHistory() {
    for (LiveLane& lane : lanes) lane.needs_history = true;
  }
  // Returns true if its lanes are packed into bytes, until it is measured again.
  bool sleeps() const { return lanes[0].lane.sleeps(); }
  bool is_blank() const { return std::ranges::any_of(lanes, &LiveLane::is_blank); }
  // Packs the lanes into bytes, which saves the memory of their recommenders.
  void Sleep();

  // Returns `memory`, which it creates if it is null.
  JobMemory& Memory() {
    if (memory == nullptr) memory = std::make_unique<JobMemory>();
    return *memory;
  }
  LiveLane& of(Resource r) { return lanes[IndexOf(r)]; }
  const LiveLane& of(Resource r) const { return lanes[IndexOf(r)]; }
  // Returns the OOM kills of the 7 days up to `day`.
  uint32_t OomsOfWeek(int32_t day) const;
  uint64_t last_oom() const { return memory != nullptr ? memory->last_oom : 0; }
  // Notes a kill: its time, and its id if it is the highest.
  void NoteOom(const OomRecord& oom) {
    last_oom_s = std::max(last_oom_s, oom.time_s);
    if (oom.id > last_oom()) Memory().last_oom = oom.id;
  }
  // Adds kills to a day; ignores days that are a week or more before the newest.
  void CountOoms(int32_t day, uint64_t kills);
  // Returns the time of the newest change of a limit; INT64_MIN: none.
  int64_t last_change_s() const {
    int64_t newest = INT64_MIN;
    for (const LiveLane& lane : lanes) newest = std::max(newest, lane.gate.last_change_s);
    return newest;
  }
};

struct LiveJob : LiveJobState {
  JobRecord record;  // never moved: others hold views of its texts
};

// Appends the job's state without its record and overrides. Load reads it into a job with the same policy. A
// lane whose recommender differs from the saved one stays as it is and gets needs_history. Sleeping lanes
// keep the bytes and stay asleep. Returns DataLoss if the bytes are damaged.
void SaveLiveJob(const LiveJob& job, ByteWriter& out);
absl::Status LoadLiveJob(ByteReader& in, LiveJob& job);

// Appends to the reason of the memory limit what tasks needed in the last window, or that their usage counted
// instead. No effect if the recommender learns from usage alone.
void ExplainNeeded(const LiveJob& job, Reason& reason);

}  // namespace taut::brain
