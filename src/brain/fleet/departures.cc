// Jobs whose tasks are gone: their lanes become bytes after hours, and they are forgotten after days.
#include <algorithm>

#include "brain/fleet/live_fleet.h"
#include "brain/fleet/live_starts.h"

namespace taut::brain {
namespace {

constexpr int32_t kAwakeWindows = 2 * kWindowsPerHour;
constexpr WindowId kSaved{INT32_MAX};

// The window in which the job was last there: a job that was never measured was there when it was first seen.
WindowId LastSeen(const LiveJob& job) {
  if (job.last_window.index != INT32_MIN) return job.last_window;
  return WindowId::Of(Timestamp::FromSeconds(job.record.first_seen_s));
}

}  // namespace

bool LiveFleet::IsGone(const LiveJob& job, WindowId now) {
  return int64_t{now.index} - LastSeen(job).index > kAwakeWindows;
}

std::vector<JobId> LiveFleet::DueToForget(WindowId now, int32_t forget_after_days, size_t limit) const {
  std::vector<JobId> due;
  const int64_t longest = int64_t{forget_after_days} * kWindowsPerDay;
  for (const LiveJob& job : jobs_) {
    if (due.size() == limit) break;
    const WindowId last = LastSeen(job);
    const int64_t idle = int64_t{now.index} - last.index;
    const WindowId first = WindowId::Of(Timestamp::FromSeconds(job.record.first_seen_s));
    // A name that was never measured was mostly that of tasks whose owner was not known yet.
    const bool measured = job.last_window.index != INT32_MIN;
    const int64_t lived =
        std::max<int64_t>(int64_t{last.index} - first.index, measured ? kWindowsPerDay : kAwakeWindows);
    if (idle > std::min(longest, lived)) due.push_back(job.record.id);
  }
  return due;
}

void LiveFleet::Forget(JobId id) {
  LiveJob* job = jobs_.Find(id);
  if (job == nullptr) return;
  Changed(*job);
  if (!job->overrides.empty()) settings_of_gone_[job->record.name] = std::move(job->overrides);
  if (job->replicas != nullptr) replica_orders_.erase(job->replicas->order());
  ids_.Erase(job->record.name);
  ++records_.jobs;
  ++records_.labels;  // should it come back, it may have others
  startups_version_ += startups_.erase(id.value);
  jobs_.Erase(id);
}

void LiveFleet::WantHistoryOf(JobId id) {
  if (LiveJob* job = jobs_.Find(id); job != nullptr) job->WantHistory();
}

void LiveFleet::PutToSleep(WindowId now) {
  for (LiveJob& job : jobs_) {
    if (!job.sleeps() && !job.needs_history() && IsGone(job, now)) job.Sleep();
  }
}

void LiveFleet::Wake(LiveJob& job) const {
  for (const Resource r : kResources) {
    LiveLane& lane = job.of(r);
    if (!lane.lane.sleeps()) continue;
    const PackedText state = std::move(lane.asleep);
    // Other settings or another version than it was saved with may not be able to read it.
    if (!lane.lane.Wake(NewRecommenderOf(job, r), state).ok()) lane.needs_history = true;
  }
}

LiveJob& LiveFleet::Awake(JobId id) {
  LiveJob& job = jobs_[id];
  Wake(job);
  return job;
}

Reason LiveFleet::Explain(JobId id, Resource r) const {
  Reason reason;
  const LiveJob* job = jobs_.Find(id);
  if (job == nullptr) return reason;
  const LiveLane& lane = job->of(r);
  reason.SetRisk(RiskOf(*job, r, passed_.day()));
  if (!lane.lane.sleeps()) {
    ExplainLane(*job, r, reason);
    return reason;
  }
  Lane copy(nullptr);
  if (copy.Wake(NewRecommenderOf(*job, r), lane.asleep).ok()) copy.recommender().Explain(reason);
  if (r == Resource::kCpu) ExplainStarts(*job, SetsStarts(), reason);
  if (r == Resource::kMemory) ExplainNeeded(*job, reason);
  return reason;
}

// ---- what checkpoints do not have ----

void LiveFleet::Changed(JobId id) {
  const uint32_t chunk = id.value / kChunkJobs;
  if (chunk >= changed_since_.size()) changed_since_.resize(chunk + 1, kSaved);
  changed_since_[chunk] = std::min(changed_since_[chunk], now_);
}

std::optional<WindowId> LiveFleet::ChangedSince(uint32_t chunk) const {
  if (chunk >= changed_since_.size() || changed_since_[chunk] == kSaved) return std::nullopt;
  return changed_since_[chunk];
}

void LiveFleet::MarkSaved(uint32_t chunk) {
  if (chunk < changed_since_.size()) changed_since_[chunk] = kSaved;
}

size_t LiveFleet::state_bytes() const {
  size_t bytes = jobs_.table_bytes() + ids_.state_bytes();
  for (const LiveJob& job : jobs_) {
    bytes += sizeof(job) + job.record.name.capacity() + job.notice.heap_bytes();
    if (job.starts != nullptr) bytes += sizeof(*job.starts) + job.starts->peaks.heap_bytes();
    for (const auto& [key, value] : job.record.labels) {
      bytes += sizeof(job.record.labels[0]) + key.capacity() + value.capacity();
    }
    for (const LiveLane& lane : job.lanes) {
      bytes += lane.hold.heap_bytes() + lane.asleep.heap_bytes();
      if (lane.limit_risk.has_value()) bytes += sizeof(LimitRisk);
      if (!lane.lane.sleeps()) bytes += lane.lane.recommender().state_bytes();
    }
  }
  return bytes;
}

}  // namespace taut::brain
