// Where samples, and tasks that agents report, come in: folds them into windows, and closes these by the time
// of the cell. Samples of open windows are in a log until their window is stored.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "brain/fleet/live_fleet.h"
#include "common/base/clock_source.h"
#include "server/control/cell_clock.h"
#include "server/control/clock_view.h"
#include "server/control/placement.h"
#include "server/control/status_board.h"
#include "server/control/stored_kills.h"
#include "server/control/task_intake.h"
#include "server/ingest/ingest.h"
#include "server/store/sample_log.h"
#include "server/store/store.h"

namespace taut::server {

// Thread-safe; what only the thread of the passes calls says so. The lock is held by a write for its body, and
// while windows close.
class IngestFront {
 public:
  struct Options {
    Ingest::Options ingest;
    ClockSource clock = ClockSource::kWall;
    // Closed windows that wait for the store; above this number samples are refused until it accepts them.
    int max_waiting_windows = 24;
    // The same for windows that no tick has closed yet, where time is the samples' and may run ahead.
    int max_open_windows = 100;
  };
  // `samples`: null if samples of open windows need not outlive the daemon. Both must outlive it.
  IngestFront(const Options& options, MappingRules mapping, SampleLog* samples, const StatusBoard& board);

  // ---- samples ----
  // A remote-write body. InvalidArgument: never send it again; ResourceExhausted: too large; Unavailable:
  // send it again later.
  // `sender`: as SaidTime.
  absl::StatusOr<WriteResult> Write(std::string_view body, Timestamp now, uint64_t sender = 0);
  // The same for a series from elsewhere (backfill); labels ascending. Samples from `keep_from` on outlive a
  // restart, as those of Write do; the others have to be read again.
  void Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now,
            Timestamp keep_from = Timestamp{INT64_MAX});
  // The same for values of a source that knows its workloads.
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  void Take(const WorkloadFact& fact, int64_t timestamp_ms, Timestamp now);
  // The senders' time: the newest sample of each request since the last call, of this many requests
  // at most, whether they were taken or not.
  static constexpr size_t kMostSaid = 64;
  std::vector<SaidTime> TakeSaid();
  // What annotations of a job say (kSettingLabel), ascending, from the next tick on; replaces what they said
  // before. A job that is not known by then is skipped.
  void SetSettingLabels(const std::string& job, std::vector<Label> labels);

  // ---- from agents (front_of_agents.cc); as TaskIntake ----
  std::optional<TaskRef> Announce(const NamedTask& task, Timestamp now);
  absl::Status TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now);
  absl::Status TakeOom(const NamedTask& task, Timestamp time, uint64_t kills, std::optional<double> limit,
                       Timestamp now);
  void SeeTime(Timestamp t);
  void HoldWindows(bool hold);
  // A source is about to send data for open windows: none closes.
  bool holds_windows() const;

  // ---- time ----
  ClockSource clock() const { return options_.clock; }
  // Newest sample or the wall clock's time last told.
  Timestamp now() const;
  // Time goes on at `now`, before or after what it was: a clock that was believed was wrong.
  void ShiftTime(Timestamp now);
  // The clock of a start is not confirmed: what is taken in is not logged, so that a restart does not take it for
  // right.
  void DoubtTime(bool doubt);
  // The clock of the start was wrong, and it is `now`: forgets the samples of the future.
  void GoBack(Timestamp now);
  // The latest time that is known from before Restore, if any.
  std::optional<Timestamp> time_before() const { return time_before_; }
  // Times in which no sample of a series came, though before and after some did, since the last call. What is
  // read from history (When::kPast) is none.
  std::vector<SilentSpan> TakeGaps();
  IngestLag lag() const;
  // Seconds after its end at which a window closes.
  int64_t grace_s() const { return options_.ingest.windows.grace_seconds; }
  // When the first window that has samples closes, by the cell's clock; nullopt: no sample has come in this life.
  std::optional<Timestamp> first_close() const;

  // ---- counts ----
  IngestCounts counts() const;
  MapperCounts mapper_counts() const;
  FoldCounts fold_counts() const;
  uint64_t deferred_writes() const;  // requests to be sent again later: there was no room
  uint64_t waiting_samples() const;  // until their windows close
  uint64_t replayed_samples() const {
    return replayed_samples_;
  }  // of open windows, taken in again by Restore
  // Of samples that were acknowledged: a kill just now would lose them.
  uint64_t unwritten_sample_bytes() const { return samples_ == nullptr ? 0 : samples_->unwritten_bytes(); }
  // Not OK: samples of open windows would be lost to a kill just now.
  absl::Status sample_log_status() const;
  size_t state_bytes() const;
  // What tells of a job.
  struct JobSources {
    OomSource oom_source = OomSource::kNone;  // of its OOM kills
    bool knows_starts = false;  // series say when its tasks started; those that no job asks for say nothing
    std::string collision;      // SeriesMapper::Collision
  };
  // nullopt while no series or task of it is there.
  std::optional<JobSources> SourcesOf(JobId id) const;
  // Of tasks whose job is known: the whole number, or none if no series or window of the task has come lately.
  void FindNumbers(std::span<PlacedTask* const> tasks) const;

  // ---- for the passes: one thread calls these ----
  // Closes what is due by `now`.
  std::vector<ClosedWindow> CloseWindows(Timestamp now, brain::When when);
  // That closed windows wait for the store.
  void SetWaitingWindows(int waiting);
  // As Ingest. After Restore.
  void SetStartups(const absl::flat_hash_map<uint32_t, int32_t>& seconds);
  // Whether any job does.
  bool asks_for_starts() const { return asks_for_starts_; }
  // OOM kills since the last call, none far ahead of the cell's clock. Before CloseWindows, which forgets the
  // names of series not heard of for long.
  std::vector<OomSighting> TakeOoms(Timestamp now);
  // As LiveWindows, by the cell's clock; `limits` are asked for at most every 15 s, for they cost.
  std::vector<GrowthSighting> FindGrowth(const std::function<std::vector<JobLimit>()>& limits);
  // Since the last call (KernelPeaks).
  std::vector<KernelPeak> TakeKernelPeaks();
  // As LiveWindows.
  std::vector<LiveWindows::TaskLimitsOfJob> MemoryLimits(std::span<const JobId> jobs) const;
  // Jobs that were first met, or again, since the last call.
  std::vector<JobRecord> TakeNewJobs(Timestamp now, brain::When when);
  struct Relabelled {
    std::vector<SeriesMapper::MappedJob> jobs;           // that came with later series
    std::map<std::string, std::vector<Label>> settings;  // by job: SetSettingLabels
    Timestamp now;                                       // by the cell's clock
  };
  Relabelled TakeRelabelled(Timestamp now, brain::When when);
  // The cell's time, given the machine's; nullopt: where it is the samples' and there is none.
  std::optional<Timestamp> CellTime(Timestamp now) const;
  // Gives the log what came since the last time, and forgets what is stored. `all_stored`: no closed window
  // waits. sample_log_status() says how it went.
  void KeepSamples(bool all_stored);
  // Names and numbers of jobs and tasks.
  void WithMapper(absl::FunctionRef<void(SeriesMapper&)> use);

  // ---- restore: no other thread is there yet ----
  // Begins anew after what is stored; `fill` makes the jobs known.
  void Restore(std::optional<WindowId> last_window, absl::FunctionRef<void(SeriesMapper&)> fill);
  // OOM kills that are stored: agents may tell them again.
  void RememberOoms(std::span<const OomRecord> ooms);
  // Takes in the log's samples again. `on_damage`: what of it was lost.
  absl::Status ReplaySamples(std::optional<WindowId> last_window, History& history,
                             absl::FunctionRef<void(std::string_view)> on_damage);

 private:
  // Logs one series of a source's own, with one sample. REQUIRES: mutex_.
  void LogOwn(std::string_view metric, std::string_view packed, const RemoteSample& sample, Timestamp now,
              uint64_t kept_before);
  // All REQUIRE mutex_. Not OK: nothing is taken in just now.
  absl::Status CheckRoom();
  absl::Status RoomNow() const;
  // Where time is the samples' and it is unknown yet, most samples of a body decide.
  Timestamp NowForBody(std::string_view body, Timestamp now);
  // A request says that it is a time; `kept`: something of it was taken in.
  void Say(const SaidTime& said, bool kept);
  // Samples may have come.
  void NoteNewest() {
    clock_.Note(ingest_->windows().newest_sample(), ingest_->windows().newest_of_series());
    if (const Timestamp newest = ingest_->windows().newest_sample(); !first_heard_ && newest.us != INT64_MIN)
      first_heard_ = newest;
  }
  void LogWrite(std::string_view body, Timestamp now, uint64_t kept_before);
  void EndGap(Timestamp now);
  absl::Status KeepNewOoms(std::vector<OomSighting> sightings, History& history);

  const Options options_;
  const MappingRules mapping_;
  SampleLog* const samples_;
  const StatusBoard& board_;

  mutable std::mutex mutex_;
  std::unique_ptr<Ingest> ingest_;
  CellClock clock_;
  int waiting_windows_ = 0;
  std::atomic<bool> asks_for_starts_ = false;
  bool hold_windows_ = false, in_doubt_ = false;
  uint64_t deferred_writes_ = 0;
  std::vector<SaidTime> said_;
  std::optional<Timestamp> first_heard_;
  std::map<std::string, std::vector<Label>> setting_labels_;  // by job, since the last tick
  // OOM kills that were stored before this life: job, second, and limit in bytes (0: none).
  std::set<std::tuple<uint32_t, int64_t, double>> ooms_before_;
  StoredKills kills_before_;
  std::vector<OomSighting> replayed_ooms_;  // found by ReplaySamples, to be acted on
  absl::Status sample_log_status_;

  // Of the thread of the passes, and constant after a restore.
  int ticks_since_sync_ = 0;
  Timestamp growth_looked_{INT64_MIN};
  uint64_t replayed_samples_ = 0;
  std::optional<Timestamp> time_before_;
};

}  // namespace taut::server
