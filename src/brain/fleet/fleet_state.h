// State of a running cell: jobs with their lanes and settings, and the models that all jobs share. The parts
// of LiveFleet step it; it does not step anything itself.
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

// Selects the tasks that run at the decided limits.
// kNever: none; decisions are not applied, and the owner's limits kill
// kByAgents: tasks of jobs whose agents report that they apply limits
// kInKubernetes: tasks of Kubernetes workloads
enum class Enforcement : uint8_t { kNever, kByAgents, kInKubernetes, kByAgentsAndInKubernetes, kAlways };

// Settings of the engine, as configured.
struct LiveSettings {
  VerticalSettings vertical;
  PolicyRules rules;
  MigrationSettings migration;
  Enforcement enforcement = Enforcement::kAlways;
};

// Distinguishes current windows and OOM kills (kNow) from history (kPast, backfill). On history recommenders
// learn, and observe mode shows decisions, but no limit and no mode changes.
enum class When : uint8_t { kNow, kPast };

// Event that a decision answers: a closed window, an OOM kill, a changed setting, or a task that grows
// towards its limit.
enum class Trigger : uint8_t { kWindow, kOom, kSetting, kGrowth };

// Output of one pass, for the store, actuators and front ends.
struct PassOutput {
  std::vector<Decision> decisions;      // with ids
  std::vector<SettingChange> settings;  // changes by migration, with ids
  // Totals of the fleet in this window.
  FleetPoint point;
  bool day_ended = false;     // true if the fleet models have learnt from a day
  std::vector<JobId> trials;  // jobs with a new trial, or a trial with other tasks
  std::vector<std::pair<JobId, ReplicaStepBack>> step_backs;
  std::vector<std::pair<JobId, ReplicaHoldChange>> holds;  // holds that began or ended
  void Clear();
};

// Version counters of the names and labels of jobs, for callers that cache them.
struct FleetRecords {
  uint64_t jobs = 0;    // +1 for each job added or forgotten
  uint64_t labels = 0;  // +1 for each change of labels, or forgotten job
  bool operator==(const FleetRecords&) const = default;
};

// Calls turn(0) .. turn(count - 1), each exactly once, in any order and possibly on several threads. Returns
// when all calls are done.
using RunTurns = absl::FunctionRef<void(size_t count, absl::FunctionRef<void(size_t turn)> turn)>;
// The RunTurns without threads.
void RunInOrder(size_t count, absl::FunctionRef<void(size_t turn)> turn);

// Not thread-safe, except that different jobs may be stepped on several threads. Neither copyable nor
// movable: lanes point to the models, and the parts of LiveFleet to this object.
struct FleetState {
  static constexpr uint32_t kChunkJobs = JobTable<LiveJob>::kPageJobs;
  static constexpr WindowId kSaved{INT32_MAX};  // value of changed_since

  explicit FleetState(const LiveSettings& its_settings);
  FleetState(FleetState&&) = delete;

  // Adds a job with new recommenders. Applies settings that people made earlier for a job of this name.
  // REQUIRES: the id is unused; ids may have gaps.
  void AddJob(JobRecord record);
  // Adds a job during a restore. Its recommenders come from a checkpoint, or else from MakeRecommenders.
  void AddRestoredJob(JobRecord record);
  // Sets these labels of the job and keeps its others, sets its workload if `parts` is known, and resolves
  // the policy again. Returns false if nothing changed. REQUIRES: Has(id).
  bool AddLabels(JobId id, std::span<const KeyValue> labels, WorkloadParts parts = {});
  size_t size() const { return jobs.size(); }  // number of known jobs, not of ids ever used
  bool Has(JobId id) const { return jobs.Find(id) != nullptr; }
  // REQUIRES: Has(id). The reference is valid until the job is forgotten.
  const LiveJob& job(JobId id) const { return jobs[id]; }
  // Returns the id of the job with this name; nullopt if it is unknown.
  std::optional<JobId> Find(std::string_view name) const;

  // Returns true if the job's tasks run at the decided limits, false if they run at their owner's.
  bool Enforced(const LiveJob& job) const;
  // Returns how it is known that decided limits are applied; kNo if they are not.
  LimitsApplied AppliedTo(const LiveJob& job) const;
  // Returns how a chosen size of the job's tasks is used.
  SizeUse SizeUseOf(const LiveJob& job) const;
  // Returns the limit that the job's tasks run at; in a dry run, the decided limit as if it were applied.
  // Absent: unlimited.
  std::optional<double> LimitOf(const LiveJob& job, Resource r) const;

  // ---- for the parts ----
  // Appends a decision with a new id. REQUIRES: verdict.kind is set. The reference is valid until the next
  // call.
  Decision& AddDecision(const LiveJob& job, Target target, int64_t now_s, Verdict& verdict, PassOutput& out);
  // Notes that the job differs from its last checkpoint.
  void Changed(const LiveJob& job) { Changed(job.record.id); }
  void Changed(JobId id);
  // Returns the job after unpacking its lanes, so that they can be stepped.
  LiveJob& Awake(JobId id);
  // Unpacks sleeping lanes. A lane whose state cannot be read is new and needs history.
  void Wake(LiveJob& job) const;
  // Creates the recommenders that the job lacks, and its replicas if its policy scales it.
  void MakeRecommenders(LiveJob& job) const;
  // Returns a new recommender by the job's policy.
  std::unique_ptr<Recommender> NewRecommenderOf(const LiveJob& job, Resource r) const;
  // Resolves the job's policy again. Lanes whose recommender stays the same keep their state; the others need
  // history. Also works on a copy of a job whose settings are not in force yet.
  void Repolicy(LiveJob& job);
  // Returns false for a copy of a job, whose settings and decisions are not in force yet.
  bool IsOurs(const LiveJob& job) const { return jobs.Find(job.record.id) == &job; }

  LiveSettings settings;
  std::unique_ptr<FleetModels> models;
  LoadAnalogs load_analogs;  // loads of the jobs whose number of tasks is scaled
  RiskTable risks;           // promised and delivered risk of all jobs, of days that are over
  JobTable<LiveJob> jobs;
  // Key of `ids`: a job's name.
  struct NameOfJob {
    const JobTable<LiveJob>* jobs;
    std::string_view operator()(uint32_t id) const { return (*jobs)[JobId{id}].record.name; }
  };
  NumbersByKey<NameOfJob> ids{NameOfJob{&jobs}};  // job ids by name
  FleetRecords records;
  // Policies of jobs without overrides, by the set of rules that match; most jobs share one.
  absl::flat_hash_map<std::string, std::shared_ptr<const JobPolicy>> policies;
  // Overrides of forgotten jobs, by name.
  absl::flat_hash_map<std::string, std::vector<Override>> settings_of_gone;
  // Seconds of cpu.startup_window by job id, for jobs with that setting, and the number of changes of this
  // map.
  absl::flat_hash_map<uint32_t, int32_t> startups;
  uint64_t startups_version = 0;
  bool awaits_owners = false;  // jobs added from now on wait for their owner's settings
  int32_t day = INT32_MIN;     // the current day
  WindowId now{INT32_MIN};     // the window observed last
  WindowId passed{INT32_MIN};  // the newest processed window; INT32_MIN: none
  uint64_t last_decision = 0, last_setting = 0, last_oom = 0;  // the highest ids used
  // By chunk of jobs: the first window with changes that no checkpoint has; kSaved: none.
  std::vector<WindowId> changed_since;

 private:
  friend class LiveOverrides;
  std::shared_ptr<const JobPolicy> PolicyOf(const LiveJob& job);
  void RemakeLane(LiveJob& job, Resource r, bool keeps);
  // Updates `startups` from the job's policy.
  void NoteStartup(const LiveJob& job);
};

// ---- steps that need only one job ----

// Starts `day` for the job, after ending its current day if that is still open.
void StartDay(LiveJob& job, int32_t day);
// Recommends again for window `next`, because the bounds may have changed. No effect on packed lanes.
void RecommendAgain(LiveJob& job, WindowId next);
// Recommends again for the window after the newest one; no effect before the first window.
void RecommendAgain(const FleetState& state, LiveJob& job);
// Returns the time for a decision made at `now_s`: at least 1 s after the newest window's end. A restart
// replays windows and decisions in order of time, and takes every decision up to a window's end as part of
// its checkpoint.
int64_t DecisionTime(const FleetState& state, int64_t now_s);
// Returns true if the platform that runs the tasks applies limits at their start (not an agent). A series of
// limits may then report Tautline's own orders.
bool EnforcedWhereItRuns(const FleetState& state, const LiveJob& job);
// Returns true if the job still waits for its owner's settings and its mode would set limits. Remembers kills
// and settings, which are decided when the wait ends.
bool WaitsForOwner(LiveJob& job, Trigger trigger);
// Returns the number of the time slice for kernel peaks. A slice is half the half-life of the moving window,
// so the 8 kept slices cover four half-lives.
int32_t PeakSlice(const VerticalSettings& settings, int64_t now_s);

// Returns at most `limit` jobs that `fits` accepts, ascending. Examines at most 20,000 ids from `cursor` on
// and moves the cursor past them; starts over after the last job.
std::vector<JobId> FindJobsFrom(uint32_t& cursor, size_t limit, const FleetState& state,
                                absl::FunctionRef<bool(const LiveJob&)> fits);

}  // namespace taut::brain
