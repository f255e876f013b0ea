#include "brain/fleet/replica_pass.h"

#include <algorithm>
#include <string>
#include <utility>

namespace taut::brain {
namespace {

// Longest gap without data of any job, in windows. In a longer gap, tautd is assumed to have received nothing.
constexpr int64_t kDeafWindows = 3;

}  // namespace

void ReplicaPass::Decide(LiveJob& job, int64_t now_s, PassOutput& out) {
  if (job.replicas == nullptr || (DecidesReplicas(*job.policy) && WaitsForOwner(job, Trigger::kWindow)))
    return;
  Verdict verdict = job.replicas->Decide(*job.policy, now_s);
  if (!verdict.kind.has_value()) {
    if (!job.policy->replica_policy.empty()) return;
    // The job's replica policy was removed, and the order was withdrawn.
    NoteHold(job, now_s, out);
    Drop(job);
    return;
  }
  if (verdict.kind != DecisionKind::kWouldSet) ++out.point.changes;
  Decision& d = s_.AddDecision(job, Target::Replicas(), now_s, verdict, out);
  if (d.kind != DecisionKind::kWouldSet) NoteOrder(d.id, job);
  if (!d.after.has_value()) return;
  Reason reason;
  job.replicas->Explain(reason);
  d.reason = SaveReason(reason);
}

void ReplicaPass::NoteOrder(uint64_t decision, LiveJob& job) {
  if (s_.IsOurs(job)) ForgetOrder(job);
  job.replicas->order().Note(decision);
  if (s_.IsOurs(job)) orders_[decision] = job.record->id;
}

void ReplicaPass::Drop(LiveJob& job) {
  if (s_.IsOurs(job)) ForgetOrder(job);
  job.replicas.reset();
}

bool ReplicaPass::NoteHold(LiveJob& job, int64_t now_s, PassOutput& out) {
  if (job.replicas == nullptr) return false;
  std::optional<ReplicaHoldChange> change = job.replicas->TakeHoldChange(now_s, DecidesReplicas(*job.policy));
  if (!change.has_value()) return false;
  out.holds.emplace_back(job.record->id, *std::move(change));
  return true;
}

void ReplicaPass::EndHold(LiveJob& job, int64_t now_s, PassOutput& out) {
  if (job.replicas == nullptr || DecidesReplicas(*job.policy)) return;
  NoteHold(job, now_s, out);
  const bool is_done = job.policy->replica_policy.empty() && !job.replicas->figures().in_force.has_value();
  if (is_done) Drop(job);
}

void ReplicaPass::TakeSilence(const ClosedWindow& closed, PassOutput& out) {
  // If no job was measured, tautd itself received nothing, and the jobs may run normally. The silence of a job
  // is therefore counted from the end of such a gap.
  if (closed.jobs.empty()) return;
  if (int64_t{closed.window.index} - heard_.index > kDeafWindows) heard_since_ = closed.window;
  heard_ = closed.window;
  const int64_t now_s = closed.window.next().start_s();
  for (LiveJob& job : s_.jobs) {
    if (job.replicas == nullptr || job.last_window >= closed.window) continue;
    const std::string hold(job.replicas->figures().hold);
    const size_t decisions = out.decisions.size();
    if (job.replicas->TakeUnmeasured(closed.window, heard_since_.start_s())) Decide(job, now_s, out);
    const bool noted = NoteHold(job, now_s, out);
    const bool same =
        job.replicas != nullptr && job.replicas->figures().hold == hold && out.decisions.size() == decisions;
    if (noted || !same) s_.Changed(job);
  }
}

// Calls RecommendAgain, because a recommender uses a new size only when it recommends.
void ReplicaPass::TakeTaskSize(LiveJob& job) const {
  const TaskSize size = job.replicas->figures().size;
  for (const Resource r : kResources) job.of(r).lane.recommender().TakeTaskSize(size);
  if (ScaledByOf(*job.policy) != VerticalSettings::ScaledBy::kNothing) RecommendAgain(s_, job);
}

void ReplicaPass::KeepOrder(const LiveJob& job) {
  if (job.replicas != nullptr && job.replicas->order().id != 0)
    orders_[job.replicas->order().id] = job.record->id;
}

void ReplicaPass::ForgetOrder(const LiveJob& job) {
  if (job.replicas != nullptr) orders_.erase(job.replicas->order().id);
}

void ReplicaPass::TakeOutcome(uint64_t decision, Outcome outcome) {
  const auto it = orders_.find(decision);
  if (it == orders_.end()) return;
  LiveJob* const job = s_.jobs.Find(it->second);
  if (job != nullptr && job->replicas != nullptr && job->replicas->order().TakeOutcome(decision, outcome))
    s_.Changed(*job);
}

}  // namespace taut::brain
