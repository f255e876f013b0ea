#include "brain/fleet/live_history.h"

#include <algorithm>
#include <utility>

#include "brain/fleet/live_starts.h"
#include "common/model/said_replicas.h"

namespace taut::brain {

std::vector<JobId> LiveHistory::Wanted(size_t limit, uint32_t& cursor) const {
  return FindJobsFrom(cursor, limit, s_, [](const LiveJob& job) { return job.needs_history(); });
}

void LiveHistory::Want(JobId id) {
  if (LiveJob* job = s_.jobs.Find(id); job != nullptr) job->WantHistory();
}

void LiveHistory::WantOfChunk(uint32_t chunk) {
  for (uint32_t i = chunk * FleetState::kChunkJobs; i < (chunk + 1) * FleetState::kChunkJobs; ++i) {
    LiveJob* job = s_.jobs.Find(JobId{i});
    if (job == nullptr) continue;
    job->lost = true;
    job->WantHistory();
  }
}

Lane LiveHistory::Relived(const LiveJob& job, const StoredHistory& history) {
  ManagedLane lane{Lane(s_.NewRecommenderOf(job, history.resource))};
  const auto nothing = [](const Signal&, std::span<const OomRecord>) {};
  const auto close = [&](const Signal& s, std::span<const OomRecord>) {
    Signal seen = s;
    if (seen.cut_at.has_value()) seen.limit = seen.cut_at;
    JobStepper(history.resource, lane)
        .Observe({.resource = history.resource, .signal = &seen, .reports = {}});
  };
  StepHistory(history, signals_, lane, {.begins = nothing, .closes = close});
  return std::move(lane.lane);
}

void LiveHistory::Retrain(JobId id, std::span<const JobDay> days, std::span<const OomRecord> ooms,
                          std::span<const Decision> decisions) {
  LiveJob& job = s_.jobs[id];
  s_.Changed(job);
  int32_t begun = job.day;
  if (!days.empty()) begun = std::max(s_.day, days.back().day);
  if (days.empty() && s_.day != INT32_MIN) begun = s_.day;
  // True if some lanes keep their state.
  const bool keeps = job.needs_history() && !std::ranges::all_of(job.lanes, &LiveLane::needs_history);
  if (keeps) {
    s_.Wake(job);
    if (begun > job.day) StartDay(job, begun);
  }
  for (const Resource r : kResources) {
    LiveLane& lane = job.of(r);
    if (keeps && !lane.needs_history) continue;
    lane.lane = Relived(job, {.resource = r,
                              .days = days,
                              .ooms = ooms,
                              .decisions = decisions,
                              .open_day = s_.day,
                              .memory_signal = job.policy->memory_signal});
    lane.asleep.clear();
    lane.limit_risk.reset();
  }
  if (std::unique_ptr<LiveReplicas> fresh = LiveReplicas::For(*job.policy); fresh != nullptr) {
    for (const JobDay& day : days) {
      signals_.Build(day, Resource::kMemory, job.policy->memory_signal);
      for (const Signal& signal : signals_.signals()) fresh->ObserveMemory(signal, signal.owner_limit);
      signals_.Build(day, Resource::kCpu);
      for (const Signal& signal : signals_.signals())
        fresh->Observe(signal, signal.owner_limit, SizeUse::kOwners, nullptr, {SaidOf(signal.named)});
    }
    fresh->EndPast(job.replicas.get());
    job.replicas = std::move(fresh);
    replicas_.TakeTaskSize(job);
  }
  RestoreStarts(days, job);
  job.day = begun;
  for (LiveLane& lane : job.lanes) {
    lane.needs_history = false;
    lane.RefreshRisk();
  }
}

}  // namespace taut::brain
