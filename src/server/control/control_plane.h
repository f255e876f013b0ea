// The daemon without its faces: samples in, windows closed, limits decided, stored, applied. Joins ingest,
// the live fleet, a store and an actuator; what is shown comes from snapshots. Time is an argument.
//
// Threads: ingest() from any thread; Tick from one; everything else from any. A pass lets others in between
// pieces of some hundred jobs. What a caller learns of a decision was stored before.
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
  // Each chunk of jobs is checkpointed once per this many windows: what a restart has to process again.
  int checkpoint_windows = 6;
  // That step and load jobs; 0: one a core. Changes no result.
  int threads = 0;
};

class ControlPlane {
 public:
  // All must outlive it. `steady_ms` is only asked to time the steps.
  struct Parts {
    Store* store = nullptr;
    History* history = nullptr;
    Actuator* actuator = nullptr;
    std::function<double()> steady_ms;
    SampleLog* samples = nullptr;             // null: samples of open windows do not outlive the daemon
    ExternalRecommender* external = nullptr;  // null: there is none
    // null: there is none. Nothing is decided in modes auto and canary before it has answered for the job.
    JobSettingsSource* owners = nullptr;
  };
  ControlPlane(const ControlOptions& options, MappingRules mapping, const Parts& parts);

  // Before anything else: jobs, settings, checkpoints, the windows since, and the samples of open windows.
  // What was lost to damage is in status().lost().
  absl::Status Restore();

  // ---- its parts ----
  LiveIngest& ingest() { return ingest_; }
  const LiveIngest& ingest() const { return ingest_; }
  TaskIntake& agents() { return agents_; }
  LatePasts& pasts() { return pasts_; }
  SharedStatus& status() { return status_; }
  const SharedStatus& status() const { return status_; }
  History& history() const { return *parts_.history; }

  // ---- the loop ----
  // Closes what is due, acts on OOM kills, decides, stores, applies: the whole loop, once. Not OK: the store
  // did not take it; called again it tries again.
  // kPast, for history from elsewhere (backfill): everything up to `now`, which may be earlier than it is, was
  // passed to LiveIngest::Take. Windows up to it are closed, stored and learnt from, and so are OOM kills; no
  // limit changes, and no job is moved. An OOM kill after `now` is acted on as by kNow.
  absl::Status Tick(Timestamp now, brain::When when = brain::When::kNow);
  // Writes all checkpoints, so that the next start is quick.
  absl::Status CheckpointAll();
  // One more listener; called in the order of registration. Before the first Tick.
  void OnTick(std::function<void(const TickEvents&)> listener) { committer_.OnTick(std::move(listener)); }

  // ---- settings (settings.cc) ----
  // A person's settings of one job, all or none, by one commit; an empty value takes one back. In force when
  // they are stored. InvalidArgument says all that is wrong with them; Unavailable: the store does not take
  // them, and nothing has changed.
  absl::StatusOr<std::vector<SettingChange>> SetMany(JobId id, std::span<const brain::KeyValue> settings,
                                                     std::string_view who);
  // Rules and settings of all jobs, as after a change of the configuration.
  void Reload(const brain::LiveSettings& settings);

  // ---- queries ----
  // The latest snapshot; never null.
  std::shared_ptr<const FleetView> view() const { return status_.view(); }
  std::optional<JobId> Find(std::string_view job) const { return fleet_.Read()->Find(job); }
  // Sets the number of each; absent: no series or window of the task has come lately. Locks for some hundred at a
  // time.
  void FindNumbers(std::span<PlacedTask* const> tasks) const;
  // Looks at a live job under its lock: be quick. False: no such job, `look` was not called.
  bool Look(JobId id, const std::function<void(const brain::LiveJob&)>& look) const;
  // Empty if there is no such job.
  Reason Explain(JobId id, Resource r) const { return fleet_.Read()->risk.Explain(id, r); }
  // As Look, at the whole fleet: its settings, and what it has learnt.
  void WithFleet(const std::function<void(const brain::LiveFleet&)>& use) const { use(*fleet_.Read()); }
  std::string_view actuator_name() const { return parts_.actuator->name(); }

 private:
  // What was restored may have been made while a clock was wrong: once, when the time is known again.
  void DistrustFuture(Timestamp now);
  // Those seen so far: of the past first.
  // Those that agents reported are stored with the next commit.
  void TakeTierActs(Timestamp now);
  absl::Status ActOnAllOoms(Timestamp now, brain::When when);
  // The owners' settings of jobs of the window that wait for them, once it says what the owner's amounts are.
  void AskOwners(const ClosedWindow& closed);
  // Of those seen: `count` from the first on.
  absl::Status ActOnOoms(size_t count, brain::When when);
  absl::Status ActOnGrowth();
  // Before the same kills are acted on.
  void LearnOfKilled(size_t count, brain::When when);
  // What an external recommender has answered since the last time.
  absl::Status ActOnExternal();
  // Jobs may keep the usage of starts apart from now on, or no longer.
  void PassOnStartups();
  absl::Status PassWaiting();
  absl::Status Pass(ClosedWindow closed, brain::When when);
  // Closed windows that the store does not have.
  int NotStored() const;
  // Jobs whose recommender was changed process their stored history again, some at a time.
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
  std::vector<std::string> lost_;  // by the restore, until it is over

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
  AgentIntake agents_;

  // Of the thread of the passes.
  struct Waiting {
    ClosedWindow closed;
    brain::When when = brain::When::kNow;
  };
  std::vector<Waiting> waiting_;
  std::vector<OomSighting> sightings_;  // not yet acted on
  bool distrusted_future_ = false;      // since the start
  uint64_t startups_version_ = 0;       // of FleetState::startups, passed on
  uint32_t history_cursor_ = 0;         // of LiveHistory::Wanted
};

}  // namespace taut::server
