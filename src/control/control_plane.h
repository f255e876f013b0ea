// The daemon without its faces: samples in, windows closed, limits decided, stored, applied. Joins ingest,
// the live fleet, a store and an actuator; what is shown comes from snapshots. Time is an argument.
//
// Threads: Write from any thread; Tick from one; everything else from any. A pass lets others in between
// pieces of some hundred jobs. What a caller learns of a decision was stored before.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/clock_source.h"
#include "control/clock_view.h"
#include "control/fleet_view.h"
#include "control/late_jobs.h"
#include "control/sample_clock.h"
#include "ingest/ingest.h"
#include "live/live_fleet.h"
#include "ports/actuator.h"
#include "ports/external_recommender.h"
#include "ports/sample_log.h"
#include "ports/store.h"
#include "ports/task_intake.h"

namespace taut {

struct ControlOptions {
  Ingest::Options ingest;
  ClockSource clock = ClockSource::kWall;
  LiveSettings live;
  // Each chunk of jobs is checkpointed once per this many windows: what a restart has to process again.
  int checkpoint_windows = 6;
  // Closed windows wait for a store that does not take them; past so many, samples are refused for a while.
  int max_waiting_windows = 24;
  // A job without usage for this time is forgotten: LiveFleet::DueToForget.
  int forget_jobs_days = 30;
  // If its name returns within this many days more, it is the same job with the same history.
  int return_days = 30;
  // The same for windows that no tick has closed yet, where time is the samples' and may run ahead.
  int max_open_windows = 100;
  // That step and load jobs; 0: one a core. Changes no result.
  int threads = 0;
};

// How long the steps of a pass took, in the order they were taken.
struct PassTimes {
  WindowId window;
  size_t jobs = 0;
  double total_ms = 0;
  std::vector<std::pair<std::string_view, double>> steps_ms;
};

// How far what is known is behind the time that tautd takes; absent before the first sample or window.
// Negative: a sender's clock is ahead.
struct IngestLag {
  std::optional<double> arrival_s;        // the newest sample of a series, when it came
  std::optional<double> newest_sample_s;  // the newest sample of any source, now
  std::optional<double> window_s;         // the end of the window closed last, now
};

// What happened in a tick, after it was stored. Views: good during the call.
struct TickEvents {
  std::span<const Decision> decisions;
  std::span<const OomRecord> ooms;
  std::span<const SettingChange> settings;
  bool window_closed = false;
  bool past = false;  // all of it was read from history (TickPast)
  std::span<const std::pair<JobId, ReplicaStepBack>> step_backs = {};
  const ClosedWindow* window = nullptr;  // if one closed
};

struct ControlCounts {
  uint64_t passes = 0, decisions = 0, ooms = 0, commits = 0, failed_commits = 0, retrained = 0;
  uint64_t deferred_writes = 0;  // requests to be sent again later: there was no room
  uint64_t forgotten_jobs = 0, returned_jobs = 0;
  uint64_t replica_step_backs = 0;
  uint64_t external_taken = 0,
           external_ignored = 0;  // answers: ignored if the job does not ask for them any more
  std::array<uint64_t, kNumDecisionKinds> decisions_by_kind{};
};

struct Unsaved;
class WorkerPool;

class ControlPlane final : public TaskIntake {
 public:
  // All must outlive it. `steady_ms` is only asked to time the steps.
  struct Parts {
    Store* store = nullptr;
    History* history = nullptr;
    Actuator* actuator = nullptr;
    std::function<double()> steady_ms;
    SampleLog* samples = nullptr;             // null: samples of open windows do not outlive the daemon
    ExternalRecommender* external = nullptr;  // null: there is none
  };
  ControlPlane(const ControlOptions& options, MappingRules mapping, const Parts& parts);
  ~ControlPlane() override;

  // Before anything else: jobs, settings, checkpoints, the windows since, and the samples of open windows.
  // What was lost to damage is in warnings().
  absl::Status Restore();
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Samples of open windows that Restore took in again.
  uint64_t replayed_samples() const { return replayed_samples_; }

  // A remote-write body. InvalidArgument: never send it again; ResourceExhausted: too large; Unavailable:
  // send it again later.
  absl::StatusOr<WriteResult> Write(std::string_view body, Timestamp now);
  // The senders' time: the newest sample of each request since the last call, of this many requests
  // at most, whether they were taken or not.
  static constexpr size_t kMostSaid = 64;
  std::vector<Timestamp> TakeSaid();
  // The same for a series from elsewhere (backfill); labels ascending. Samples from `keep_from` on outlive a
  // restart, as those of Write do; the others have to be read again.
  void Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now,
            Timestamp keep_from = Timestamp{INT64_MAX});

  // What annotations of a job say (kSettingLabel), ascending, from the next Tick on; replaces what they said
  // before. A job that is not known by then is skipped.
  void SetSettingLabels(const std::string& job, std::vector<Label> labels);

  // ---- TaskIntake: from agents (agents.cc) ----
  std::optional<TaskRef> Announce(const NamedTask& task, Timestamp now) override;
  absl::Status TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now) override;
  absl::Status TakeOom(const NamedTask& task, Timestamp time, uint64_t kills, std::optional<double> limit,
                       Timestamp now) override;
  void SeeTime(Timestamp t) override;
  void HoldWindows(bool hold) override;
  std::optional<StandingTerms> Standing(const TaskRef& ref, const std::string& task = "") const override;
  std::optional<WindowId> stored_through() const override { return view()->window; }

  // Closes what is due, acts on OOM kills, decides, stores, applies: the whole loop, once. Not OK: the store
  // did not take it; called again it tries again.
  absl::Status Tick(Timestamp now);
  // The same for history from elsewhere (backfill): everything up to `through` was passed to Take, and
  // `through` is not later than now. Windows up to it are closed, stored and learnt from, and so are OOM
  // kills; no limit changes, and no job is moved (When::kPast). An OOM kill after `through` is acted on as by
  // Tick.
  absl::Status TickPast(Timestamp through);
  // A source is about to send data for open windows (HoldWindows): none closes.
  bool holds_windows() const;

  // ---- jobs that appeared later (late_jobs.cc) ----
  // Measured jobs first seen in [from, settled) whose past was not asked for, by name.
  std::vector<LateJob> LateJobs(Timestamp from, Timestamp settled) const;
  // What a source of history has of jobs; those of jobs forgotten meanwhile are dropped. All or nothing is
  // stored; jobs with a past learn from all that is stored of them. Nothing is decided by it.
  absl::Status AddPasts(std::vector<JobPast> pasts);
  // Known jobs, for what is missing before `until`.
  std::vector<LateJob> AllJobs(WindowId until) const;
  // Times in which no sample of a series came, though before and after some did, since the last call. What is
  // read from history (TickPast) is none.
  std::vector<SilentSpan> TakeGaps();
  // All history before now was read: the past of the jobs known now is not requested.
  absl::Status SettlePasts();
  // Of known jobs; those first seen before `from` only if they were asked for.
  LateJobCounts late_job_counts(Timestamp from) const;

  // Writes all checkpoints, so that the next start is quick.
  absl::Status CheckpointAll();
  // One more listener; called in the order of registration. Before the first Tick.
  void OnTick(std::function<void(const TickEvents&)> listener) { listeners_.push_back(std::move(listener)); }

  // ---- queries.cc ----
  // OK when samples are taken and windows stored; otherwise why not.
  absl::Status ready() const;
  // Not OK: samples of open windows would be lost to a kill just now.
  absl::Status sample_log_status() const;
  // Of samples that were acknowledged: a kill just now would lose them.
  uint64_t unwritten_sample_bytes() const {
    return parts_.samples == nullptr ? 0 : parts_.samples->unwritten_bytes();
  }
  // Samples that wait for their windows to close.
  uint64_t waiting_samples() const;
  IngestLag ingest_lag() const;
  // The state of the machine's clock, set by the caller of Tick; a part of ready().
  void NoteClock(ClockView clock);
  ClockView clock_view() const;
  // Time goes on at `now`, before or after what it was: a clock that was believed was wrong.
  void ShiftTime(Timestamp now);
  // The latest time that is known from before Restore, if any.
  std::optional<Timestamp> time_before() const { return time_before_; }
  std::shared_ptr<const FleetView> view() const;
  PassTimes last_pass() const;
  ControlCounts counts() const;
  IngestCounts ingest_counts() const;
  MapperCounts mapper_counts() const;
  // How OOM kills of the job are learnt; nullopt while no series or task of it is there.
  std::optional<OomSource> oom_source(JobId id) const;
  // The sources of the job's series if they may be two workloads of one name, as SeriesMapper::Collision.
  std::string NameCollision(JobId id) const;
  FoldCounts fold_counts() const;
  ClockSource clock() const { return options_.clock; }
  std::string_view actuator_name() const { return parts_.actuator->name(); }
  size_t state_bytes() const;  // of jobs, series and open windows
  // Newest sample or the wall clock's time last told.
  Timestamp now() const;

  std::optional<JobId> Find(std::string_view job) const;
  // nullopt: no series or window of the task has come lately.
  std::optional<TaskRef> FindTask(const std::string& job, const std::string& task) const;
  // Looks at a live job under its lock: be quick. False: no such job, `look` was not called.
  bool Look(JobId id, const std::function<void(const LiveJob&)>& look) const;
  // Empty if there is no such job.
  Reason Explain(JobId id, Resource r) const;
  // A person's settings of one job, all or none, by one commit; an empty value takes one back. In force when
  // they are stored. InvalidArgument says all that is wrong with them; Unavailable: the store does not take
  // them, and nothing has changed.
  absl::StatusOr<std::vector<SettingChange>> SetMany(JobId id, std::span<const KeyValue> settings,
                                                     std::string_view who);
  absl::StatusOr<SettingChange> Set(JobId id, std::string_view key, std::string_view value,
                                    std::string_view who);
  void Reload(const LiveSettings& settings);
  History& history() const { return *parts_.history; }
  // As Look, at the whole fleet: its settings, and what it has learnt.
  void WithFleet(const std::function<void(const LiveFleet&)>& use) const;

 private:
  absl::Status TickAs(Timestamp now, When when);
  std::vector<ClosedWindow> CloseWindows(Timestamp now, When when);
  void CountWaiting();
  void SeeOoms(Timestamp now);
  void DistrustFuture(Timestamp now);
  void NoteNewJobs(Timestamp now, When when);
  void AddNewJobs();
  void RelabelJobs(Timestamp now, When when);
  // forget.cc
  absl::Status ForgetJobs(WindowId now);
  void RestoreForgotten(WindowId now);
  // Of those seen: `count` from the first on.
  absl::Status ActOnOoms(size_t count, When when);
  // What an external recommender has answered since the last time.
  absl::Status ActOnExternal();
  absl::Status Pass(ClosedWindow closed, When when);
  // ---- checkpoints.cc ----
  void SaveWithPass(WindowId through, bool fleet_too);
  void SaveActuator(WindowId through);
  void SaveChunksOf(std::span<const JobId> jobs, WindowId through);
  void SaveChunks(std::span<const uint32_t> chunks, WindowId through);
  absl::Status SaveDueChunks(WindowId through, bool all);
  // ---- trials (trials.cc) ----
  // Numbers of tasks on trial are those of now: others hold after a restart.
  void FindTrialTasks();
  // Tasks that a trial has taken have numbers; from here on they have names.
  void NameTrialTasks();
  void ExtendTrials();
  absl::Status CheckStore();
  // ---- commit.cc ----
  absl::Status CommitUnsaved();
  absl::Status StoreUnsaved();
  // After StoreUnsaved.
  void TellStored();
  void Publish();
  absl::Status StoreOutcomes();
  // ----
  absl::Status RetrainSome();
  void Maintain(WindowId window);
  void RefreshView(const FleetPoint* point);
  void IndexView(const FleetView& old, FleetView& next);
  // Calls turns on the pool's threads where there are enough of them; as RunTurns.
  void RunOnThreads(size_t count, absl::FunctionRef<void(size_t turn)> turn);

  // These REQUIRE ingest_mutex_. Not OK: nothing is taken in just now.
  absl::Status CheckRoom();
  absl::Status RoomNow() const;
  Timestamp NowFor(Timestamp now);
  // A request says that it is `time`; `kept`: something of it was taken in.
  void Say(Timestamp time, bool kept);
  Timestamp NowForBody(std::string_view body, Timestamp now);
  // Samples have come up to `newest`.
  void NoteNewest(Timestamp newest);
  // Samples of series may have come, by this clock.
  void Hear(Timestamp now);
  // Windows close up to here: by samples, and by the clock where they have fallen silent.
  Timestamp Watermark(Timestamp now) const;

  absl::Status RestoreJobs(std::vector<WindowId>& through, StoreEnds& ends);
  absl::Status RestoreSince(const std::vector<WindowId>& through, const StoreEnds& ends);
  absl::Status RememberOoms();

  // sample_replay.cc
  absl::Status ReplaySamples(const StoreEnds& ends);
  void LogWrite(std::string_view body, Timestamp now, uint64_t kept_before);
  void EndGap(Timestamp now);
  // Gives the log what came since the last time, and forgets what is stored. REQUIRES writer_mutex_.
  absl::Status KeepSamples();
  void ApplyPending(std::span<const Decision> decisions);

  const ControlOptions options_;
  const MappingRules mapping_;
  const Parts parts_;
  std::vector<std::string> warnings_;
  std::vector<std::function<void(const TickEvents&)>> listeners_;

  mutable std::mutex ingest_mutex_;
  std::unique_ptr<Ingest> ingest_;
  Timestamp newest_sample_{INT64_MIN};
  Timestamp now_{0};
  Timestamp last_watermark_{INT64_MIN};
  uint32_t next_job_ = 0;  // numbers below are, or were once, in the store
  int waiting_windows_ = 0;
  bool hold_windows_ = false;
  FleetRecords indexed_;       // that the view's index is of
  bool restored_gap_ = false;  // until the first clock after a restart says how long the daemon was down
  Timestamp catch_up_until_{INT64_MIN};  // no window closes before
  uint64_t replayed_samples_ = 0;
  std::vector<Timestamp> said_;
  std::vector<SilentSpan> gaps_;
  SampleClock sample_clock_;
  std::optional<Timestamp> time_before_;
  Timestamp newest_of_series_{INT64_MIN}, heard_{INT64_MIN};  // and when that came
  std::vector<OomSighting> replayed_ooms_;                    // found by Restore, to be acted on
  // OOM kills that were stored before this life: job, second, and limit in bytes (0: none).
  std::set<std::tuple<uint32_t, int64_t, double>> ooms_before_;

  // Held while decisions are made: by a tick, or a setting. Taken before fleet_mutex_.
  std::mutex writer_mutex_;
  mutable std::shared_mutex fleet_mutex_;
  LiveFleet fleet_;
  const std::unique_ptr<WorkerPool> workers_;
  absl::flat_hash_map<uint32_t, PastState> pasts_;  // by job, as stored; of fleet_mutex_
  struct Waiting {
    ClosedWindow closed;
    When when = When::kNow;
  };
  std::vector<Waiting> waiting_;
  std::map<std::string, std::vector<Label>> setting_labels_;  // by job, since the last Tick; ingest_mutex_
  std::vector<OomSighting> sightings_;                        // not yet acted on
  bool distrusted_future_ = false;                            // since the start
  std::unique_ptr<Unsaved> unsaved_;                          // decided, but not yet in the store
  uint32_t next_chunk_ = 0;
  int ticks_since_sync_ = 0;
  bool store_was_gone_ = false;
  std::string actuator_state_;  // as stored last

  mutable std::mutex view_mutex_;
  std::shared_ptr<const FleetView> view_;
  PassTimes last_pass_;
  ControlCounts counts_;
  absl::Status store_status_, sample_log_status_;
  ClockView clock_view_;
  bool restored_ = false;
  struct DayPoint {
    WindowId window;
    uint32_t ooms = 0, changes = 0;
  };
  std::deque<DayPoint> day_points_;  // of the last 24 h
};

}  // namespace taut
