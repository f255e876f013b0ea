// Settings of a job's owner: labels that are settings, and jobs that wait for them.
#include <algorithm>
#include <utility>

#include "brain/fleet/live_fleet.h"
#include "common/model/labels.h"

namespace taut::brain {

bool LiveFleet::SetSettingLabels(JobId id, std::span<const KeyValue> labels, int64_t now_s, PassOutput& out) {
  LiveJob& job = jobs_[id];
  if (!taut::SetSettingLabels(labels, job.record.labels)) return false;
  ++records_.labels;
  const std::shared_ptr<const JobPolicy> before = job.policy;
  Repolicy(job);
  if (job.policy == before) return true;
  RecommendAgain(job, NextWindow(now_s));
  const bool oom = !job.awaits_owner && std::exchange(job.oom_waits, false);
  for (const Resource r : kResources)
    DecideLane(job, r, now_s, oom && r == Resource::kMemory ? Why::kOom : Why::kSetting, out);
  DecideReplicasOf(job, now_s, out);
  EndHold(job, now_s, out);
  return true;
}

bool LiveFleet::KnowsOwner(JobId id) const {
  const LiveJob& job = jobs_[id];
  const LiveLane& memory = job.of(Resource::kMemory);
  if (memory.gate.in_force.has_value()) return true;
  return job.last_window.index != INT32_MIN && (job.measured_now || memory.owner().has_value());
}

void LiveFleet::LearnOwner(JobId id, double memory_bytes) {
  if (KnowsOwner(id)) return;
  LiveLane& lane = jobs_[id].of(Resource::kMemory);
  lane.owner_limit = lane.owner_before = static_cast<float>(memory_bytes);
  Changed(id);
}

std::vector<JobId> LiveFleet::AwaitingOwners(size_t limit, uint32_t& cursor) const {
  std::vector<JobId> out;
  if (!awaits_owners_) return out;
  if (cursor >= jobs_.end_id()) cursor = 0;
  for (; cursor < jobs_.end_id() && out.size() < limit; ++cursor) {
    const LiveJob* job = jobs_.Find(JobId{cursor});
    if (job != nullptr && job->awaits_owner) out.push_back(job->record.id);
  }
  return out;
}

bool LiveFleet::SettleOwner(JobId id, const std::vector<KeyValue>* labels, int64_t now_s, PassOutput& out) {
  LiveJob& job = jobs_[id].oom_waits ? Awake(id) : jobs_[id];
  job.awaits_owner = false;
  if (passed_.index != INT32_MIN && (job.oom_waits || job.setting_waits))
    now_s = std::max(now_s, passed_.next().start_s() + 1);  // as TakeOom
  const bool decides = std::exchange(job.setting_waits, false);
  const bool changed = labels != nullptr && SetSettingLabels(id, *labels, now_s, out);
  if (std::exchange(job.oom_waits, false)) DecideLane(job, Resource::kMemory, now_s, Why::kOom, out);
  if (!decides) return changed;
  for (const Resource r : kResources) DecideLane(job, r, now_s, Why::kSetting, out);
  return changed;
}

bool LiveFleet::WaitsForOwner(LiveJob& job, Why why) {
  const Mode mode = job.policy->mode;
  if (!job.awaits_owner || (mode != Mode::kAuto && mode != Mode::kCanary)) return false;
  job.oom_waits = job.oom_waits || why == Why::kOom;
  job.setting_waits = job.setting_waits || why == Why::kSetting;
  return true;
}

bool LiveFleet::WaitsForWindow(const LiveJob& job, Resource r) {
  const Mode mode = job.policy->mode;
  const LiveLane& lane = job.of(r);
  if (mode != Mode::kAuto && mode != Mode::kCanary) return false;
  if (job.measured_now || job.last_window.index == INT32_MIN) return false;
  return !lane.owner().has_value() && !lane.gate.in_force.has_value() && !lane.gate.trial.has_value();
}

WindowId LiveFleet::NextWindow(int64_t now_s) const {
  return passed_.index == INT32_MIN ? WindowId::Of(Timestamp::FromSeconds(now_s)).next() : passed_.next();
}

}  // namespace taut::brain
