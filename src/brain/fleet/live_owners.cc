#include "brain/fleet/live_owners.h"

#include <algorithm>
#include <utility>

#include "common/model/labels.h"

namespace taut::brain {

bool LiveOwners::SetLabels(JobId id, std::span<const KeyValue> labels, int64_t now_s, PassOutput& out) {
  LiveJob& job = s_.jobs[id];
  std::optional<JobRecord::Labels> all = WithSettingLabels(labels, job.record->labels);
  if (!all.has_value()) return false;
  JobRecord record = *job.record;
  record.labels = *std::move(all);
  Relabel(s_, job, std::move(record));
  const std::shared_ptr<const JobPolicy> before = job.policy;
  s_.Repolicy(job);
  if (job.policy == before) return true;
  const bool began = s_.passed.index != INT32_MIN;
  RecommendAgain(job, (began ? s_.passed : WindowId::Of(Timestamp::FromSeconds(now_s))).next());
  // A postponed kill is answered here, with the new settings, and not a second time in Settle.
  const bool oom = !job.awaits_owner && std::exchange(job.oom_waits, false);
  for (const Resource r : kResources)
    pass_.DecideLane(job, r, now_s, oom && r == Resource::kMemory ? Trigger::kOom : Trigger::kSetting, out);
  replicas_.Decide(job, now_s, out);
  replicas_.EndHold(job, now_s, out);
  return true;
}

bool LiveOwners::Knows(JobId id) const {
  const LiveJob& job = s_.jobs[id];
  const LiveLane& memory = job.of(Resource::kMemory);
  if (memory.gate.in_force.has_value()) return true;
  return job.last_window.index != INT32_MIN && (job.measured_now || memory.owner().has_value());
}

void LiveOwners::Learn(JobId id, double memory_bytes) {
  if (Knows(id)) return;
  LiveLane& lane = s_.jobs[id].of(Resource::kMemory);
  lane.owner_limit = lane.owner_before = static_cast<float>(memory_bytes);
  s_.Changed(id);
}

std::vector<JobId> LiveOwners::Awaiting(size_t limit, uint32_t& cursor) const {
  if (!s_.awaits_owners) return {};
  return FindJobsFrom(cursor, limit, s_, [](const LiveJob& job) { return job.awaits_owner; });
}

bool LiveOwners::Settle(JobId id, const std::vector<KeyValue>* labels, int64_t now_s, PassOutput& out) {
  LiveJob& job = s_.jobs[id].oom_waits ? s_.Awake(id) : s_.jobs[id];
  // This assignment must precede SetLabels, which decides only for a job that does not wait.
  job.awaits_owner = false;
  if (job.oom_waits || job.setting_waits) now_s = DecisionTime(s_, now_s);
  const bool decides = std::exchange(job.setting_waits, false);
  const bool changed = labels != nullptr && SetLabels(id, *labels, now_s, out);
  if (std::exchange(job.oom_waits, false))
    pass_.DecideLane(job, Resource::kMemory, now_s, Trigger::kOom, out);
  if (!decides) return changed;
  for (const Resource r : kResources) pass_.DecideLane(job, r, now_s, Trigger::kSetting, out);
  return changed;
}

}  // namespace taut::brain
