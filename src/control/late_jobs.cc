#include "control/late_jobs.h"

#include <algorithm>

#include "base/strings.h"
#include "control/control_plane.h"
#include "control/unsaved.h"
#include "live/past_account.h"
#include "store/window_block.h"

namespace taut {
namespace {

constexpr size_t kFactsOfABody = 500;

Ingest::Options ScratchOptions(Ingest::Options options, WindowId from) {
  options.max_waiting_samples = UINT64_MAX;
  options.windows.first_open = from;
  options.windows.time_is_samples = false;
  return options;
}

// Of a gap: what is less than an hour changes no recommendation, and all jobs would have to learn anew.
bool IsShort(std::span<const JobDay> days) {
  size_t windows = 0;
  for (const JobDay& day : days) windows += day.windows.size();
  return windows < static_cast<size_t>(kWindowsPerHour);
}

}  // namespace

// ---- the fold ----

void PastFacts::Add(std::span<const LabelView> labels) {
  auto& kept = pending_.emplace_back();
  for (const LabelView& l : labels) kept.emplace_back(l.name, l.value);
  if (pending_.size() >= kFactsOfABody) Finish();
}

void PastFacts::Finish() {
  if (pending_.empty()) return;
  std::vector<RemoteSeries> series;
  for (const auto& labels : pending_) {
    RemoteSeries& one = series.emplace_back();
    for (const auto& [name, value] : labels) one.labels.push_back({name, value});
    one.samples.push_back({1, time_.us / 1000});
  }
  bodies_.push_back(EncodeWriteRequest(series));
  pending_.clear();
}

absl::Status PastFacts::GiveTo(Ingest& ingest) const {
  for (const std::string& body : bodies_) {
    if (const auto taken = ingest.Write(body, time_); !taken.ok()) return taken.status();
  }
  return absl::OkStatus();
}

PastFold::PastFold(const MappingRules& rules, const Ingest::Options& options, WindowId from,
                   std::span<const LateJob> wanted)
    : seed_(options.seed),
      from_(from),
      wanted_(wanted.begin(), wanted.end()),
      days_(wanted.size()),
      ingest_(rules, ScratchOptions(options, from)) {
  for (size_t i = 0; i < wanted_.size(); ++i) by_name_.emplace(wanted_[i].name, i);
}

const LateJob* PastFold::WantedBy(std::span<const LabelView> labels) const {
  const std::optional<Mapping> mapping = ingest_.mapper().Explain(labels);
  if (!mapping.has_value() || IsFact(mapping->kind)) return nullptr;
  const auto found = by_name_.find(mapping->job);
  return found == by_name_.end() ? nullptr : &wanted_[found->second];
}

void PastFold::Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now) {
  ingest_.Take({labels, samples, Fingerprint(labels, seed_)}, now);
}

void PastFold::CloseUntil(Timestamp watermark) {
  ingest_.CloseUntil(watermark, [this](ClosedWindow&& closed) {
    // A job's policy is not known here: where there is a limit, it is the owner's amount.
    for (JobWindowData& job : closed.jobs) {
      for (const Resource r : kResources) TakeOwnersAmount(Allocation(), r, job);
    }
    Keep(closed);
  });
  (void)ingest_.TakeOoms();
}

void PastFold::Keep(const ClosedWindow& closed) {
  if (closed.window < from_) return;
  for (size_t i = 0; i < closed.jobs.size(); ++i) {
    const auto found = by_name_.find(ingest_.mapper().job_name(closed.jobs[i].job));
    if (found == by_name_.end() || !(closed.window < wanted_[found->second].until)) continue;
    std::vector<JobDay>& days = days_[found->second];
    if (days.empty() || days.back().day != closed.window.day()) {
      days.emplace_back();
      days.back().job = wanted_[found->second].id;
      days.back().day = closed.window.day();
    }
    AppendWindow(closed, i, days.back());
  }
}

std::vector<JobPast> PastFold::TakePasts() {
  std::vector<JobPast> pasts;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const PastState state = days_[i].empty() ? PastState::kNothing : PastState::kRead;
    pasts.push_back({wanted_[i].id, state, std::move(days_[i])});
    days_[i].clear();
  }
  return pasts;
}

namespace {

// What the account has not counted: it has every window that the store has of the job. Those after `through` will
// be counted when they close.
absl::StatusOr<std::vector<LateAccount>> LateAccountsOf(std::span<const JobPast> pasts, WindowId through,
                                                        History& history) {
  std::vector<LateAccount> out;
  std::vector<WindowId> counted;
  for (const JobPast& past : pasts) {
    if (past.days.empty()) continue;
    const WindowId from{past.days.front().day * kWindowsPerDay},
        to{(past.days.back().day + 1) * kWindowsPerDay};
    const absl::StatusOr<std::vector<JobDay>> known = history.JobDays(past.job, from, to);
    if (!known.ok()) return known.status();
    counted.clear();
    for (const JobDay& day : *known) {
      for (const JobWindow& window : day.windows) counted.push_back(window.window);
    }
    for (const JobDay& day : past.days) {
      LateAccount late = PastAccount(day, through, counted);
      late.entry.job = past.job;
      if (late.entry.of[0].windows + late.entry.of[1].windows > 0) out.push_back(late);
    }
  }
  return out;
}

}  // namespace

// ---- what the control plane does with it ----

std::vector<LateJob> ControlPlane::LateJobs(Timestamp from, Timestamp settled) const {
  std::vector<LateJob> late;
  const std::shared_lock fleet(fleet_mutex_);
  for (const LiveJob& job : fleet_.jobs()) {
    const int64_t seen_s = job.record.first_seen_s;
    const WindowId first = WindowId::Of(Timestamp::FromSeconds(seen_s));
    // One that was never measured was mostly that of tasks whose owner was not known yet.
    if (seen_s < from.seconds() || seen_s >= settled.seconds()) continue;
    if (job.last_window.index == INT32_MIN || pasts_.contains(job.record.id.value)) continue;
    late.push_back({job.record.id, job.record.name, first.next()});
  }
  std::ranges::sort(late, {}, &LateJob::name);
  return late;
}

std::vector<LateJob> ControlPlane::AllJobs(WindowId until) const {
  std::vector<LateJob> all;
  const std::shared_lock fleet(fleet_mutex_);
  for (const LiveJob& job : fleet_.jobs()) all.push_back({job.record.id, job.record.name, until});
  return all;
}

std::vector<SilentSpan> ControlPlane::TakeGaps() {
  const std::lock_guard lock(ingest_mutex_);
  return std::exchange(gaps_, {});
}

LateJobCounts ControlPlane::late_job_counts(Timestamp from) const {
  LateJobCounts counts;
  const std::shared_lock fleet(fleet_mutex_);
  for (const LiveJob& job : fleet_.jobs()) {
    const auto past = pasts_.find(job.record.id.value);
    if (past != pasts_.end()) {
      ++(past->second == PastState::kRead ? counts.read : counts.nothing);
    } else if (job.record.first_seen_s >= from.seconds() && job.last_window.index != INT32_MIN) {
      ++counts.waiting;
    }
  }
  return counts;
}

absl::Status ControlPlane::AddPasts(std::vector<JobPast> pasts) {
  const std::lock_guard writer(writer_mutex_);
  // So that the store has the jobs, and every window up to the one that checkpoints are of.
  if (absl::Status s = CommitUnsaved(); !s.ok()) return s;
  const std::shared_ptr<const FleetView> seen = view();
  if (!seen->window.has_value()) return absl::FailedPreconditionError("no window is stored yet");
  // With the checkpoints of these jobs, which say that they want history: a kill after the commit, and before
  // they have learnt, loses nothing.
  std::vector<JobId> wanting;
  {
    const std::unique_lock fleet(fleet_mutex_);
    std::erase_if(pasts, [this](const JobPast& past) { return !fleet_.Has(past.job); });
    for (const JobPast& past : pasts) {
      if (past.days.empty() || (!past.state.has_value() && IsShort(past.days))) continue;
      fleet_.WantHistoryOf(past.job);
      wanting.push_back(past.job);
    }
  }
  if (pasts.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<LateAccount>> account = LateAccountsOf(pasts, *seen->window, *parts_.history);
  if (!account.ok()) return account.status();
  unsaved_->late_account = *std::move(account);
  SaveChunksOf(wanting, *seen->window);
  unsaved_->pasts = std::move(pasts);
  return CommitUnsaved();
}

absl::Status ControlPlane::SettlePasts() {
  std::vector<JobPast> pasts;
  {
    const std::shared_lock fleet(fleet_mutex_);
    for (const LiveJob& job : fleet_.jobs()) {
      if (!pasts_.contains(job.record.id.value)) pasts.push_back({job.record.id, PastState::kNothing, {}});
    }
  }
  // Without a window there was no history, and there is no job that was measured.
  return pasts.empty() || !stored_through().has_value() ? absl::OkStatus() : AddPasts(std::move(pasts));
}

}  // namespace taut
