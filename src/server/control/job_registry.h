// Jobs that come, change their labels, go, and return: what ingest met becomes known to the fleet and the store.
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

// REQUIRES Committer::writer().
class JobRegistry {
 public:
  struct Options {
    // A job without usage for this time is forgotten: LiveDepartures::DueToForget.
    int forget_jobs_days = 30;
    // If its name returns within this many days more, it is the same job with the same history.
    int return_days = 30;
  };
  // All must outlive it.
  struct Parts {
    History& history;
    LiveIngest& ingest;
    SharedFleet& fleet;
    Committer& committer;
  };
  JobRegistry(const Options& options, const Parts& parts) : options_(options), parts_(parts) {}

  // Jobs that ingest met since the last time are known to the fleet, and unsaved. Before their first window is
  // stepped.
  void AddNewJobs(Timestamp now, brain::When when);
  // Labels of jobs that came with later series: those of their pods, mostly. Rules may set them otherwise now.
  void RelabelJobs(Timestamp now, brain::When when);
  // Once an hour: jobs whose tasks are gone. Windows must not wait that hold usage of a job.
  absl::Status ForgetJobs(WindowId now);

  // After a restart, the names and numbers of all jobs, and of those that were forgotten. `on_damage`: what is
  // lost of it.
  void Restore(const StoreEnds& ends, Store& store, absl::FunctionRef<void(std::string)> on_damage);

 private:
  void NoteNewJobs(Timestamp now, brain::When when);

  const Options options_;
  const Parts parts_;
  uint32_t next_job_ = 0;  // numbers below are, or were once, in the store
};

}  // namespace taut::server
