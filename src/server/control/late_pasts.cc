#include "server/control/late_pasts.h"

#include <algorithm>
#include <utility>

#include "brain/fleet/past_account.h"
#include "common/model/whole_machine.h"

namespace taut::server {
namespace {

// A gap of less than an hour changes no recommendation, but would retrain every job.
bool IsShort(std::span<const JobDay> days) {
  size_t windows = 0;
  for (const JobDay& day : days) windows += day.windows.size();
  return windows < static_cast<size_t>(kWindowsPerHour);
}

// Returns the usage that is missing in the account. The account contains every stored window of the job; windows
// after `through` are added when they close.
absl::StatusOr<std::vector<LateAccount>> LateAccountsOf(std::span<const JobPast> pasts, WindowId through,
                                                        History& history) {
  std::vector<LateAccount> out;
  std::vector<WindowId> counted;
  for (const JobPast& past : pasts) {
    if (past.days.empty()) continue;
    if (const absl::StatusOr<JobRecord> job = history.Job(past.job); job.ok() && IsWholeMachine(*job))
      continue;
    const WindowId from{past.days.front().day * kWindowsPerDay},
        to{(past.days.back().day + 1) * kWindowsPerDay};
    const absl::StatusOr<std::vector<JobDay>> known = history.JobDays(past.job, from, to);
    if (!known.ok()) return known.status();
    counted.clear();
    for (const JobDay& day : *known) {
      for (const JobWindow& window : day.windows) counted.push_back(window.window);
    }
    for (const JobDay& day : past.days) {
      LateAccount late = brain::PastAccount(day, through, counted);
      late.entry.job = past.job;
      if (std::ranges::any_of(late.entry.of, [](const AccountAmounts& a) { return a.windows > 0; }))
        out.push_back(late);
    }
  }
  return out;
}

LateJob LateJobOf(const brain::LiveJob& job, WindowId until) {
  LateJob late{job.record->id, job.record->name, until};
  for (const Resource r : kResources) late.allocation[IndexOf(r)] = job.policy->allocation(r);
  return late;
}

}  // namespace

LatePasts::LatePasts(const Parts& parts) : parts_(parts) {
  parts_.committer.OnTick([this](const TickEvents& events) { Note(events.pasts); });
}

void LatePasts::Note(std::span<const JobPast> stored) {
  const std::lock_guard lock(mutex_);
  for (const JobPast& past : stored) {
    if (past.state.has_value()) states_[past.job.value] = *past.state;
  }
}

std::optional<PastState> LatePasts::StateOf(JobId id) const {
  const auto found = states_.find(id.value);
  return found == states_.end() ? std::nullopt : std::optional(found->second);
}

absl::Status LatePasts::Restore(Store& store) {
  const std::lock_guard lock(mutex_);
  return store.ReadPasts([this](JobId id, PastState state) { states_.emplace(id.value, state); });
}

std::vector<LateJob> LatePasts::LateJobs(Timestamp from, Timestamp settled) const {
  std::vector<LateJob> late;
  const auto fleet = parts_.fleet.Read();
  const std::lock_guard lock(mutex_);
  for (const brain::LiveJob& job : fleet->jobs) {
    const int64_t seen_s = job.record->first_seen_s;
    const WindowId first = WindowId::Of(Timestamp::FromSeconds(seen_s));
    // A job that was never measured is usually an intermediate job, from tasks whose owner was not known yet.
    if (seen_s < from.seconds() || seen_s >= settled.seconds()) continue;
    if (job.last_window.index == INT32_MIN || StateOf(job.record->id).has_value()) continue;
    late.push_back(LateJobOf(job, first.next()));
  }
  std::ranges::sort(late, {}, &LateJob::name);
  return late;
}

std::vector<LateJob> LatePasts::AllJobs(WindowId until) const {
  std::vector<LateJob> all;
  const auto fleet = parts_.fleet.Read();
  for (const brain::LiveJob& job : fleet->jobs) all.push_back(LateJobOf(job, until));
  return all;
}

LateJobCounts LatePasts::counts(Timestamp from) const {
  LateJobCounts counts;
  const auto fleet = parts_.fleet.Read();
  const std::lock_guard lock(mutex_);
  for (const brain::LiveJob& job : fleet->jobs) {
    const std::optional<PastState> past = StateOf(job.record->id);
    if (past.has_value()) {
      ++(*past == PastState::kRead ? counts.read : counts.nothing);
    } else if (job.record->first_seen_s >= from.seconds() && job.last_window.index != INT32_MIN) {
      ++counts.waiting;
    }
  }
  return counts;
}

absl::Status LatePasts::AddPasts(std::vector<JobPast> pasts) {
  const std::lock_guard writer(parts_.committer.writer());
  // After this commit, the store contains the jobs, and every window up to the window of the checkpoints below.
  if (absl::Status s = parts_.committer.Commit(); !s.ok()) return s;
  const std::optional<WindowId> stored = parts_.status.stored_through();
  if (!stored.has_value()) return absl::FailedPreconditionError("no window is stored yet");
  // The commit contains checkpoints that mark these jobs for retraining, so a kill between the commit and the
  // retraining loses nothing.
  std::vector<JobId> wanting;
  {
    const auto fleet = parts_.fleet.Write();
    std::erase_if(pasts, [&](const JobPast& past) { return !fleet->Has(past.job); });
    for (const JobPast& past : pasts) {
      if (past.days.empty() || (!past.state.has_value() && IsShort(past.days))) continue;
      fleet->history.Want(past.job);
      wanting.push_back(past.job);
    }
  }
  if (pasts.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<LateAccount>> account = LateAccountsOf(pasts, *stored, parts_.history);
  if (!account.ok()) return account.status();
  Unsaved& unsaved = parts_.committer.unsaved();
  unsaved.late_account = *std::move(account);
  parts_.checkpointer.SaveChunksOf(wanting, *stored);
  unsaved.pasts = std::move(pasts);
  return parts_.committer.Commit();
}

absl::Status LatePasts::SettlePasts() {
  std::vector<JobPast> pasts;
  {
    const auto fleet = parts_.fleet.Read();
    const std::lock_guard lock(mutex_);
    for (const brain::LiveJob& job : fleet->jobs) {
      if (!StateOf(job.record->id).has_value()) pasts.push_back({job.record->id, PastState::kNothing, {}});
    }
  }
  // Without a stored window, no history was read and no job was measured.
  if (pasts.empty() || !parts_.status.stored_through().has_value()) return absl::OkStatus();
  return AddPasts(std::move(pasts));
}

}  // namespace taut::server
