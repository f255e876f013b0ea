// The tasks of trials: the fleet counts them by number, actuators know them by name, and a restart gives out
// numbers anew.
#include "control/trials.h"

#include <algorithm>

#include "control/control_plane.h"
#include "control/unsaved.h"

namespace taut {
namespace {

// One lane's trial, copied out so that only one lock is held at a time.
struct Members {
  JobId job;
  Resource resource = Resource::kCpu;
  std::vector<TrialTask> tasks;
};

std::vector<Members> MembersOf(const LiveFleet& fleet, std::span<const JobId> jobs) {
  std::vector<Members> out;
  for (const JobId id : jobs) {
    for (const Resource r : kResources) {
      const Boxed<Trial>& trial = fleet.job(id).of(r).gate.trial;
      if (trial.has_value() && !trial->watched) out.push_back({id, r, trial->members});
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> TrialNames(const GateState& gate, uint64_t decision) {
  std::vector<std::string> names;
  if (!gate.trial.has_value() || gate.trial->decision != decision) return names;
  for (const TrialTask& t : gate.trial->members) {
    if (!t.name.empty()) names.push_back(t.name);
  }
  return names;
}

void ControlPlane::FindTrialTasks() {
  std::vector<Members> all;
  {
    const std::unique_lock fleet(fleet_mutex_);
    const std::vector<JobId> jobs = fleet_.Trials();
    if (jobs.empty()) return;
    all = MembersOf(fleet_, jobs);
  }
  {
    const std::lock_guard lock(ingest_mutex_);
    for (Members& m : all) {
      for (TrialTask& t : m.tasks) {
        t.number = ingest_->mapper().FindTask(m.job, t.name).value_or(TrialTask::kGone);
      }
    }
  }
  const std::unique_lock fleet(fleet_mutex_);
  for (Members& m : all) fleet_.SetTrialTasks(m.job, m.resource, std::move(m.tasks));
}

void ControlPlane::NameTrialTasks() {
  std::vector<JobId>& jobs = unsaved_->output.trials;
  if (jobs.empty()) return;
  std::vector<Members> all;
  {
    const std::shared_lock fleet(fleet_mutex_);
    all = MembersOf(fleet_, jobs);
  }
  std::vector<std::pair<JobId, uint32_t>> unnamed;
  for (const Members& m : all) {
    for (const TrialTask& t : m.tasks) {
      if (t.name.empty()) unnamed.emplace_back(m.job, t.number);
    }
  }
  // Both resources of a job may have taken the same task.
  std::sort(unnamed.begin(), unnamed.end());
  unnamed.erase(std::unique(unnamed.begin(), unnamed.end()), unnamed.end());
  std::vector<std::string> names;
  {
    const std::lock_guard lock(ingest_mutex_);
    names = ingest_->mapper().TaskNames(unnamed);
  }
  for (Members& m : all) {
    for (TrialTask& t : m.tasks) {
      if (!t.name.empty()) continue;
      const auto at = std::lower_bound(unnamed.begin(), unnamed.end(), std::pair(m.job, t.number));
      t.name = names[static_cast<size_t>(at - unnamed.begin())];
    }
    // One that ended since its window is not on trial.
    std::erase_if(m.tasks, [](const TrialTask& t) { return t.name.empty(); });
  }
  const std::unique_lock fleet(fleet_mutex_);
  for (Members& m : all) fleet_.SetTrialTasks(m.job, m.resource, std::move(m.tasks));
  unsaved_->trials.insert(unsaved_->trials.end(), jobs.begin(), jobs.end());
  jobs.clear();
}

void ControlPlane::ExtendTrials() {
  std::vector<TargetOrder> orders;
  for (const JobId id : unsaved_->trials) {
    const std::shared_lock fleet(fleet_mutex_);
    const LiveJob& job = fleet_.job(id);
    if (!fleet_.Enforced(job)) continue;  // nothing is applied: the outcome of the first order stands
    for (const Resource r : kResources) {
      const GateState& gate = job.of(r).gate;
      if (!gate.trial.has_value() || gate.trial->decision == 0) continue;
      const uint64_t decision = gate.trial->decision;
      const auto began = [decision](const Decision& d) { return d.id == decision; };
      const std::vector<Decision>& now = unsaved_->output.decisions;
      if (std::any_of(now.begin(), now.end(), began)) continue;  // ordered with its decision
      orders.push_back({decision, job.record.name, r, gate.trial->limit, TrialNames(gate, decision)});
    }
  }
  if (!orders.empty()) parts_.actuator->Apply(orders, now().seconds());
}

}  // namespace taut
