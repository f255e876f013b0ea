#include "server/pool/live_quota.h"

#include <algorithm>

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

GroupRules::Place LiveQuota::PlaceOf(const LiveTask& task) const {
  JobRecord record;
  record.labels = task.labels;
  return rules_.Of(record);
}

std::vector<brain::TaskUse> LiveQuota::UseOf(const LiveTask& task, const GroupRules::Place& place) {
  std::vector<brain::TaskUse> out;
  out.reserve(task.parts.size());
  for (const LivePart& part : task.parts) out.push_back({part.job, place.group, place.tier, part.amounts});
  return out;
}

void LiveQuota::Replace(std::vector<LiveTask> tasks) {
  const std::lock_guard lock(mutex_);
  has_tasks_ = true;
  const auto before = std::exchange(tasks_, {});
  // New tasks are added before old tasks are removed, so that a job that continues always has a task.
  for (LiveTask& task : tasks) {
    UnholdIfSame(task);
    const auto [at, is_new] = tasks_.emplace(task.name, std::move(task));
    if (is_new) usage_.AddTask(UseOf(at->second));
  }
  for (const auto& [name, task] : before) usage_.RemoveTask(UseOf(task), true);
}

void LiveQuota::Put(LiveTask task) {
  const std::lock_guard lock(mutex_);
  usage_.AddTask(UseOf(task));
  UnholdIfSame(task);
  const auto [at, is_new] = tasks_.try_emplace(task.name);
  if (!is_new) usage_.RemoveTask(UseOf(at->second), true);
  at->second = std::move(task);
}

void LiveQuota::Remove(const LiveTask& task) {
  const std::lock_guard lock(mutex_);
  UnholdIfSame(task);
  const auto at = tasks_.find(task.name);
  if (at == tasks_.end()) return;
  if (!task.uid.empty() && !at->second.uid.empty() && task.uid != at->second.uid)
    return;  // another task has the name now
  usage_.RemoveTask(UseOf(at->second), true);
  tasks_.erase(at);
}

void LiveQuota::Regroup() {
  usage_.ClearTasks();
  for (const auto& [name, task] : tasks_) usage_.AddTask(UseOf(task));
  for (const auto& [name, held] : held_) usage_.AddTask(UseOf(held.task));
}

// A task with this name that existed before the hold is not the task for which quota is held.
void LiveQuota::UnholdIfSame(const LiveTask& task) {
  const auto at = held_.find(task.name);
  if (at == held_.end()) return;
  const std::string& awaited = at->second.task.uid;
  if (awaited.empty() || task.uid.empty() || awaited == task.uid) Unhold(task.name);
}

void LiveQuota::Unhold(const std::string& key) {
  const auto at = held_.find(key);
  if (at == held_.end()) return;
  usage_.RemoveTask(UseOf(at->second.task), false);
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

// The task may use the quota of the task that it replaces, and the quota that is already held for the new task.
LiveQuota::Answer LiveQuota::Decide(const LiveTask& task, const GroupRules::Place& place,
                                    std::span<const brain::TaskUse> use) {
  const auto before = task.name.empty() ? tasks_.end() : tasks_.find(task.name);
  const auto held = task.name.empty() ? held_.end() : held_.find(task.name);
  if (before != tasks_.end()) usage_.RemoveTask(UseOf(before->second), false);
  if (held != held_.end()) usage_.RemoveTask(UseOf(held->second.task), false);
  const brain::QuotaVector without = usage_.InUse(place.group, place.tier);
  usage_.AddTask(use);
  const brain::QuotaVector asked = More(without, usage_.InUse(place.group, place.tier));
  usage_.RemoveTask(use, false);
  Answer out{Outcome::kFits};
  if (!asked.empty()) {
    const auto verdict = brain::DecideAdmission(usage_.tree(), {place.group, place.tier, asked});
    if (verdict.ok() && verdict->outcome != brain::AdmissionOutcome::kAdmitted)
      out = {Outcome::kDoesNotFit, ReasonsOf(*verdict)};
  }
  if (before != tasks_.end()) usage_.AddTask(UseOf(before->second));
  if (held != held_.end()) usage_.AddTask(UseOf(held->second.task));
  return out;
}

LiveQuota::Answer LiveQuota::Ask(const LiveTask& task, bool dry_run) {
  const std::lock_guard lock(mutex_);
  if (!has_tasks_) return {};
  Expire();
  const GroupRules::Place place = PlaceOf(task);
  const bool asks = std::ranges::any_of(task.parts, [this](const LivePart& part) {
    return std::ranges::any_of(part.amounts.amounts(), [this](const brain::QuotaAmount& amount) {
      return usage_.tree().ResourceNamed(amount.resource).has_value();
    });
  });
  if (!usage_.Covers(place.group, place.tier) || !asks) return {Outcome::kNotCovered};
  const std::vector<brain::TaskUse> use = UseOf(task, place);
  const Answer out = Decide(task, place, use);
  if (out.outcome != Outcome::kFits || dry_run) return out;
  std::string name = !task.name.empty() ? task.name : !task.uid.empty() ? task.uid : StrCat("#", ++nameless_);
  Unhold(name);
  const double until_s = steady_s_() + hold_s_;
  held_[name] = {task, until_s};
  ends_.emplace_back(until_s, std::move(name));
  usage_.AddTask(use);
  return out;
}

std::string LiveQuota::GroupOf(const LiveTask& task) const {
  const std::lock_guard lock(mutex_);
  return PlaceOf(task).group;
}

size_t LiveQuota::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

}  // namespace taut::server
