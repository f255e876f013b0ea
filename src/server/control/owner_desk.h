// Asks the source of owners' settings for the jobs that wait for them.
#pragma once

#include <cstdint>
#include <span>

#include "server/control/committer.h"
#include "server/control/job_settings.h"
#include "server/control/shared_fleet.h"

namespace taut::server {

// REQUIRES Committer::writer().
class OwnerDesk {
 public:
  // `source`: null if there is none: no job waits. All must outlive it.
  OwnerDesk(JobSettingsSource* source, SharedFleet& fleet, Committer& committer);

  // Asks for the next jobs that wait, a bounded number.
  void Step(int64_t now_s);
  // Asks for these jobs, whether they wait or not. What has changed of their labels is unsaved.
  void Ask(std::span<const JobId> jobs, int64_t now_s);
  // Notes whose request stays, of these jobs of a window that was observed.
  void NoteRequests(const ClosedWindow& closed, size_t first, size_t last, brain::LiveFleet& fleet) const;

 private:
  void AskSome(std::span<const JobId> jobs, int64_t now_s);

  JobSettingsSource* const source_;
  SharedFleet& fleet_;
  Committer& committer_;
  uint32_t cursor_ = 0;  // of LiveOwners::Awaiting
};

}  // namespace taut::server
