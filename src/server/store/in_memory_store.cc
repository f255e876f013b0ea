#include "server/store/in_memory_store.h"

#include <algorithm>
#include <iterator>

#include "common/base/strings.h"
#include "server/store/window_block.h"

namespace taut::server {

absl::Status InMemoryStore::Commit(const PassRecord& pass) {
  const std::lock_guard lock(mutex_);
  const absl::Status sound = CheckPass(pass, ends_);
  if (!sound.ok()) return sound;
  ends_ = EndsAfter(pass, ends_);
  if (pass.window != nullptr) {
    ClosedWindow& window = windows_.emplace(pass.window->window, *pass.window).first->second;
    window.reports.clear();
    window.throttling.clear();
    for (JobWindowData& job : window.jobs) {
      job.first_report = job.num_reports = 0;
      job.first_throttling = job.num_throttling = 0;
    }
    if (!pass.account.empty()) account_[window.window].assign(pass.account.begin(), pass.account.end());
  }
  for (const JobRecord& job : pass.new_jobs) jobs_[job.id.value] = job;
  for (const JobId id : pass.forgotten_jobs) forgotten_[id.value] = pass.forgotten_s;
  for (const JobRecord& job : pass.returned_jobs) {
    jobs_[job.id.value] = job;
    forgotten_.erase(job.id.value);
  }
  for (const JobRecord& job : pass.relabelled_jobs) jobs_[job.id.value] = job;
  for (const Decision& d : pass.decisions) decisions_.emplace(d.id, d);
  for (const OutcomeUpdate& o : pass.outcomes) {
    const auto found = decisions_.find(o.id);
    if (found == decisions_.end()) continue;
    found->second.outcome = o.outcome;
    found->second.outcome_text = o.text;
    found->second.outcome_time_s = o.time_s;
  }
  for (const OomRecord& oom : pass.ooms) {
    const auto at = std::ranges::upper_bound(ooms_, oom.time_s, {}, &OomRecord::time_s);
    const uint64_t id = oom.id == 0 ? LastOom() + 1 : oom.id;
    ooms_.insert(at, oom)->id = id;
  }
  for (const TierAct& act : pass.tier_acts) {
    const auto at = std::ranges::upper_bound(tier_acts_, act.time_s, {}, &TierAct::time_s);
    tier_acts_.insert(at, act);
  }
  for (const SettingChange& s : pass.settings) settings_.emplace(s.id, s);
  for (const Checkpoint& c : pass.checkpoints) {
    if (c.bytes.empty() && c.chunk < kUnchangedChunk) {
      checkpoints_.erase(c.chunk);
    } else {
      checkpoints_[c.chunk] = c;
    }
  }
  late_account_.insert(late_account_.end(), pass.late_account.begin(), pass.late_account.end());
  if (pass.fleet != nullptr) fleet_[pass.fleet->window] = *pass.fleet;
  for (const JobPast& past : pass.pasts) {
    if (past.state.has_value() && jobs_.contains(past.job.value)) pasts_[past.job.value] = *past.state;
    for (const JobDay& day : past.days) {
      JobDay& kept = past_days_[{day.day, past.job.value}];
      kept = MergedDay(kept, day);
    }
  }
  return absl::OkStatus();
}

std::map<std::pair<std::string, std::string>, uint64_t> InMemoryStore::NewestSettings() const {
  std::map<std::pair<std::string, std::string>, uint64_t> newest;
  for (const auto& [id, s] : settings_) newest[{s.job, s.key}] = id;
  return newest;
}

uint64_t InMemoryStore::LastOom() const {
  uint64_t last = 0;
  for (const OomRecord& oom : ooms_) last = std::max(last, oom.id);
  return last;
}

absl::StatusOr<StoreEnds> InMemoryStore::Restore(const RestoreSink& sink) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, job] : jobs_) {
    if (forgotten_.contains(id)) continue;
    const absl::Status status = sink.on_job(job);
    if (!status.ok()) return status;
  }
  const auto newest = NewestSettings();
  for (const auto& [id, s] : settings_) {
    if (newest.at({s.job, s.key}) != id) continue;
    const absl::Status status = sink.on_setting(s);
    if (!status.ok()) return status;
  }
  for (const auto& [chunk, checkpoint] : checkpoints_) {
    const absl::Status status = sink.on_checkpoint(checkpoint);
    if (!status.ok()) return status;
  }
  StoreEnds ends;
  ends.last_decision = ends_.decision;
  ends.last_setting = ends_.setting;
  ends.last_oom = LastOom();
  ends.last_job = ends_.job;
  if (!windows_.empty()) {
    ends.first_window = windows_.begin()->first;
    ends.last_window = windows_.rbegin()->first;
  }
  return ends;
}

absl::Status InMemoryStore::ReadForgotten(int64_t from_s,
                                          absl::FunctionRef<void(const JobRecord&, int64_t)> yield) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, when_s] : forgotten_) {
    if (when_s >= from_s) yield(jobs_.at(id), when_s);
  }
  return absl::OkStatus();
}

absl::Status InMemoryStore::ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, state] : pasts_) yield(JobId{id}, state);
  return absl::OkStatus();
}

absl::StatusOr<JobRecord> InMemoryStore::Job(JobId id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id.value);
  if (found == jobs_.end()) return absl::NotFoundError(StrCat("the store has no job ", id.value));
  return found->second;
}

absl::Status InMemoryStore::ReadWindows(WindowId after,
                                        absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) {
  const std::lock_guard lock(mutex_);
  for (auto at = windows_.upper_bound(after); at != windows_.end(); ++at) {
    const absl::Status status = yield(at->second);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> InMemoryStore::Maintain(WindowId now) {
  const std::lock_guard lock(mutex_);
  if (keep_.windows_to_believe > 0) {
    if (windows_.size() < static_cast<size_t>(keep_.windows_to_believe)) return false;
    now = std::min(now, std::prev(windows_.end(), keep_.windows_to_believe)->first);
  }
  const int32_t first_day = FirstDayKept(keep_, now);
  while (!windows_.empty() && windows_.begin()->first.day() < first_day) windows_.erase(windows_.begin());
  past_days_.erase(past_days_.begin(), past_days_.lower_bound({first_day, 0}));
  const int64_t first_s = FirstSecondKept(keep_, now);
  while (!decisions_.empty() && decisions_.begin()->second.time_s < first_s) {
    decisions_.erase(decisions_.begin());
  }
  std::erase_if(forgotten_, [&](const auto& entry) {
    if (entry.second >= first_s) return false;
    jobs_.erase(entry.first);
    pasts_.erase(entry.first);
    return true;
  });
  std::erase_if(ooms_, [first_s](const OomRecord& oom) { return oom.time_s < first_s; });
  std::erase_if(tier_acts_, [first_s](const TierAct& act) { return act.time_s < first_s; });
  const auto newest = NewestSettings();
  std::erase_if(settings_, [&](const auto& entry) {
    const SettingChange& s = entry.second;
    return s.time_s < first_s && newest.at({s.job, s.key}) != s.id;
  });
  std::erase_if(late_account_, [first_s](const LateAccount& l) { return l.first.start_s() < first_s; });
  std::erase_if(account_, [first_s](const auto& entry) { return entry.first.start_s() < first_s; });
  std::erase_if(fleet_, [first_s](const auto& entry) { return entry.first.start_s() < first_s; });
  return false;
}

absl::StatusOr<std::vector<JobDay>> InMemoryStore::JobDays(JobId job, WindowId from, WindowId to) {
  const std::lock_guard lock(mutex_);
  std::vector<JobDay> days;
  for (auto at = windows_.lower_bound(from); at != windows_.end() && at->first < to; ++at) {
    const ClosedWindow& closed = at->second;
    const auto found = std::ranges::lower_bound(closed.jobs, job, {}, &JobWindowData::job);
    if (found == closed.jobs.end() || found->job != job) continue;
    if (days.empty() || days.back().day != at->first.day()) {
      days.emplace_back();
      days.back().job = job;
      days.back().day = at->first.day();
    }
    AppendWindow(closed, static_cast<size_t>(found - closed.jobs.begin()), days.back());
  }
  std::vector<JobDay> past;
  for (const auto& [key, day] : past_days_) {
    if (key.second != job.value) continue;
    JobDay part = WindowsOf(day, from, to);
    if (!part.windows.empty()) past.push_back(std::move(part));
  }
  return past.empty() ? days : MergedDays(std::move(days), std::move(past));
}

absl::StatusOr<std::vector<Decision>> InMemoryStore::Decisions(const DecisionQuery& query, Reasons reasons) {
  const std::lock_guard lock(mutex_);
  std::vector<Decision> found;
  for (auto at = decisions_.lower_bound(query.before_id);
       at != decisions_.begin() && found.size() < query.limit;) {
    const Decision& d = (--at)->second;
    if (d.id <= query.after_id) break;
    if (query.job && d.job != *query.job) continue;
    if (query.target && d.target != *query.target) continue;
    if (query.kind && d.kind != *query.kind) continue;
    if (query.outcome && d.outcome != *query.outcome) continue;
    if (d.time_s < query.from_s) continue;
    found.push_back(d);
    if (reasons == Reasons::kLeaveOut) found.back().reason.clear();
  }
  return found;
}

absl::StatusOr<std::vector<OomRecord>> InMemoryStore::Ooms(std::optional<JobId> job, int64_t from_s,
                                                           size_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<OomRecord> found;
  for (auto at = ooms_.rbegin(); at != ooms_.rend() && found.size() < limit && at->time_s >= from_s; ++at) {
    if (!job || at->job == *job) found.push_back(*at);
  }
  return found;
}

absl::StatusOr<std::vector<TierAct>> InMemoryStore::TierActs(const TierActQuery& query) {
  const std::lock_guard lock(mutex_);
  std::vector<TierAct> found;
  for (auto at = tier_acts_.rbegin();
       at != tier_acts_.rend() && found.size() < query.limit && at->time_s >= query.from_s; ++at) {
    if (!query.job.empty() && at->job != query.job) continue;
    if (query.machine.empty() || at->machine == query.machine) found.push_back(*at);
  }
  return found;
}

absl::StatusOr<std::vector<SettingChange>> InMemoryStore::Settings(std::optional<std::string> job,
                                                                   size_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<SettingChange> found;
  for (auto at = settings_.rbegin(); at != settings_.rend() && found.size() < limit; ++at) {
    if (!job || at->second.job == *job) found.push_back(at->second);
  }
  return found;
}

absl::StatusOr<std::vector<FleetPoint>> InMemoryStore::FleetPoints(WindowId from, WindowId to,
                                                                   int32_t stride) {
  if (stride < 1)
    return absl::InvalidArgumentError(StrCat("a stride of ", stride, " windows; expected 1 or more"));
  const std::lock_guard lock(mutex_);
  std::vector<FleetPoint> found;
  for (auto at = fleet_.lower_bound(from); at != fleet_.end() && at->first < to; ++at) {
    if (at->first.index % stride == 0) found.push_back(at->second);
  }
  return found;
}

absl::Status InMemoryStore::ReadAccount(
    WindowId from, WindowId to,
    absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) {
  // Call `yield` without the lock, because `yield` may call the History.
  std::vector<std::pair<AccountSpan, std::vector<AccountEntry>>> found;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = account_.lower_bound(from); at != account_.end() && at->first < to; ++at) {
      found.push_back({{at->first, 1}, at->second});
    }
    for (const LateAccount& late : late_account_) {
      if (!(late.first < from) && late.first < to)
        found.push_back({{late.first, kWindowsPerDay, true}, {late.entry}});
    }
  }
  for (const auto& [span, entries] : found) yield(span, entries);
  return absl::OkStatus();
}

}  // namespace taut::server
