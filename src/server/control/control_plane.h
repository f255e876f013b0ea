// The core of the daemon, without its front ends: it receives samples, closes windows, and decides, stores and
// applies limits. The control plane connects ingest, the live fleet, a store and an actuator. Queries read
// snapshots. Time is an argument.
//
// Threads: one thread calls Tick; all other calls are thread-safe. A pass releases the lock of the fleet
// after every few hundred jobs. A decision is stored before any caller can read it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/actuator.h"
#include "server/control/agent_intake.h"
#include "server/control/checkpointer.h"
#include "server/control/committer.h"
#include "server/control/external_recommender.h"
#include "server/control/forest_trainer.h"
#include "server/control/job_registry.h"
#include "server/control/late_pasts.h"
#include "server/control/live_ingest.h"
#include "server/control/owner_settings_reader.h"
#include "server/control/placement.h"
#include "server/control/shared_fleet.h"
#include "server/control/shared_status.h"
#include "server/control/tier_act_queue.h"
#include "server/control/view_maker.h"
#include "server/store/sample_log.h"
#include "server/store/store.h"

namespace taut::server {

struct ControlOptions {
  LiveIngest::Options ingest;
  JobRegistry::Options jobs;
  brain::LiveSettings live;
  // Number of windows between two checkpoints of a chunk of jobs. A restart processes at most this number of
  // windows again.
  int checkpoint_windows = 6;
  // Number of threads that step and load jobs; 0: one per core. The number does not change results.
  int threads = 0;
};

class ControlPlane {
 public:
  // All parts must outlive the control plane. `steady_ms` returns a monotonic time in milliseconds, which
  // only measures the durations of steps.
  struct Parts {
    Store* store = nullptr;
    History* history = nullptr;
    Actuator* actuator = nullptr;
    std::function<double()> steady_ms;
    SampleLog* samples = nullptr;  // log of samples; null: a stop of the daemon loses samples of open windows
    ExternalRecommender* external = nullptr;  // external recommender; null if none is configured
    // Source of the owners' settings; null if there is none. In modes auto and canary, no decision is made
    // for a job before this source has answered.
    JobSettingsSource* owners = nullptr;
  };
  ControlPlane(const ControlOptions& options, MappingRules mapping, const Parts& parts);

  // Restores jobs, settings, checkpoints, the windows since the checkpoints, and the samples of open windows.
  // Called before all other functions. status().lost() describes data that was lost because the store is damaged.
  absl::Status Restore();

  // ---- parts of the control plane ----
  LiveIngest& ingest() { return ingest_; }
  const LiveIngest& ingest() const { return ingest_; }
  TaskIntake& agents() { return agents_; }
  LatePasts& pasts() { return pasts_; }
  SharedStatus& status() { return status_; }
  const SharedStatus& status() const { return status_; }
  History& history() const { return *parts_.history; }

  // ---- the loop ----
  // Runs one iteration of the loop: closes the windows that are due, acts on OOM kills, decides, stores and
  // applies. Returns the store's error; the next call retries.
  //
  // kPast is for backfilled history, whose samples up to `now` were already passed to SampleIntake::Take; `now`
  // may lie in the past. Windows and OOM kills up to `now` are stored and used for training, but no limit changes
  // and no job is moved. An OOM kill after `now` is handled as with kNow.
  absl::Status Tick(Timestamp now, brain::When when = brain::When::kNow);
  // Writes all checkpoints, so that the next start is fast. O(jobs).
  absl::Status CheckpointAll();
  // Adds a listener. Listeners are called in the order of registration. Called before the first Tick.
  void OnTick(std::function<void(const TickEvents&)> listener) { committer_.OnTick(std::move(listener)); }

  // ---- settings (settings.cc) ----
  // Changes settings of one job, all or none, in one commit. An empty value removes a setting. The changes
  // take effect once they are stored. Returns NotFound if there is no such job, InvalidArgument with every
  // error, and Unavailable if the store failed and nothing changed.
  absl::StatusOr<std::vector<SettingChange>> SetMany(JobId id, std::span<const brain::KeyValue> settings,
                                                     std::string_view who);
  // Replaces the rules and settings of all jobs, after a change of the configuration.
  void Reload(const brain::LiveSettings& settings);

  // ---- queries ----
  // Returns the latest snapshot; never null.
  std::shared_ptr<const FleetView> view() const { return status_.view(); }
  // Returns the number of the job with this name; nullopt if it is unknown. O(1).
  std::optional<JobId> Find(std::string_view job) const { return fleet_.Read()->Find(job); }
  // Sets the number of each task. The number is absent if no series or window of the task arrived lately. Acquires
  // the locks once per few hundred tasks.
  void FindNumbers(std::span<PlacedTask* const> tasks) const;
  // Calls `look` on a live job under the fleet's lock; `look` must be short. Returns false, without a call,
  // if the fleet does not have the job.
  bool Look(JobId id, const std::function<void(const brain::LiveJob&)>& look) const;
  // Returns the reason of the job's recommendation; an empty reason if there is no such job.
  Reason Explain(JobId id, Resource r) const { return fleet_.Read()->risk.Explain(id, r); }
  // Calls `use` on the fleet, its settings and its models under the fleet's lock. `use` must be short.
  void WithFleet(const std::function<void(const brain::LiveFleet&)>& use) const { use(*fleet_.Read()); }
  std::string_view actuator_name() const { return parts_.actuator->name(); }

 private:
  // Discards restored timestamps in the future. Only the first call after the time is known has an effect.
  void DistrustFuture(Timestamp now);
  // Adds acts of agents' memory guards to the unsaved state; the next commit stores them.
  void TakeTierActs(Timestamp now);
  // Acts on all OOM kills that have arrived. Acts first on kills of the past, with kPast.
  absl::Status ActOnAllOoms(Timestamp now, brain::When when);
  // Requests the owners' settings for the jobs that wait for settings and were measured in the window. Called
  // after the fleet has received the owners' amounts of this window.
  void AskOwners(const ClosedWindow& closed);
  // Acts on the first `count` OOM kills in sightings_.
  absl::Status ActOnOoms(size_t count, brain::When when);
  absl::Status ActOnGrowth();
  // Requests the settings, and reads the limits, of the jobs of the first `count` OOM kills. Called before
  // ActOnOoms.
  void LearnOfKilled(size_t count, brain::When when);
  // Applies the answers that an external recommender returned since the last call. Returns the store's error.
  absl::Status ActOnExternal();
  // Passes the list of jobs with separate start-up usage to the ingest, if the list has changed.
  void PassOnStartups();
  absl::Status PassWaiting();
  absl::Status Pass(ClosedWindow closed, brain::When when);
  // Returns the number of closed windows that are not stored yet.
  int NotStored() const;
  // Retrains a few jobs whose recommender has changed, from their stored history.
  absl::Status RetrainSome();
  void Maintain(WindowId window);

  // ---- restore.cc ----
  struct Restored;
  absl::Status RestoreJobs(Restored& restored);
  absl::Status RestoreCheckpoint(const Checkpoint& checkpoint, Restored& restored);
  void FindChunksToRead(Restored& restored);
  absl::Status RestoreSince(const Restored& restored);
  absl::Status RestoreWithoutWindows();
  absl::Status RememberFailedOrders();
  absl::Status SendAgain(std::span<const Decision> since_checkpoints);
  absl::Status ShowRestored(const Restored& restored);

  const Parts parts_;
  std::vector<std::string> lost_;  // sentences about lost data; empty after the restore

  SharedStatus status_;
  LiveIngest ingest_;
  SharedFleet fleet_;
  ViewMaker views_;
  Committer committer_;
  Checkpointer checkpointer_;
  JobRegistry jobs_;
  OwnerSettingsReader owners_;
  LatePasts pasts_;
  TierActQueue tier_acts_;
  ForestTrainer trainer_;
  AgentIntake agents_;

  // The members below are used only by the thread that runs the passes.
  struct Waiting {
    ClosedWindow closed;
    brain::When when = brain::When::kNow;
  };
  std::vector<Waiting> waiting_;
  std::vector<OomSighting> sightings_;  // OOM kills that no tick has acted on
  bool distrusted_future_ = false;      // true once DistrustFuture has taken effect
  uint64_t startups_version_ = 0;       // version of FleetState::startups that the ingest received last
  uint32_t history_cursor_ = 0;         // position of LiveHistory::Wanted
};

}  // namespace taut::server
