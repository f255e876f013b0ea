// The engine of a living cell: windows and OOM kills in, decisions out. The same lanes, fleet models and gate
// that a replay steps; no I/O, no clock, no threads. Storing, applying and showing are the caller's
// business.
//
// A pass over a closed window is three calls, so that a caller can let others look in between two pieces:
//   for pieces of closed.jobs:  Observe(closed, first, last, output)
//   EndWindow(closed, output)                  once; the day rolls over with its last window
//   for pieces of closed.jobs:  Decide(closed, first, last, output)
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
#include "absl/status/statusor.h"
#include "brain/fleet/live_job.h"
#include "brain/fleet/risk_book.h"
#include "brain/fleet/signal_builder.h"
#include "brain/fleet/stored_history.h"
#include "brain/rollout/migration.h"
#include "common/base/numbers_by_key.h"
#include "common/model/account.h"
#include "common/model/closed_window.h"
#include "common/model/external.h"
#include "common/model/job_table.h"

namespace taut::brain {

// Whose tasks run at the limits that are decided: kNever: decisions are not applied, and tasks die
// at their owner's limits; kByAgents: those of jobs whose agents report that they apply limits.
enum class Enforcement : uint8_t { kNever, kByAgents, kAlways };

struct LiveSettings {
  VerticalSettings vertical;
  PolicyRules rules;
  MigrationSettings migration;
  Enforcement enforcement = Enforcement::kAlways;
};

// Whether windows and OOM kills are of now. kPast: read from history (backfill). Recommenders learn; mode
// observe shows what it would have set; no limit changes, no job is moved to another mode.
enum class When : uint8_t { kNow, kPast };

// What a pass leaves behind, for the store, the actuator and the faces.
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

// Settings of one request, for the store before they are in force.
struct PreparedSettings {
  JobId id;
  LiveJob job;                         // as it will be; of its record, a copy
  std::vector<SettingChange> changes;  // with ids
  PassOutput output;
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

// When an OOM kill was, and when it is decided on.
struct KillTimes {
  int64_t since_s = INT64_MAX;  // the kill was not earlier; INT64_MAX: its time is exact
  int64_t now_s = INT64_MIN;    // of the decision, which is not before the kill
};

// Not thread-safe.
class LiveFleet {
 public:
  explicit LiveFleet(const LiveSettings& settings);

  // REQUIRES: the number has no job; numbers need not be without gaps. Settings that people made for a job of
  // this name hold again.
  void AddJob(JobRecord record);
  // The same during a restore: its recommenders come by LoadChunk or, at last, by MakeRecommenders.
  void AddRestoredJob(JobRecord record);
  // Sets these labels of the job and looks at the rules again; its other labels stay. False: it has them.
  // REQUIRES: Has(id).
  bool AddLabels(JobId id, std::span<const KeyValue> labels);
  // The same for all labels that are settings: others that the job has of them are gone. Acts on them at once, as
  // on a person's setting.
  bool SetSettingLabels(JobId id, std::span<const KeyValue> labels, int64_t now_s, PassOutput& out);
  // ---- jobs whose owners' settings are not known yet (live_owners.cc) ----
  // Jobs that are added from now on, and those that were not measured in the window before one, wait: modes auto
  // and canary decide nothing for them before SettleOwner.
  void AwaitOwners() { awaits_owners_ = true; }
  // At most `limit` that wait, from `cursor` on, which moves past them and starts again after the last job.
  std::vector<JobId> AwaitingOwners(size_t limit, uint32_t& cursor) const;
  // Ends the wait and decides what waited. `labels` as SetSettingLabels; nullptr: no source has settings of the
  // job. Returns whether the job's labels have changed. REQUIRES: Has(id).
  bool SettleOwner(JobId id, const std::vector<KeyValue>* labels, int64_t now_s, PassOutput& out);
  // Whether a window has said what the owner's memory limit is, or another limit is in force. REQUIRES: Has(id).
  bool KnowsOwner(JobId id) const;
  // The owner's memory limit, of a job that KnowsOwner is false for: until its first window is closed.
  void LearnOwner(JobId id, double memory_bytes);
  FleetRecords records() const { return records_; }
  size_t size() const { return jobs_.size(); }  // of jobs that are known, not of numbers ever given out
  const JobTable<LiveJob>& jobs() const { return jobs_; }
  bool Has(JobId id) const { return jobs_.Find(id) != nullptr; }
  // REQUIRES: Has(id). The reference stays good until the job is forgotten; names and labels never change.
  const LiveJob& job(JobId id) const { return jobs_[id]; }
  std::optional<JobId> Find(std::string_view name) const;

  // Jobs are stepped in turns of kTurnJobs; on how many threads `run` calls them changes no result.
  static constexpr size_t kTurnJobs = 64, kTurnsAtATime = 32;
  // Before Observe: what the owner asked for, as each job's allocation says. Where limits are set by another than
  // agents, series may read back what was ordered: then the owner's amount is what it was.
  void TakeOwnersAmounts(ClosedWindow& closed, size_t first, size_t last);
  void Observe(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when = When::kNow,
               RunTurns run = RunInOrder);
  // Whether the request of the job's container stays, whatever is recommended. REQUIRES: Has(id).
  void SetRequestStays(JobId id, Resource r, bool stays) { jobs_[id].of(r).request_stays = stays; }
  // After Observe and before Decide, so that allocations are those of the window: appends an entry for each of
  // these jobs.
  void Account(const ClosedWindow& closed, size_t first, size_t last, std::vector<AccountEntry>& out) const;
  void EndWindow(const ClosedWindow& closed, PassOutput& out, When when = When::kNow);
  void Decide(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when = When::kNow);
  // The memory limits that Tautline has lowered and an actuator other than agents applies, by job: tasks that grow
  // towards one get more before they are killed, up to the owner's. O(jobs).
  std::vector<std::pair<JobId, double>> LoweredLimits() const;
  // A task of the job will have so much before the next decision.
  void TakeGrowth(JobId id, double bytes, int64_t now_s, PassOutput& out);
  // What the kernel keeps of a task of the job: no cut goes below it while it is in the history that counts, four
  // times the half-life of the moving window (live_kills.cc). A peak at the limit says what the kernel reclaimed,
  // and not what the task needs.
  struct KernelPeaks {
    double risen = 0;  // bytes: the highest of tasks that grew; 0: none
    // The peaks of tasks met first since the start, which may have stood before it, and those of all tasks.
    std::span<const float> met, standing;
  };
  void TakeKernelPeaks(JobId id, const KernelPeaks& peaks, WindowId window);
  // An OOM kill, at once, however late it is reported. `oom.limit` is filled in where it is unknown: with the
  // limit at the time of the kill.
  // REQUIRES: the job is known.
  void TakeOom(OomRecord& oom, PassOutput& out, When when = When::kNow, const KillTimes& times = {});
  // A decision was passed to the actuator at `now_s`, or had its outcome before a restart: the limit that it
  // replaced was in force until then.
  void NoteSent(const Decision& d, int64_t now_s);
  void RememberSent(const Decision& d);
  // The same of the last decisions of a job, ascending, in place of what is known. REQUIRES: Has(id).
  void RememberAllSent(JobId id, std::span<const Decision> decisions);
  // Whether the memory limit that its job has by order is this decision's.
  bool IsLastOrder(const Decision& d) const;

  // ---- an external recommender (live_external.cc) ----
  // After Decide: appends what it is given of each of these jobs that asks for it.
  void ExternalJobs(const ClosedWindow& closed, size_t first, size_t last,
                    std::vector<ExternalJob>& out) const;
  // An answer, at once. False: it is not taken, as the job is gone or does not ask for it (any more), or its
  // recommenders wait for their history.
  bool TakeExternal(const ExternalAnswer& answer, int64_t now_s, PassOutput& out);

  // What is wrong with a person's settings: keys with what to say of them, all that are wrong; the key is ""
  // of what no single one can break. Empty values take settings back.
  std::vector<KeyValue> CheckSettings(JobId id, std::span<const KeyValue> settings) const;
  // The settings and what follows of them (a limit given back), decided but not in force. InvalidArgument
  // says all that is wrong with them. The fleet is as before, and has to stay so until Take.
  absl::StatusOr<PreparedSettings> Prepare(JobId id, std::span<const KeyValue> settings, std::string_view who,
                                           int64_t now_s);
  void Take(PreparedSettings prepared);
  // ---- trials: tasks by name (live_trials.cc) ----
  // Jobs with a trial of some of their tasks.
  std::vector<JobId> Trials();
  void SetTrialTasks(JobId id, Resource r, std::vector<TrialTask> members);
  // What the actuator said, if it matters to a trial or to what can be set.
  void TakeOutcome(const OutcomeUpdate& outcome);

  // Other rules and settings, as after a reload. Lanes whose recommender is another one now want history.
  void Reload(const LiveSettings& settings);
  const LiveSettings& settings() const { return settings_; }
  // Tasks of the job run at the limits that are decided; false: at their owner's.
  bool Enforced(const LiveJob& job) const {
    return settings_.enforcement == Enforcement::kAlways ||
           (settings_.enforcement == Enforcement::kByAgents && job.managed);
  }

  SizeUse SizeUseOf(const LiveJob& job) const;

  LimitsApplied AppliedTo(const LiveJob& job) const {
    if (!Enforced(job)) return LimitsApplied::kNo;
    const bool reported = job.managed || job.of(Resource::kCpu).applied != kAbsent ||
                          job.of(Resource::kMemory).applied != kAbsent;
    return reported ? LimitsApplied::kAgentsReport : LimitsApplied::kActuatorSays;
  }

  // The limit that the job's tasks run at; in a dry run the one that was decided, as if it were. Absent: none.
  std::optional<double> LimitOf(const LiveJob& job, Resource r) const {
    const LiveLane& lane = job.of(r);
    const bool decided = Enforced(job) || settings_.enforcement == Enforcement::kNever;
    return decided ? lane.real_limit() : lane.reported().has_value() ? lane.reported() : lane.owner();
  }

  // Jobs whose recommenders are new and have to process the stored history, at most `limit`.
  std::vector<JobId> WantHistory(size_t limit) const;
  // A job that the lanes know nothing of, though the store does.
  void WantHistoryOf(JobId id);
  // The jobs of a chunk whose checkpoint is lost: they want history, and are `lost` until EndRestore.
  void WantHistoryOf(uint32_t chunk);
  // Makes the job's lanes anew and feeds them `days`, the job's OOM kills and its decisions (all ascending); where
  // only one lane needs history, the other stays as it is.
  // Days that the job's lanes have seen otherwise do not count twice: the lanes are new.
  void Retrain(JobId id, std::span<const JobDay> days, std::span<const OomRecord> ooms,
               std::span<const Decision> decisions = {});

  // ---- jobs whose tasks are gone (departures.cc) ----
  // Jobs to be forgotten, by the time without usage before the end of `now`, ascending, at most
  // `limit`. A job that was known for less than that when it was last measured is due after as long as
  // it was known, but not before a day.
  std::vector<JobId> DueToForget(WindowId now, int32_t forget_after_days, size_t limit) const;
  // The job and all that was learnt of it; settings that people made for its name are kept.
  void Forget(JobId id);
  // Turns the lanes of jobs not measured for two hours into bytes.
  void PutToSleep(WindowId now);

  // Empty for a job that is not known.
  Reason Explain(JobId id, Resource r) const;
  // Of the recommended limit, on `day`: the forecast where there is one, with the job's own days; else its last
  // kRiskDays days with a recommended limit, and those of them above the limit of then. What every face shows.
  LimitRisk RiskOf(const LiveJob& job, Resource r, int32_t day) const;
  // Returns the provisional limit of a lane whose recommender has too little history yet. Absent if there is a
  // recommendation, or no limit is recommended at all.
  std::optional<ProvisionalLimit> ProvisionalOf(const LiveJob& job, Resource r) const;
  static constexpr int kRiskDays = 28;
  const FleetModels& models() const { return *models_; }
  // ---- starts of tasks (live_starts.cc) ----
  // By the number of a job the seconds of its cpu.startup_window, of jobs where that is on; and how often they
  // have changed.
  const absl::flat_hash_map<uint32_t, int32_t>& startups() const { return startups_; }
  uint64_t startups_version() const { return startups_version_; }
  WindowId passed() const { return passed_; }  // the newest processed window; of INT32_MIN: none

  // What was promised and what came, of days that are over; of all jobs, those that are forgotten too.
  const RiskBook& risks() const { return risks_; }

  // ---- stop and go on ----
  static constexpr uint32_t kChunkJobs = JobTable<LiveJob>::kPageJobs;
  uint32_t num_chunks() const { return (jobs_.end_id() + kChunkJobs - 1) / kChunkJobs; }
  bool ChunkHasJobs(uint32_t chunk) const { return jobs_.used_in_page(chunk) > 0; }
  void SaveChunk(uint32_t chunk, ByteWriter& out) const;
  // All or nothing for each job: after an error the jobs of the chunk that could not be read are new ones
  // that are `lost` and want history. `through`: the window at whose end it was saved.
  // Lanes sleep until their job is stepped: a start need not build what only a window asks for.
  absl::Status LoadChunk(uint32_t chunk, WindowId through, ByteReader& in, RunTurns run = RunInOrder);
  // For the restored jobs that no checkpoint had.
  void MakeRecommenders(RunTurns run = RunInOrder);
  // The first window that changed the chunk since MarkSaved; nullopt: none did.
  std::optional<WindowId> ChangedSince(uint32_t chunk) const;
  void MarkSaved(uint32_t chunk);
  void SaveFleet(ByteWriter& out) const;
  absl::Status LoadFleet(ByteReader& in);
  // A setting and a decision that were stored: taken in without deciding anything.
  void Redo(const SettingChange& change);
  void Redo(const Decision& decision);
  // Of a decision that the job knows already.
  void RedoOutcome(const Decision& d);
  // A stored window again, for the jobs of chunks whose checkpoint is older than it (through[chunk] <
  // window).
  void Redo(const ClosedWindow& closed, std::span<const WindowId> through, RunTurns run = RunInOrder);
  // In the order in which they were taken in, each before the windows that end after it.
  void Redo(const OomRecord& oom);
  // Times that lie ahead of the clock by more than an hour were made by a wrong one: they are `now_s` from
  // now on, so that nothing waits for them.
  void DistrustFuture(int64_t now_s);
  // After the last Redo. The ids given out last, of anything.
  void EndRestore(uint64_t last_decision, uint64_t last_setting, uint64_t last_oom = 0);

  size_t state_bytes() const;

 private:
  // What one turn needs and leaves behind.
  struct Turn {
    JobDay job_day;
    DaySignals signals;
    FleetPoint point;  // counts only, so that the order of turns does not matter
  };
  void ObserveTurn(const ClosedWindow& closed, std::span<const uint32_t> indices, bool counts, Turn& turn);
  void ObserveJobs(const ClosedWindow& closed, std::span<const uint32_t> indices, FleetPoint* point,
                   RunTurns run);
  // Touches nothing but the job.
  void ObserveJob(const ClosedWindow& closed, size_t index, FleetPoint* point, Turn& turn);
  static void ObserveIdle(const JobDay& day, const SaidReplicas& said, LiveJob& job);
  // What the window means for the counts of days: REQUIRES: before the lane has taken it in.
  void MarkDay(const Signal& signal, const LiveJob& job, LiveLane& lane) const;
  // The job's policy may have another start-up window.
  void NoteStartup(const LiveJob& job);
  void ObserveStarts(const JobDay& day, LiveJob& job) const;
  // Of actuators that one in a cluster alone does.
  bool SetsStarts() const { return settings_.enforcement == Enforcement::kAlways; }
  // live_risk.cc: the same for promises.
  void CountRisk(const Signal& signal, const LiveJob& job, Resource r, LiveLane& lane) const;
  void CountRiskOfKill(const OomRecord& oom, int32_t day, const LiveJob& job, LiveLane& lane) const;
  void BeginRiskDay(const LiveJob& job, RiskKey key, double limit, int32_t day, LiveLane& lane) const;
  // `rows`: what the lane taught the fleet.
  void EndRiskDay(std::span<const FleetRow> rows, LiveLane& lane);
  enum class Why : uint8_t { kWindow, kOom, kSetting, kGrowth };
  // `at_least`: nothing lower is decided, within bounds.
  void DecideLane(LiveJob& job, Resource r, int64_t now_s, Why why, PassOutput& out,
                  std::optional<double> at_least = {});
  int32_t PeakSlice(int64_t now_s) const;
  // The limit that killed the task, where the source does not say it.
  std::optional<double> LimitAtKill(const LiveJob& job, const OomRecord& oom, int64_t since_s) const;
  // What the first answer to the kill restores: the owner's limit, if a lower one of Tautline's killed.
  std::optional<double> OwnersAnswer(const LiveJob& job, const OomRecord& oom) const;
  // So that its outcome finds the job.
  void NoteSentOrder(uint64_t decision, JobId job);
  void DecideReplicasOf(LiveJob& job, int64_t now_s, PassOutput& out);
  // So that its outcome finds the job. REQUIRES: job.replicas is not null.
  void NoteReplicaOrder(uint64_t decision, LiveJob& job);
  // It is not scaled any more. REQUIRES: job.replicas.
  void DropReplicas(LiveJob& job);
  // The job waits, and its mode would set something. A kill and a setting are decided when the wait ends.
  static bool WaitsForOwner(LiveJob& job, Why why);
  // Whether a job that has history, and no window of the present yet, has an owner's limit that is not known.
  static bool WaitsForWindow(const LiveJob& job, Resource r);
  // Else a copy, whose settings and decisions are not in force yet.
  bool IsOurs(const LiveJob& job) const { return jobs_.Find(job.record.id) == &job; }
  // True: its number of tasks is held from now on, or no longer.
  static bool NoteHold(LiveJob& job, int64_t now_s, PassOutput& out);
  // After a change of settings: nothing is held of a job whose number is the owner's again.
  void EndHold(LiveJob& job, int64_t now_s, PassOutput& out);
  // Scaled jobs of which nothing was measured in the window.
  void TakeSilence(const ClosedWindow& closed, PassOutput& out);
  // REQUIRES: the verdict decides something. Good until the next one.
  Decision& AddDecision(const LiveJob& job, Target target, int64_t now_s, Verdict& verdict, PassOutput& out);
  static void TakeReports(LiveJob& job, std::span<const TaskReport> reports,
                          std::span<const TaskThrottling> throttling);
  void FindCandidates(const ClosedWindow& closed, const JobWindowData& data, Resource r);
  void NoteTrialOf(const LiveJob& job);
  // Lets the job begin `day`, and end the day it is in if it has not.
  static void StartDay(LiveJob& job, int32_t day);
  void EndDay(PassOutput& out, When when);
  absl::Status LoadJob(std::string_view bytes, LiveJob& job) const;
  void MakeRecommenders(LiveJob& job) const;
  // Not measured for two hours before the end of `now`.
  static bool IsGone(const LiveJob& job, WindowId now);
  void Changed(const LiveJob& job) { Changed(job.record.id); }
  void Changed(JobId id);
  // The job with lanes that can be stepped.
  LiveJob& Awake(JobId id);
  void Wake(LiveJob& job) const;
  void TakeInOom(LiveJob& job, const OomRecord& oom);
  // Of an init or ephemeral container: the job's lanes learn nothing of it.
  void TakeInAside(LiveJob& job, const OomRecord& oom);
  void Migrate(LiveJob& job, int64_t now_s, PassOutput& out, When when);
  void RepolicyReplicas(LiveJob& job);
  void TakeTaskSize(LiveJob& job) const;
  // REQUIRES: the job's lanes are awake.
  void ExplainLane(const LiveJob& job, Resource r, Reason& reason) const;
  Lane Relived(const LiveJob& job, const StoredHistory& history);
  std::unique_ptr<Recommender> NewRecommenderOf(const LiveJob& job, Resource r) const;
  std::shared_ptr<const JobPolicy> PolicyOf(const LiveJob& job);
  void Repolicy(LiveJob& job);
  void RemakeLane(LiveJob& job, Resource r, bool keeps);
  void RecommendAgain(LiveJob& job) const;
  static void RecommendAgain(LiveJob& job, WindowId next);
  // The window for which a recommendation without a new window counts.
  WindowId NextWindow(int64_t now_s) const;
  JobInfo InfoOf(const JobRecord& record) const;

  // The key of ids_.
  struct NameOfJob {
    const JobTable<LiveJob>* jobs;
    std::string_view operator()(uint32_t id) const { return (*jobs)[JobId{id}].record.name; }
  };

  LiveSettings settings_;
  std::unique_ptr<FleetModels> models_;
  LoadAnalogs load_analogs_;  // of the jobs whose number of tasks is scaled
  RiskBook risks_;
  JobTable<LiveJob> jobs_;
  FleetRecords records_;
  NumbersByKey<NameOfJob> ids_{NameOfJob{&jobs_}};
  // Policies of jobs without settings of their own, by the rules that fit them: most jobs share one.
  absl::flat_hash_map<std::string, std::shared_ptr<const JobPolicy>> policies_;
  int32_t day_ = INT32_MIN;  // the current day
  // Of jobs that were forgotten: what people had set, by name.
  absl::flat_hash_map<std::string, std::vector<Override>> settings_of_gone_;
  // By chunk: the first window whose changes no checkpoint has; INT32_MAX: all are saved.
  std::vector<WindowId> changed_since_;
  WindowId now_{INT32_MIN};     // the window observed last
  WindowId passed_{INT32_MIN};  // the newest processed window
  // The newest window in which any job was measured, and the first of those without a long gap before it.
  WindowId heard_{INT32_MIN}, heard_since_{INT32_MIN};
  uint64_t last_decision_ = 0, last_setting_ = 0, last_oom_ = 0;
  // By the decision that began it; some may have ended.
  absl::flat_hash_map<uint64_t, JobId> trials_;
  absl::flat_hash_map<uint32_t, int32_t> startups_;
  uint64_t startups_version_ = 0;
  bool awaits_owners_ = false;
  // The order of a number of tasks that each job was given last.
  absl::flat_hash_map<uint64_t, JobId> replica_orders_;
  // During a restore: by job, the time and the id of the last kill in its checkpoint.
  absl::flat_hash_map<uint32_t, std::pair<int64_t, uint64_t>> known_ooms_;
  // The same of orders of memory limits of which no outcome is known that is the last.
  absl::flat_hash_map<uint64_t, JobId> memory_orders_;
  // Scratch.
  std::vector<uint32_t> candidates_;
  DaySignals signals_;
  std::vector<uint32_t> indices_;
  std::vector<Turn> turns_;
};

}  // namespace taut::brain
