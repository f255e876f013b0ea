// Asks the source of owners' settings for the jobs that wait for them.
#pragma once

#include <cstdint>
#include <span>

#include "server/control/committer.h"
#include "server/control/job_settings.h"
#include "server/control/shared_fleet.h"

namespace taut::server {

// REQUIRES Committer::writer().
class OwnerSettingsReader {
 public:
  // `source`: null if there is none: no job waits. All must outlive it.
  OwnerSettingsReader(JobSettingsSource* source, SharedFleet& fleet, Committer& committer);

  // Asks for the next jobs that wait, a bounded number. A round over many jobs that settled none is followed by a
  // rest of kRestSeconds: their source has not read what they wait for.
  void Step(int64_t now_s);
  static constexpr int64_t kRestSeconds = 5;
  // Asks for these jobs, whether they wait or not. What has changed of their labels is unsaved.
  // Returns how many of them were settled.
  size_t Ask(std::span<const JobId> jobs, int64_t now_s);
  // Notes whose request stays, of these jobs of a window that was observed.
  void NoteRequests(const ClosedWindow& closed, size_t first, size_t last, brain::LiveFleet& fleet) const;

 private:
  // Returns how many of them were settled.
  size_t AskSome(std::span<const JobId> jobs, int64_t now_s);

  JobSettingsSource* const source_;
  SharedFleet& fleet_;
  Committer& committer_;
  uint32_t cursor_ = 0;  // of LiveOwners::Awaiting
  // Of the round over all jobs that Step is in.
  size_t asked_ = 0, settled_ = 0;
  int64_t rests_since_s_ = INT64_MIN;  // INT64_MIN: it does not rest
};

}  // namespace taut::server
