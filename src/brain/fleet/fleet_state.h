// The state of a living cell: its jobs with their lanes, their settings, and the models that all of them
// share. The parts of LiveFleet step it; it steps nothing itself.
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

// Tasks that run at the limits that are decided. kNever: decisions are not applied, and tasks die at their
// owner's limits; kByAgents: those of jobs whose agents report that they apply limits; kInKubernetes: those of
// workloads in Kubernetes.
enum class Enforcement : uint8_t { kNever, kByAgents, kInKubernetes, kByAgentsAndInKubernetes, kAlways };

struct LiveSettings {
  VerticalSettings vertical;
  PolicyRules rules;
  MigrationSettings migration;
  Enforcement enforcement = Enforcement::kAlways;
};

// Whether windows and OOM kills are of now. kPast: read from history (backfill). Recommenders learn; mode
// observe shows what it would have set; no limit changes, no job is moved to another mode.
enum class When : uint8_t { kNow, kPast };

// The event that a decision answers.
enum class Trigger : uint8_t { kWindow, kOom, kSetting, kGrowth };

// Results of a pass, for the store, the actuator and the faces.
struct PassOutput {
  std::vector<Decision> decisions;      // with ids
  std::vector<SettingChange> settings;  // of migration; with ids
  FleetPoint point;
  bool day_ended = false;     // the fleet models have learnt
  std::vector<JobId> trials;  // a trial began, or has other tasks
  std::vector<std::pair<JobId, ReplicaStepBack>> step_backs;
  std::vector<std::pair<JobId, ReplicaHoldChange>> holds;  // began or ended
  void Clear();
};

// How often what the fleet knows of its jobs' names and labels has changed.
struct FleetRecords {
  uint64_t jobs = 0;    // added or forgotten
  uint64_t labels = 0;  // of known jobs
  bool operator==(const FleetRecords&) const = default;
};

// Calls turn(0) .. turn(count - 1), each once, in any order, side by side where the caller has threads, and
// returns when all are done.
using RunTurns = absl::FunctionRef<void(size_t count, absl::FunctionRef<void(size_t turn)> turn)>;
void RunInOrder(size_t count, absl::FunctionRef<void(size_t turn)> turn);

// Not thread-safe, but that jobs of their own may be stepped side by side. Neither copied nor moved: lanes look at
// the models, and the parts of LiveFleet at this.
struct FleetState {
  static constexpr uint32_t kChunkJobs = JobTable<LiveJob>::kPageJobs;
  static constexpr WindowId kSaved{INT32_MAX};  // of changed_since

  explicit FleetState(const LiveSettings& its_settings);
  FleetState(FleetState&&) = delete;

  // REQUIRES: the number has no job; numbers need not be without gaps. Settings that people made for a job of
  // this name hold again.
  void AddJob(JobRecord record);
  // The same during a restore: its recommenders come from a checkpoint, or at last by MakeRecommenders.
  void AddRestoredJob(JobRecord record);
  // Sets these labels of the job and looks at the rules again; its other labels stay. False: it has them.
  // REQUIRES: Has(id).
  // Sets also the workload that the job is of, if `parts` knows it.
  bool AddLabels(JobId id, std::span<const KeyValue> labels, WorkloadParts parts = {});
  size_t size() const { return jobs.size(); }  // of jobs that are known, not of numbers ever given out
  bool Has(JobId id) const { return jobs.Find(id) != nullptr; }
  // REQUIRES: Has(id). The reference stays good until the job is forgotten; names and labels never change.
  const LiveJob& job(JobId id) const { return jobs[id]; }
  std::optional<JobId> Find(std::string_view name) const;

  // Tasks of the job run at the limits that are decided; false: at their owner's.
  bool Enforced(const LiveJob& job) const;
  LimitsApplied AppliedTo(const LiveJob& job) const;
  SizeUse SizeUseOf(const LiveJob& job) const;
  // The limit that the job's tasks run at; in a dry run the one that was decided, as if it were. Absent: none.
  std::optional<double> LimitOf(const LiveJob& job, Resource r) const;

  // ---- for the parts ----
  // Appends a decision with an id. REQUIRES: the verdict decides something. Good until the next one.
  Decision& AddDecision(const LiveJob& job, Target target, int64_t now_s, Verdict& verdict, PassOutput& out);
  // No checkpoint has the job as it is.
  void Changed(const LiveJob& job) { Changed(job.record.id); }
  void Changed(JobId id);
  // The job with lanes that can be stepped.
  LiveJob& Awake(JobId id);
  void Wake(LiveJob& job) const;
  void MakeRecommenders(LiveJob& job) const;
  std::unique_ptr<Recommender> NewRecommenderOf(const LiveJob& job, Resource r) const;
  // The job's policy may have changed: lanes whose recommender is still the same keep what they know. Also of a
  // copy whose settings are not in force yet.
  void Repolicy(LiveJob& job);
  // False: it is a copy, whose settings and decisions are not in force yet.
  bool IsOurs(const LiveJob& job) const { return jobs.Find(job.record.id) == &job; }

  LiveSettings settings;
  std::unique_ptr<FleetModels> models;
  LoadAnalogs load_analogs;  // of the jobs whose number of tasks is scaled
  RiskTable risks;           // what was promised and what came, of days that are over, of all jobs
  JobTable<LiveJob> jobs;
  // The key of ids.
  struct NameOfJob {
    const JobTable<LiveJob>* jobs;
    std::string_view operator()(uint32_t id) const { return (*jobs)[JobId{id}].record.name; }
  };
  NumbersByKey<NameOfJob> ids{NameOfJob{&jobs}};  // the numbers of jobs by name
  FleetRecords records;
  // Policies of jobs without settings of their own, by the rules that fit them: most jobs share one.
  absl::flat_hash_map<std::string, std::shared_ptr<const JobPolicy>> policies;
  // Settings that people made for jobs that were forgotten, by name.
  absl::flat_hash_map<std::string, std::vector<Override>> settings_of_gone;
  // By the number of a job the seconds of its cpu.startup_window, of jobs where that is on; and how often they
  // have changed.
  absl::flat_hash_map<uint32_t, int32_t> startups;
  uint64_t startups_version = 0;
  bool awaits_owners = false;  // jobs that are added from now on wait for the settings of their owners
  int32_t day = INT32_MIN;     // the current day
  WindowId now{INT32_MIN};     // the window observed last
  WindowId passed{INT32_MIN};  // the newest processed window; of INT32_MIN: none
  uint64_t last_decision = 0, last_setting = 0, last_oom = 0;  // the ids given out last
  // By chunk: the first window whose changes no checkpoint has; kSaved: all are saved.
  std::vector<WindowId> changed_since;

 private:
  friend class LiveOverrides;
  std::shared_ptr<const JobPolicy> PolicyOf(const LiveJob& job);
  void RemakeLane(LiveJob& job, Resource r, bool keeps);
  // The job's policy may have another start-up window.
  void NoteStartup(const LiveJob& job);
};

// ---- steps of a job that need nothing but it ----

// Lets the job begin `day`, and end the day it is in if it has not.
void StartDay(LiveJob& job, int32_t day);
// Recommends again by what is known now, for window `next`: the bounds may be others.
void RecommendAgain(LiveJob& job, WindowId next);
// The same for the window after the newest; nothing before the first.
void RecommendAgain(const FleetState& state, LiveJob& job);
// The time of a decision that is made at `now_s`. It is after the newest window: a restart processes windows and
// decisions in the order of their times, and takes those up to the end of a window for part of its checkpoint.
int64_t DecisionTime(const FleetState& state, int64_t now_s);
// Whether limits are in force by what runs the tasks, which gives them limits at their start, and whose word on
// limits may be ours.
bool EnforcedWhereItRuns(const FleetState& state, const LiveJob& job);
// Whether the job waits for its owner's settings, and its mode would set something. A kill and a setting are
// decided when the wait ends.
bool WaitsForOwner(LiveJob& job, Trigger trigger);
// The slice of kernel peaks that a time is in: half of the half-life, so that all slices are four times that.
int32_t PeakSlice(const VerticalSettings& settings, int64_t now_s);

// At most `limit` jobs that fit, ascending. The search begins at `cursor`, looks at 20,000 numbers at most and
// moves the cursor past them; it begins anew after the last job.
std::vector<JobId> FindJobsFrom(uint32_t& cursor, size_t limit, const FleetState& state,
                                absl::FunctionRef<bool(const LiveJob&)> fits);

}  // namespace taut::brain
