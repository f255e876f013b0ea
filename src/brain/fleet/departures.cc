#include "brain/fleet/departures.h"

#include <algorithm>
#include <utility>

namespace taut::brain {
namespace {

constexpr int32_t kAwakeWindows = 2 * kWindowsPerHour;

// Returns the last window in which the job was measured, or the window of its first appearance if it was never
// measured.
WindowId LastSeen(const LiveJob& job) {
  if (job.last_window.index != INT32_MIN) return job.last_window;
  return WindowId::Of(Timestamp::FromSeconds(job.record->first_seen_s));
}

}  // namespace

bool IsGone(const LiveJob& job, WindowId now) {
  return int64_t{now.index} - LastSeen(job).index > kAwakeWindows;
}

void PutToSleep(WindowId now, FleetState& state) {
  for (LiveJob& job : state.jobs) {
    if (!job.sleeps() && !job.needs_history() && IsGone(job, now)) job.Sleep();
  }
}

std::vector<JobId> LiveDepartures::DueToForget(WindowId now, int32_t forget_after_days, size_t limit) const {
  std::vector<JobId> due;
  const int64_t longest = int64_t{forget_after_days} * kWindowsPerDay;
  for (const LiveJob& job : s_.jobs) {
    if (due.size() == limit) break;
    const WindowId last = LastSeen(job);
    const int64_t idle = int64_t{now.index} - last.index;
    const WindowId first = WindowId::Of(Timestamp::FromSeconds(job.record->first_seen_s));
    // Jobs that were never measured are forgotten sooner, because most of them were created for tasks whose
    // owner was not known yet.
    const bool measured = job.last_window.index != INT32_MIN;
    const int64_t lived =
        std::max<int64_t>(int64_t{last.index} - first.index, measured ? kWindowsPerDay : kAwakeWindows);
    if (idle > std::min(longest, lived)) due.push_back(job.record->id);
  }
  return due;
}

void LiveDepartures::Forget(JobId id) {
  LiveJob* job = s_.jobs.Find(id);
  if (job == nullptr) return;
  s_.Changed(*job);
  if (!job->overrides.empty()) s_.settings_of_gone[job->record->name] = std::move(job->overrides);
  replicas_.ForgetOrder(*job);
  s_.ids.Erase(job->record->name);
  ++s_.records.jobs;
  ++s_.records.labels;  // a returning job may have other labels
  s_.startups_version += s_.startups.erase(id.value);
  s_.jobs.Erase(id);
}

}  // namespace taut::brain
