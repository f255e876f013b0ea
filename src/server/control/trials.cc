#include "server/control/trials.h"

#include <algorithm>

namespace taut::server {
namespace {

// The trial of one lane, copied so that only one lock is held at a time.
struct Members {
  JobId job;
  Resource resource = Resource::kCpu;
  std::vector<brain::TrialTask> tasks;
};

std::vector<Members> MembersOf(const brain::LiveFleet& fleet, std::span<const JobId> jobs) {
  std::vector<Members> out;
  for (const JobId id : jobs) {
    for (const Resource r : kResources) {
      const Boxed<brain::Trial>& trial = fleet.job(id).of(r).gate.trial;
      if (trial.has_value() && !trial->watched) out.push_back({id, r, trial->members});
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> TrialNames(const brain::GateState& gate, uint64_t decision) {
  std::vector<std::string> names;
  if (!gate.trial.has_value() || gate.trial->decision != decision) return names;
  for (const brain::TrialTask& t : gate.trial->members) {
    if (!t.name.empty()) names.push_back(t.name);
  }
  return names;
}

void FindTrialTasks(SharedFleet& fleet, LiveIngest& ingest) {
  std::vector<Members> all;
  {
    const auto live = fleet.Write();
    const std::vector<JobId> jobs = live->trials.Running();
    if (jobs.empty()) return;
    all = MembersOf(*live, jobs);
  }
  ingest.jobs.WithMapper([&](SeriesMapper& mapper) {
    for (Members& m : all) {
      for (brain::TrialTask& t : m.tasks)
        t.number = mapper.jobs().tasks.Find(m.job, t.name).value_or(brain::TrialTask::kGone);
    }
  });
  const auto live = fleet.Write();
  for (Members& m : all) live->trials.SetTasks(m.job, m.resource, std::move(m.tasks));
}

void NameTrialTasks(SharedFleet& fleet, LiveIngest& ingest, Unsaved& unsaved) {
  std::vector<JobId>& jobs = unsaved.output.trials;
  if (jobs.empty()) return;
  std::vector<Members> all = MembersOf(*fleet.Read(), jobs);
  std::vector<std::pair<JobId, uint32_t>> unnamed;
  for (const Members& m : all) {
    for (const brain::TrialTask& t : m.tasks) {
      if (t.name.empty()) unnamed.emplace_back(m.job, t.number);
    }
  }
  // CPU and memory of a job may have selected the same task.
  std::sort(unnamed.begin(), unnamed.end());
  unnamed.erase(std::unique(unnamed.begin(), unnamed.end()), unnamed.end());
  std::vector<std::string> names;
  ingest.jobs.WithMapper([&](SeriesMapper& mapper) { names = mapper.jobs().tasks.Names(unnamed); });
  for (Members& m : all) {
    for (brain::TrialTask& t : m.tasks) {
      if (!t.name.empty()) continue;
      const auto at = std::lower_bound(unnamed.begin(), unnamed.end(), std::pair(m.job, t.number));
      t.name = names[static_cast<size_t>(at - unnamed.begin())];
    }
    // A task that ended since its window is not on trial.
    std::erase_if(m.tasks, [](const brain::TrialTask& t) { return t.name.empty(); });
  }
  const auto live = fleet.Write();
  for (Members& m : all) live->trials.SetTasks(m.job, m.resource, std::move(m.tasks));
  unsaved.trials.insert(unsaved.trials.end(), jobs.begin(), jobs.end());
  jobs.clear();
}

std::vector<TargetOrder> TrialExtensions(const SharedFleet& shared, const Unsaved& unsaved) {
  std::vector<TargetOrder> orders;
  for (const JobId id : unsaved.trials) {
    const auto fleet = shared.Read();
    const brain::LiveJob& job = fleet->job(id);
    if (!fleet->Enforced(job)) continue;  // nothing is applied, so no order is extended
    for (const Resource r : kResources) {
      const brain::GateState& gate = job.of(r).gate;
      if (!gate.trial.has_value() || gate.trial->decision == 0) continue;
      const uint64_t decision = gate.trial->decision;
      const auto began = [decision](const Decision& d) { return d.id == decision; };
      const std::vector<Decision>& now = unsaved.output.decisions;
      if (std::any_of(now.begin(), now.end(), began)) continue;  // this commit orders the decision
      orders.push_back({decision, job.record->name, r, gate.trial->limit, TrialNames(gate, decision)});
    }
  }
  return orders;
}

}  // namespace taut::server
