#include "server/pool/live_quota.h"

#include <algorithm>
#include <set>

#include "brain/economy/admission.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

// Returns the amounts by which `to` exceeds `from`, at least 0 each.
brain::QuotaVector More(const brain::QuotaVector& from, const brain::QuotaVector& to) {
  brain::QuotaVector out;
  for (const brain::QuotaAmount& each : to.amounts())
    out.Set(each.resource, std::max(int64_t{0}, each.amount - from.Get(each.resource)));
  return out;
}

std::vector<std::string> ReasonsOf(const brain::AdmissionVerdict& verdict) {
  std::vector<std::string> out = {StrCat(brain::QuotaText(verdict.use.amounts), " more for group \"",
                                         verdict.use.group, "\" in tier \"", verdict.use.tier,
                                         "\": its quota does not allow it.")};
  for (const brain::AdmissionReason& reason : verdict.reasons) out.push_back(reason.text);
  if (verdict.reclaimable) out.emplace_back("It is within the group's nominal quota, which others borrow.");
  std::string fits;
  for (const brain::QuotaAmount& asked : verdict.use.amounts.amounts()) {
    StrAppend(&fits, fits.empty() ? "" : ", ",
              brain::QuotaText(asked.resource, std::max(int64_t{0}, verdict.fitting.Get(asked.resource))));
  }
  out.push_back(StrCat("What fits now: ", fits, "."));
  if (verdict.other_tiers.empty()) return out;
  std::string tiers;
  for (const std::string& tier : verdict.other_tiers)
    StrAppend(&tiers, tiers.empty() ? "\"" : ", \"", tier, "\"");
  out.push_back(StrCat("It would fit in tier ", tiers, "."));
  return out;
}

}  // namespace

absl::Status LiveQuota::SetQuota(const brain::QuotaSpec& spec, GroupRules rules) {
  absl::StatusOr<brain::QuotaTree> tree = brain::QuotaTree::Make(spec);
  if (!tree.ok()) return tree.status();
  const std::lock_guard lock(mutex_);
  tree_ = *std::move(tree);
  rules_ = std::move(rules);
  has_quota_ = true;
  places_.clear();
  for (const auto& [name, task] : tasks_) Count(task, 1);
  for (const auto& [key, held] : held_) Count(held.task, 1);
  for (const brain::QuotaRequest& request : requests_) {
    if (IsCovered(request.asked.group, request.asked.tier))
      places_.try_emplace({request.asked.group, request.asked.tier});
  }
  for (auto& [key, place] : places_) Recount(key, place);
  return absl::OkStatus();
}

void LiveQuota::SetRequests(std::span<const brain::QuotaRequest> open) {
  const std::lock_guard lock(mutex_);
  std::set<Key> touched;
  const auto note = [&touched, this](const brain::QuotaRequest& request) {
    if (has_quota_ && IsCovered(request.asked.group, request.asked.tier))
      touched.insert({request.asked.group, request.asked.tier});
  };
  std::set<uint64_t> before, after;
  for (const brain::QuotaRequest& request : requests_) before.insert(request.id);
  for (const brain::QuotaRequest& request : open) after.insert(request.id);
  // Compare IDs only, because the amounts of a request never change.
  for (const brain::QuotaRequest& request : requests_) {
    if (!after.contains(request.id)) note(request);
  }
  for (const brain::QuotaRequest& request : open) {
    if (!before.contains(request.id)) note(request);
  }
  requests_.assign(open.begin(), open.end());
  for (const Key& key : touched) Recount(key, places_[key]);
}

// Computes the use of the place: for each job, the larger of its request and its tasks, plus the tasks of jobs
// without a request.
void LiveQuota::Recount(const Key& key, Place& place) {
  place.requests.clear();
  place.without_job = brain::QuotaVector();
  for (const brain::QuotaRequest& request : requests_) {
    if (request.asked.group != key.group || request.asked.tier != key.tier) continue;
    const brain::QuotaVector asked =
        WithQuota(request.asked.per_task.Times(request.asked.tasks).value_or(brain::QuotaVector()));
    if (request.job.empty()) {
      place.without_job = Sum(place.without_job, asked, 1);
    } else {
      place.requests[request.job].asked = asked;
    }
  }
  brain::QuotaVector counted = place.without_job;
  for (const auto& [job, amounts] : place.jobs) {
    if (Request* const request = RequestFor(place, job); request != nullptr) {
      request->used = Sum(request->used, amounts, 1);
    } else {
      counted = Sum(counted, amounts, 1);
    }
  }
  for (const auto& [job, request] : place.requests)
    counted = Sum(counted, brain::Larger(request.asked, request.used), 1);
  SetCounted(key, place, counted);
}

// Sets the use of the place in the tree to `counted`. Add() and Remove() do not fail for a covered place.
void LiveQuota::SetCounted(const Key& key, Place& place, const brain::QuotaVector& counted) {
  if (const brain::QuotaVector less = More(counted, place.counted); !less.empty())
    (void)tree_.Remove({key.group, key.tier, less});
  if (const brain::QuotaVector more = More(place.counted, counted); !more.empty())
    (void)tree_.Add({key.group, key.tier, more});
  place.counted = counted;
}

std::optional<LiveQuota::Key> LiveQuota::PlaceOf(const LiveTask& task) const {
  if (!has_quota_) return std::nullopt;
  JobRecord record;
  record.labels = task.labels;
  GroupRules::Place place = rules_->Of(record);
  if (!IsCovered(place.group, place.tier)) return std::nullopt;
  return Key{std::move(place.group), std::move(place.tier)};
}

bool LiveQuota::IsCovered(const std::string& group, const std::string& tier) const {
  return !group.empty() && tree_.GroupNamed(group).ok() && tree_.TierNamed(tier).has_value();
}

brain::QuotaVector LiveQuota::WithQuota(const brain::QuotaVector& amounts) const {
  brain::QuotaVector out;
  for (const brain::QuotaAmount& each : amounts.amounts()) {
    if (tree_.ResourceNamed(each.resource).has_value()) out.Set(each.resource, each.amount);
  }
  return out;
}

// Returns the request for the job, else the request for the longest prefix of the job's name.
LiveQuota::Request* LiveQuota::RequestFor(Place& place, std::string_view job) {
  if (place.requests.empty()) return nullptr;
  for (std::string_view part = job; !part.empty();) {
    if (const auto found = place.requests.find(part); found != place.requests.end()) return &found->second;
    const size_t slash = part.rfind('/');
    if (slash == std::string_view::npos) break;
    part = part.substr(0, slash);
  }
  return nullptr;
}

void LiveQuota::CountPart(Place& place, const LivePart& part, int64_t sign) {
  const brain::QuotaVector amounts = WithQuota(part.amounts);
  if (amounts.empty()) return;
  brain::QuotaVector& of_job = place.jobs[part.job];
  of_job = Sum(of_job, amounts, sign);
  if (of_job.empty()) place.jobs.erase(part.job);
}

void LiveQuota::Count(const LiveTask& task, int64_t sign) {
  const std::optional<Key> key = PlaceOf(task);
  if (!key.has_value()) return;
  Place& place = places_[*key];
  brain::QuotaVector counted = place.counted;
  for (const LivePart& part : task.parts) {
    const brain::QuotaVector amounts = WithQuota(part.amounts);
    CountPart(place, part, sign);
    Request* const request = RequestFor(place, part.job);
    if (request == nullptr) {
      counted = Sum(counted, amounts, sign);
      continue;
    }
    counted = Sum(counted, brain::Larger(request->asked, request->used), -1);
    request->used = Sum(request->used, amounts, sign);
    counted = Sum(counted, brain::Larger(request->asked, request->used), 1);
  }
  SetCounted(*key, place, counted);
}

void LiveQuota::Replace(std::vector<LiveTask> tasks) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, task] : tasks_) Count(task, -1);
  tasks_.clear();
  has_tasks_ = true;
  for (LiveTask& task : tasks) {
    UnholdIfSame(task);
    const auto [at, is_new] = tasks_.emplace(task.name, std::move(task));
    if (is_new) Count(at->second, 1);
  }
}

void LiveQuota::Put(LiveTask task) {
  const std::lock_guard lock(mutex_);
  UnholdIfSame(task);
  LiveTask& at = tasks_[task.name];
  if (!at.name.empty()) Count(at, -1);
  at = std::move(task);
  Count(at, 1);
}

void LiveQuota::Remove(const LiveTask& task) {
  const std::lock_guard lock(mutex_);
  UnholdIfSame(task);
  const auto at = tasks_.find(task.name);
  if (at == tasks_.end()) return;
  if (!task.uid.empty() && !at->second.uid.empty() && task.uid != at->second.uid)
    return;  // another task has the name now
  Count(at->second, -1);
  tasks_.erase(at);
}

// A task with this name that existed before the hold is not the awaited task.
void LiveQuota::UnholdIfSame(const LiveTask& task) {
  const auto at = held_.find(task.name);
  if (at == held_.end()) return;
  const std::string& awaited = at->second.task.uid;
  if (awaited.empty() || task.uid.empty() || awaited == task.uid) Unhold(task.name);
}

void LiveQuota::Unhold(const std::string& key) {
  const auto at = held_.find(key);
  if (at == held_.end()) return;
  Count(at->second.task, -1);
  held_.erase(at);
}

void LiveQuota::Expire() {
  const double now_s = steady_s_();
  while (!ends_.empty() && ends_.front().first <= now_s) {
    const std::string key = std::move(ends_.front().second);
    ends_.pop_front();
    const auto at = held_.find(key);
    if (at != held_.end() && at->second.until_s <= now_s) Unhold(key);
  }
}

LiveQuota::Answer LiveQuota::Ask(const LiveTask& task, bool dry_run) {
  const std::lock_guard lock(mutex_);
  if (!known()) return {};
  Expire();
  const std::optional<Key> key = PlaceOf(task);
  const bool asks = std::ranges::any_of(
      task.parts, [this](const LivePart& part) { return !WithQuota(part.amounts).empty(); });
  if (!key.has_value() || !asks) return {Outcome::kNotCovered};
  // The task may use the quota of the task that it replaces, and the quota that is already held for it.
  const auto before = task.name.empty() ? tasks_.end() : tasks_.find(task.name);
  const auto held = task.name.empty() ? held_.end() : held_.find(task.name);
  if (before != tasks_.end()) Count(before->second, -1);
  if (held != held_.end()) Count(held->second.task, -1);
  const brain::QuotaVector free_of = places_[*key].counted;
  Count(task, 1);
  const brain::QuotaVector asked = More(free_of, places_[*key].counted);
  Count(task, -1);
  Answer out{Outcome::kFits};
  if (!asked.empty()) {
    const auto verdict = brain::DecideAdmission(tree_, {key->group, key->tier, asked});
    if (verdict.ok() && verdict->outcome != brain::AdmissionOutcome::kAdmitted)
      out = {Outcome::kDoesNotFit, ReasonsOf(*verdict)};
  }
  if (before != tasks_.end()) Count(before->second, 1);
  if (held != held_.end()) Count(held->second.task, 1);
  if (out.outcome != Outcome::kFits || dry_run) return out;
  std::string name = !task.name.empty() ? task.name : !task.uid.empty() ? task.uid : StrCat("#", ++nameless_);
  Unhold(name);
  const double until_s = steady_s_() + hold_s_;
  held_[name] = {task, until_s};
  ends_.emplace_back(until_s, std::move(name));
  Count(task, 1);
  return out;
}

std::string LiveQuota::GroupOf(const LiveTask& task) const {
  const std::lock_guard lock(mutex_);
  if (!has_quota_) return "";
  JobRecord record;
  record.labels = task.labels;
  return rules_->Of(record).group;
}

size_t LiveQuota::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

}  // namespace taut::server
