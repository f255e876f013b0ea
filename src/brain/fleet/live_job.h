// One job of a living cell: its lanes, what stands between them and its limits, and its last figures.
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

struct LiveLane : ManagedLane {
  // Without a recommender: it sleeps.
  LiveLane() : ManagedLane(Lane(nullptr)) {}

  PackedText asleep;  // the lane's state while lane.sleeps()
  PackedText hold;    // what a recommendation waits for; "" if for nothing
  // Of the last window measured, each task; negative: absent.
  float usage_mean = kAbsent;  // mean over tasks
  float usage_peak = kAbsent;  // highest task
  float need_peak = kAbsent;   // what the recommender learnt of where that is what tasks need; not saved
  float owner_limit = kAbsent;
  float owner_request = kAbsent;  // that the owner has beside owner_limit; absent where that is the request
  bool of_request = false;     // the owner's amount is a request; false after a restart until the next window
  bool request_stays = false;  // an autoscaler counts on it; false after a restart until the next window
  bool needs_history = false;  // its recommender is new: it has to process the stored history
  uint32_t tasks = 0;
  // Negative: none. The owner's amount as it was last known, and the order that the one in force replaced, at
  // which tasks may still be: a series that reads back what is set says neither.
  float owner_before = kAbsent, ordered_before = kAbsent;
  DayRecord days;
  OpenRiskDay risk;  // what is promised and comes today
  // What agents last reported as in the kernel, mean over tasks; kNoLimit: some task has none; kAbsent: no
  // agent reports it.
  float applied = kAbsent;
  // During a restore: its recommender is yet to be loaded or made.
  bool is_blank() const { return lane.sleeps() && asleep.empty(); }

  std::optional<double> owner() const {
    return owner_limit >= 0 ? std::optional<double>(owner_limit) : std::nullopt;
  }
  // Returns the amount of a task at `amount` that a cluster bills (BilledAmount), for savings and costs.
  double Billed(Resource r, double amount, const Allocation& allocation) const;
  // Is this amount what Tautline has ordered, for all tasks or those of a trial?
  bool IsOrdered(Resource r, double amount) const;
  void NoteOrder(std::optional<double> before) {
    if (before.has_value() && before != gate.in_force) ordered_before = static_cast<float>(*before);
  }
  // The limit of the tasks outside a trial.
  std::optional<double> limit() const { return LimitInForce(owner()); }
  // What agents report as applied: a limit, or nothing.
  std::optional<double> reported() const {
    return applied >= 0 && applied != kNoLimit ? std::optional<double>(applied) : std::nullopt;
  }
  // The limit that tasks run at: the applied one where agents report it, else the ordered one.
  std::optional<double> real_limit() const {
    if (applied == kNoLimit) return owner();
    return applied >= 0 ? std::optional<double>(applied) : limit();
  }
};

// What is known of the starts of a job's tasks, whose usage is kept apart.
struct JobStarts {
  // Limits that tasks were given, so that a series that reads one back is not taken for the owner's; negative:
  // none.
  static constexpr size_t kGiven = 8;  // as many windows as the longest start-up window has, and one

  StartPeaks peaks;
  std::array<float, kGiven> given;  // newest first, each once
  // Of the last window, not saved.
  StartSums last;
  WindowId last_window{INT32_MIN};

  JobStarts() { given.fill(kAbsent); }
  void NoteGiven(double cores);
};

// What is known of the memory limits of a job whose limits Tautline sets, and of tasks beside their usage.
struct JobMemory {
  PastLimits past_limits;
  RecentPeaks kernel_peaks;  // of a task, as kernels keep them; none at the limit of then
  StandingPeaks standing_peaks;
  uint64_t last_oom = 0;  // the highest OomRecord::id that the job was charged; 0: unknown
};

// All of a job but who it is.
struct LiveJobState {
  std::shared_ptr<const JobPolicy> policy;
  std::vector<Override> overrides;
  PerResource<LiveLane> lanes;             // by Resource
  std::unique_ptr<LiveReplicas> replicas;  // null: nothing is recommended or ordered
  std::unique_ptr<JobStarts> starts;       // null: cpu.startup_window is off, or no window has closed since
  std::unique_ptr<JobMemory> memory;       // null: nothing
  bool lost = false;                       // during a restore: its checkpoint could not be read
  // Its owner's settings are not known yet: modes auto and canary decide nothing. Not saved: a restart asks again.
  bool awaits_owner = false;
  bool oom_waits = false, setting_waits = false;  // a kill came meanwhile, or a setting that decides
  // A window of the present was closed since the start: history does not say what its owner has set now.
  bool measured_now = false;
  bool seen_today = false, over_today = false;
  bool managed = false;             // agents apply limits to its tasks, as of the last window
  int32_t day = INT32_MIN;          // that its lanes have started
  WindowId last_window{INT32_MIN};  // measured
  int64_t last_oom_s = INT64_MIN;
  std::array<uint16_t, 7> ooms_of_day{};  // by day mod 7
  int32_t ooms_day = INT32_MIN;           // the newest day in it
  MigrationState migration;
  PackedText notice;  // for people: a move that is due
  // CFS periods of its tasks as agents report them, decaying with a half-life of a day.
  float periods = 0, throttled = 0;

  // Of the periods; nullopt: no agent counts them.
  std::optional<double> throttled_share() const {
    return periods > 0 ? std::optional(double{throttled} / double{periods}) : std::nullopt;
  }
  bool needs_history() const { return std::ranges::any_of(lanes, &LiveLane::needs_history); }
  // The CPU limit of a task in its start-up window, where the others have `steady`; nullopt: the setting is off,
  // or it is no higher.
  std::optional<StartBoost> BoostAt(double steady) const;
  // Of the limit in force. nullopt also where Tautline has ordered none.
  std::optional<StartBoost> BoostNow() const;
  void WantHistory() {
    for (LiveLane& lane : lanes) lane.needs_history = true;
  }
  // Its lanes are bytes, until it is measured again.
  bool sleeps() const { return lanes[0].lane.sleeps(); }
  bool is_blank() const { return std::ranges::any_of(lanes, &LiveLane::is_blank); }
  void Sleep();

  JobMemory& Memory() {
    if (memory == nullptr) memory = std::make_unique<JobMemory>();
    return *memory;
  }
  LiveLane& of(Resource r) { return lanes[IndexOf(r)]; }
  const LiveLane& of(Resource r) const { return lanes[IndexOf(r)]; }
  // OOM kills of the 7 days up to `day`.
  uint32_t OomsOfWeek(int32_t day) const;
  uint64_t last_oom() const { return memory != nullptr ? memory->last_oom : 0; }
  void NoteOom(const OomRecord& oom) {
    last_oom_s = std::max(last_oom_s, oom.time_s);
    if (oom.id > last_oom()) Memory().last_oom = oom.id;
  }
  // Kills of a day that is a week older than the newest are not counted.
  void CountOoms(int32_t day, uint64_t kills);
  // Of a limit.
  int64_t last_change_s() const {
    int64_t newest = INT64_MIN;
    for (const LiveLane& lane : lanes) newest = std::max(newest, lane.gate.last_change_s);
    return newest;
  }
};

struct LiveJob : LiveJobState {
  JobRecord record;  // stays where it is: others look at its texts
};

// The state of a job apart from its record and overrides, appended. Load takes it into a job with the
// same policy; a lane whose recommender has changed since stays as it is and needs_history is set. Lanes
// that sleep keep the bytes of theirs and sleep on.
void SaveLiveJob(const LiveJob& job, ByteWriter& out);
absl::Status LoadLiveJob(ByteReader& in, LiveJob& job);

// Appends to the reason of the memory limit what tasks needed in the last window, or that their usage counted;
// nothing where the recommender learns of usage alone.
void ExplainNeeded(const LiveJob& job, Reason& reason);

}  // namespace taut::brain
