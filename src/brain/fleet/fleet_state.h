// State of a running cell: jobs with their lanes and settings, and the models shared by all jobs. The parts of
// LiveFleet change the state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "brain/fleet/live_job.h"
#include "brain/fleet/risk_table.h"
#include "brain/rollout/migration.h"
#include "common/base/numbers_by_key.h"
#include "common/model/job_table.h"

namespace taut::brain {

// Selects the jobs whose tasks run at decided limits.
// kNever: no job; the owner's limits stay in force
// kByAgents: jobs whose agents report that they apply limits
// kInKubernetes: Kubernetes workloads
enum class Enforcement : uint8_t { kNever, kByAgents, kInKubernetes, kByAgentsAndInKubernetes, kAlways };

// Settings of the engine, as configured.
struct LiveSettings {
  VerticalSettings vertical;
  PolicyRules rules;
  MigrationSettings migration;
  Enforcement enforcement = Enforcement::kAlways;
};

// Distinguishes current windows and OOM kills (kNow) from history (kPast, backfill). During history,
// recommenders learn and observe mode shows decisions, but neither limits nor modes change.
enum class When : uint8_t { kNow, kPast };

// Event that a decision answers: a closed window, an OOM kill, a changed setting, or a task that grows
// towards its limit.
enum class Trigger : uint8_t { kWindow, kOom, kSetting, kGrowth };

// Output of one pass, for the store, actuators and front ends.
struct PassOutput {
  std::vector<Decision> decisions;      // decisions, each with an id
  std::vector<SettingChange> settings;  // settings changed by migration between modes; each has an id
  // Totals of the fleet in the pass's window.
  FleetPoint point;
  bool day_ended = false;     // true if a day has ended and the fleet models have learnt from the day
  std::vector<JobId> trials;  // jobs whose trial is new, has other tasks or was rolled back
  std::vector<std::pair<JobId, ReplicaStepBack>> step_backs;
  std::vector<std::pair<JobId, ReplicaHoldChange>> holds;  // holds that began or ended
  void Clear();
};

// Version counters of the names and labels of jobs, for callers that cache them.
struct FleetRecords {
  uint64_t jobs = 0;    // number of jobs added or forgotten so far
  uint64_t labels = 0;  // number of changes of labels, and of forgotten jobs, so far
  bool operator==(const FleetRecords&) const = default;
};

// Calls turn(0) .. turn(count - 1), each exactly once, in any order and possibly on several threads. Returns
// after the last call has returned.
using RunTurns = absl::FunctionRef<void(size_t count, absl::FunctionRef<void(size_t turn)> turn)>;
// A RunTurns that calls all turns on the caller's thread, in ascending order.
void RunInOrder(size_t count, absl::FunctionRef<void(size_t turn)> turn);

// State of all jobs. Not thread-safe, except that different jobs may be stepped on several threads. Neither
// copyable nor movable, because lanes have pointers to the models, and the parts of LiveFleet have references to
// this object.
struct FleetState {
  static constexpr uint32_t kChunkJobs = JobTable<LiveJob>::kPageJobs;
  static constexpr WindowId kSaved{INT32_MAX};  // value of changed_since for chunks without unsaved changes

  explicit FleetState(const LiveSettings& its_settings);
  FleetState(FleetState&&) = delete;

  // Adds a job with new recommenders. Applies settings that people made earlier for a job of this name.
  // REQUIRES: the id is unused; ids may have gaps.
  void AddJob(JobRecord record);
  // Adds a job without recommenders during a restore. A checkpoint or MakeRecommenders supplies the
  // recommenders.
  void AddRestoredJob(JobRecord record);
  // Sets the given labels of the job and keeps its other labels, sets its workload if `parts` is known, and
  // resolves its policy again. Returns false if nothing changed. REQUIRES: Has(id).
  bool AddLabels(JobId id, std::span<const KeyValue> labels, WorkloadParts parts = {});
  size_t size() const { return jobs.size(); }  // Returns the number of known jobs, without forgotten jobs.
  bool Has(JobId id) const { return jobs.Find(id) != nullptr; }
  // Returns the job. The reference is valid until the job is forgotten. REQUIRES: Has(id).
  const LiveJob& job(JobId id) const { return jobs[id]; }
  // Returns the id of the job with this name; nullopt if the name is unknown.
  std::optional<JobId> Find(std::string_view name) const;

  // Returns true if the job's tasks run at the decided limits, false if the tasks run at the owner's limits.
  bool Enforced(const LiveJob& job) const;
  // Returns the evidence that decided limits are applied; kNo if the limits are not applied.
  LimitsApplied AppliedTo(const LiveJob& job) const;
  // Returns the use of the size that was chosen for the job's tasks.
  SizeUse SizeUseOf(const LiveJob& job) const;
  // Returns the limit at which the job's tasks run; in a dry run, the decided limit as if it were applied.
  // Absent: unlimited.
  std::optional<double> LimitOf(const LiveJob& job, Resource r) const;

  // ---- for the parts of LiveFleet ----
  // Appends a decision with a new id. REQUIRES: verdict.kind is set. The reference is valid until the next call.
  Decision& AddDecision(const LiveJob& job, Target target, int64_t now_s, Verdict& verdict, PassOutput& out);
  // Records that the job has changed since its last checkpoint.
  void Changed(const LiveJob& job) { Changed(job.record->id); }
  void Changed(JobId id);
  // Returns the job after unpacking its lanes, so that they can be stepped.
  LiveJob& Awake(JobId id);
  // Unpacks the job's lanes if they are packed. A lane whose state cannot be read is replaced by a new lane with
  // needs_history.
  void Wake(LiveJob& job) const;
  // Creates the job's missing recommenders, and its replica state if its policy scales the job.
  void MakeRecommenders(LiveJob& job) const;
  // Returns a new recommender according to the job's policy.
  std::unique_ptr<Recommender> NewRecommenderOf(const LiveJob& job, Resource r) const;
  // Resolves the job's policy again. Lanes with an unchanged recommender keep their state; other lanes get
  // needs_history. Also works on a copy of a job whose settings are not in force yet.
  void Repolicy(LiveJob& job);
  // Returns true for a job in `jobs`, false for a copy whose settings and decisions are not in force yet.
  bool IsOurs(const LiveJob& job) const { return jobs.Find(job.record->id) == &job; }

  LiveSettings settings;
  std::unique_ptr<FleetModels> models;
  LoadAnalogs load_analogs;  // loads of the jobs whose number of tasks is scaled
  RiskTable risks;           // promised and delivered risk of all jobs on ended days
  JobTable<LiveJob> jobs;
  // Maps a job to its key in `ids`, the job's name.
  struct NameOfJob {
    const JobTable<LiveJob>* jobs;
    std::string_view operator()(uint32_t id) const { return (*jobs)[JobId{id}].record->name; }
  };
  NumbersByKey<NameOfJob> ids{NameOfJob{&jobs}};  // job ids by name
  FleetRecords records;
  // Policies of jobs without overrides, by the set of matching rules; most jobs share a policy.
  absl::flat_hash_map<std::string, std::shared_ptr<const JobPolicy>> policies;
  // Overrides of forgotten jobs, by name.
  absl::flat_hash_map<std::string, std::vector<Override>> settings_of_gone;
  // startups: cpu.startup_window in seconds by job id, for jobs with this setting. startups_version: number of
  // changes of the map.
  absl::flat_hash_map<uint32_t, int32_t> startups;
  uint64_t startups_version = 0;
  bool awaits_owners = false;  // true: jobs that are added later wait for their owner's settings
  int32_t day = INT32_MIN;     // current day; INT32_MIN: none
  WindowId now{INT32_MIN};     // window observed last; INT32_MIN: none
  WindowId passed{INT32_MIN};  // newest processed window; INT32_MIN: none
  uint64_t last_decision = 0, last_setting = 0, last_oom = 0;  // highest assigned ids
  // First window whose changes are in no checkpoint, by chunk of jobs; kSaved: no unsaved changes.
  std::vector<WindowId> changed_since;

 private:
  friend class LiveOverrides;
  std::shared_ptr<const JobPolicy> PolicyOf(const LiveJob& job);
  void RemakeLane(LiveJob& job, Resource r, bool keeps);
  // Updates `startups` from the job's policy.
  void NoteStartup(const LiveJob& job);
};

// Replaces the job's record. REQUIRES: only labels and workload differ.
void Relabel(FleetState& state, LiveJob& job, JobRecord record);

// ---- steps that need only one job ----

// Starts `day` for the job. Ends the job's previous day first if that day is still open.
void StartDay(LiveJob& job, int32_t day);
// Computes the recommendations for window `next` again, because bounds may have changed. No effect on packed
// lanes.
void RecommendAgain(LiveJob& job, WindowId next);
// Computes the recommendations for the window after the newest window again; no effect before the first window.
void RecommendAgain(const FleetState& state, LiveJob& job);
// Returns the time for a decision made at `now_s`: at least 1 s after the newest window's end. The difference is
// required, because a restart replays windows and decisions in order of time. The restart treats every decision up
// to a window's end as included in the window's checkpoint.
int64_t DecisionTime(const FleetState& state, int64_t now_s);
// Returns true if the platform that runs the tasks applies limits when tasks start; false if agents apply
// limits. If true, a series of limits may report Tautline's own orders.
bool EnforcedWhereItRuns(const FleetState& state, const LiveJob& job);
// Returns true if the job still waits for its owner's settings and its mode would set limits. In this case,
// records a kill or a setting as `trigger`, so that the decision is made when the wait ends.
bool WaitsForOwner(LiveJob& job, Trigger trigger);
// Returns the number of the time slice for kernel peaks. A slice is half the half-life of the moving window,
// so the 8 kept slices cover four half-lives.
int32_t PeakSlice(const VerticalSettings& settings, int64_t now_s);

// Returns at most `limit` jobs for which `fits` returns true, ascending. Examines at most 20,000 ids, starting
// at `cursor`, and advances the cursor. A cursor after the last job is reset to 0.
std::vector<JobId> FindJobsFrom(uint32_t& cursor, size_t limit, const FleetState& state,
                                absl::FunctionRef<bool(const LiveJob&)> fits);

}  // namespace taut::brain
