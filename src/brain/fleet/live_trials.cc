#include "brain/fleet/live_trials.h"

#include <algorithm>
#include <utility>

namespace taut::brain {

void LiveTrials::Note(const LiveJob& job) {
  for (const Resource r : kResources) {
    const Boxed<Trial>& trial = job.of(r).gate.trial;
    if (trial.has_value() && !trial->watched) trials_[trial->decision] = job.record->id;
  }
}

std::vector<JobId> LiveTrials::Running() {
  std::vector<JobId> jobs;
  absl::erase_if(trials_, [&](const auto& entry) {
    const LiveJob* job = s_.jobs.Find(entry.second);
    if (job == nullptr) return true;
    const bool runs = std::any_of(kResources.begin(), kResources.end(), [&](Resource r) {
      const Boxed<Trial>& trial = job->of(r).gate.trial;
      return trial.has_value() && trial->decision == entry.first;
    });
    if (runs) jobs.push_back(entry.second);
    return !runs;
  });
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

void LiveTrials::SetTasks(JobId id, Resource r, std::vector<TrialTask> members) {
  if (!s_.Has(id)) return;
  Boxed<Trial>& trial = s_.jobs[id].of(r).gate.trial;
  if (trial.has_value()) trial->members = std::move(members);
}

void LiveTrials::TakeOutcome(const OutcomeUpdate& outcome) {
  const auto it = trials_.find(outcome.id);
  if (it == trials_.end() || !s_.Has(it->second)) return;
  for (const Resource r : kResources) NoteTrialOutcome(outcome, s_.jobs[it->second].of(r).gate);
}

}  // namespace taut::brain
