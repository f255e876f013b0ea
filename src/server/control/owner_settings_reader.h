// Requests owners' settings for the jobs that wait for them.
#pragma once

#include <cstdint>
#include <span>

#include "server/control/committer.h"
#include "server/control/job_settings.h"
#include "server/control/shared_fleet.h"

namespace taut::server {

// Every call REQUIRES Committer::writer().
class OwnerSettingsReader {
 public:
  // `source`: null if there is none; then no job waits. All arguments must outlive this object.
  OwnerSettingsReader(JobSettingsSource* source, SharedFleet& fleet, Committer& committer);

  // Requests the settings of up to 2,000 waiting jobs. If a round over more than 256 waiting jobs settles no job,
  // pauses for kRestSeconds, because the source has not read its data yet.
  void Step(int64_t now_s);
  static constexpr int64_t kRestSeconds = 5;
  // Requests the settings of these jobs, whether they wait or not. Adds changed labels to the unsaved state.
  // Returns the number of settled jobs.
  size_t Ask(std::span<const JobId> jobs, int64_t now_s);
  // Notes, for the jobs [first, last) of an observed window, whether an autoscaler keeps their requests
  // fixed. The caller holds the fleet's lock.
  void NoteRequests(const ClosedWindow& closed, size_t first, size_t last, brain::LiveFleet& fleet) const;

 private:
  // Returns the number of settled jobs.
  size_t AskSome(std::span<const JobId> jobs, int64_t now_s);

  JobSettingsSource* const source_;
  SharedFleet& fleet_;
  Committer& committer_;
  uint32_t cursor_ = 0;  // position in LiveOwners::Awaiting
  // Counts of the present round over all waiting jobs.
  size_t asked_ = 0, settled_ = 0;
  int64_t rests_since_s_ = INT64_MIN;  // start of the pause; INT64_MIN: no pause
};

}  // namespace taut::server
