// Passes changes of jobs (new, relabelled, departed and returned jobs) from the ingest to the fleet and the store.
#pragma once

#include <functional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/control/committer.h"
#include "server/control/live_ingest.h"
#include "server/control/shared_fleet.h"
#include "server/store/store.h"

namespace taut::server {

// Every call REQUIRES Committer::writer().
class JobRegistry {
 public:
  struct Options {
    // Days without usage after which a job is forgotten (LiveDepartures::DueToForget).
    int forget_jobs_days = 30;
    // Further days after which a forgotten job loses its number and history. If the job returns earlier, it keeps
    // both.
    int return_days = 30;
  };
  // All objects must outlive the registry.
  struct Parts {
    History& history;
    LiveIngest& ingest;
    SharedFleet& fleet;
    Committer& committer;
  };
  JobRegistry(const Options& options, const Parts& parts) : options_(options), parts_(parts) {}

  // Adds jobs first seen since the last call to the fleet and to the unsaved state. Called before the first window
  // of these jobs is stepped.
  void AddNewJobs(Timestamp now, brain::When when);
  // Updates labels of jobs whose later series carried new labels, mostly labels of pods. Other policy rules may
  // match a job after the update.
  void RelabelJobs(Timestamp now, brain::When when);
  // Forgets the jobs that are due (Options::forget_jobs_days). Has an effect once an hour. REQUIRES that no closed
  // window waits for its pass.
  absl::Status ForgetJobs(WindowId now);

  // Restores the names and numbers of all jobs, including forgotten jobs. Calls `on_damage` with a sentence for
  // each part that is lost.
  void Restore(const StoreEnds& ends, Store& store, absl::FunctionRef<void(std::string)> on_damage);

 private:
  void NoteNewJobs(Timestamp now, brain::When when);

  const Options options_;
  const Parts parts_;
  uint32_t next_job_ = 0;  // number of the next new job; lower numbers are or were in the store
};

}  // namespace taut::server
