#include "brain/economy/group_usage.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

QuotaVector AmountsOf(const JobUse& use) { return QuotaVector::Of(use.cpu_millicores, use.memory_bytes); }

QuotaUse* FindPlace(std::vector<QuotaUse>& uses, const TaskUse& part) {
  const auto found = std::ranges::find_if(
      uses, [&](const QuotaUse& use) { return use.group == part.group && use.tier == part.tier; });
  return found == uses.end() ? nullptr : &*found;
}

// Number of windows that may measure a task after its end: the open window, and a window that closes with a delay.
constexpr int64_t kWindowsOfEnd = 2;

}  // namespace

absl::StatusOr<GroupUsage> GroupUsage::Make(QuotaSpec spec) {
  GroupUsage usage;
  if (absl::Status s = usage.ChangeQuota(std::move(spec)); !s.ok()) return s;
  return usage;
}

absl::Status GroupUsage::ChangeQuota(QuotaSpec spec) {
  if (const absl::StatusOr<QuotaTree> tree = QuotaTree::Make(spec); !tree.ok()) return tree.status();
  spec_ = std::move(spec);
  Recount();
  return absl::OkStatus();
}

bool GroupUsage::Covers(std::string_view group, std::string_view tier) const {
  return tree_.GroupNamed(group).ok() && tree_.TierNamed(tier).has_value();
}

void GroupUsage::Change(QuotaTree& tree, const QuotaUse& use, bool more) {
  // Uncovered() returns this use.
  if (!tree.GroupNamed(use.group).ok() || !tree.TierNamed(use.tier).has_value()) return;
  for (const QuotaAmount& a : use.amounts.amounts()) {
    if (!tree.ResourceNamed(a.resource).has_value()) continue;
    const QuotaUse one{use.group, use.tier, {{a.resource, a.amount}}};
    // Remove only undoes an earlier Add. Neither call fails, except that Add rejects a sum above kMaxQuotaAmount.
    (void)(more ? tree.Add(one) : tree.Remove(one));
  }
}

// Calls `note` with the job's use in each group and tier.
void GroupUsage::ForEachUse(const Job& job, absl::FunctionRef<void(const QuotaUse&)> note) {
  for (const QuotaUse& use : job.tasks) note(use);
  if (!job.measured.has_value()) return;
  QuotaUse rest{job.measured->group, job.measured->tier, AmountsOf(*job.measured)};
  if (job.parts == 0) {
    if (job.measured->seen_s > job.ended_s) note(rest);
    return;
  }
  for (const QuotaUse& use : job.tasks) {
    for (const QuotaAmount& requested : use.amounts.amounts()) rest.amounts.Set(requested.resource, 0);
  }
  if (!rest.amounts.empty()) note(rest);
}

// Calls `note` for the job named `job` and for all jobs whose names begin with `job` and a '/'.
void GroupUsage::ForEachJobOf(std::string_view job,
                              absl::FunctionRef<void(const std::string&, const Job&)> note) const {
  if (job.empty()) return;
  if (const auto same = jobs_.find(job); same != jobs_.end()) note(same->first, same->second);
  const std::string below = StrCat(job, "/");
  for (auto at = jobs_.lower_bound(below); at != jobs_.end() && at->first.starts_with(below); ++at)
    note(at->first, at->second);
}

// Returns the open request of the group and tier for the job, else for the longest prefix of the job's name that
// ends before a '/'; 0 if there is none. A request covers one job name, or all names with a common prefix.
uint64_t GroupUsage::OwnerOf(const QuotaUse& use, std::string_view job) const {
  const auto of_group = by_job_.find(use.group);
  if (of_group == by_job_.end()) return 0;
  for (std::string_view part = job; !part.empty();) {
    const auto found = of_group->second.find(part);
    if (found != of_group->second.end() && requests_.at(found->second).tier == use.tier) return found->second;
    const size_t slash = part.rfind('/');
    if (slash == std::string_view::npos) break;
    part = part.substr(0, slash);
  }
  return 0;
}

void GroupUsage::Count(const std::string& name, const Job& job, bool more) {
  ForEachUse(job, [&](const QuotaUse& use) {
    const uint64_t owner = OwnerOf(use, name);
    if (owner == 0) return Change(tree_, use, more);
    Request& request = requests_.at(owner);
    Change(tree_, UseOf(request), false);
    request.live = Sum(request.live, use.amounts, more ? 1 : -1);
    Change(tree_, UseOf(request), true);
  });
}

void GroupUsage::Recount() {
  absl::StatusOr<QuotaTree> tree = QuotaTree::Make(spec_);
  if (!tree.ok()) return;  // Make cannot fail, because ChangeQuota has checked the specification
  tree_ = *std::move(tree);
  for (auto& [id, request] : requests_) request.live = {};
  std::map<std::pair<std::string, std::string>, UncoveredUse> uncovered;
  // Counts a use in the tree, or as uncovered. Returns the uncovered use; null if the tree covers the use.
  const auto count = [&](const QuotaUse& use) -> UncoveredUse* {
    if (Covers(use.group, use.tier)) {
      Change(tree_, use, true);
      return nullptr;
    }
    UncoveredUse& out = uncovered[{use.group, use.tier}];
    out.group = use.group;
    out.tier = use.tier;
    out.amounts = Sum(out.amounts, use.amounts, 1);
    return &out;
  };
  for (const auto& job : jobs_) {
    ForEachUse(job.second, [&](const QuotaUse& use) {
      if (const uint64_t owner = OwnerOf(use, job.first); owner != 0) {
        Request& request = requests_.at(owner);
        request.live = Sum(request.live, use.amounts, 1);
      } else if (UncoveredUse* const out = count(use); out != nullptr && out->jobs++ == 0) {
        out->first_job = job.first;
      }
    });
  }
  // Count requests after all jobs, because the use of a request depends on the summed use of its jobs.
  for (const auto& [id, request] : requests_) {
    if (UncoveredUse* const out = count(UseOf(request)); out != nullptr) ++out->requests;
  }
  uncovered_.clear();
  for (auto& [place, use] : uncovered) uncovered_.push_back(std::move(use));
}

void GroupUsage::SetMeasured(std::span<const JobUse> jobs, Timestamp now) {
  window_end_s_ = now.seconds();
  for (auto& [name, job] : jobs_) {
    job.measured.reset();
    // An end more than kWindowsOfEnd windows ahead was recorded before the clock was set back.
    if (job.ended_s > window_end_s_ + kWindowsOfEnd * kWindowSeconds) job.ended_s = INT64_MIN;
  }
  for (const JobUse& use : jobs) {
    std::optional<JobUse>& measured = jobs_[use.job].measured;
    measured = use;
    measured->job.clear();
  }
  std::erase_if(jobs_, [this](const auto& entry) {
    const Job& job = entry.second;
    return !job.measured.has_value() && job.parts == 0 && job.ended_s < window_end_s_;
  });
  Recount();
}

void GroupUsage::AddTask(std::span<const TaskUse> parts) {
  for (const TaskUse& part : parts) {
    Job& job = jobs_[part.job];
    Count(part.job, job, false);
    ++job.parts;
    if (QuotaUse* const place = FindPlace(job.tasks, part); place != nullptr) {
      place->amounts = Sum(place->amounts, part.amounts, 1);
    } else {
      job.tasks.push_back({part.group, part.tier, part.amounts});
    }
    Count(part.job, job, true);
  }
}

void GroupUsage::RemoveTask(std::span<const TaskUse> parts, bool ended) {
  for (const TaskUse& part : parts) {
    const auto found = jobs_.find(part.job);
    QuotaUse* const place = found == jobs_.end() ? nullptr : FindPlace(found->second.tasks, part);
    if (place == nullptr) continue;
    Job& job = found->second;
    Count(part.job, job, false);
    place->amounts = Sum(place->amounts, part.amounts, -1);
    if (--job.parts == 0) job.tasks.clear();
    if (job.parts == 0 && ended && window_end_s_ != INT64_MIN)
      job.ended_s = window_end_s_ + kWindowsOfEnd * kWindowSeconds;
    Count(part.job, job, true);
    if (job.parts == 0 && !job.measured.has_value() && job.ended_s < window_end_s_) jobs_.erase(found);
  }
}

void GroupUsage::ClearTasks() {
  for (auto& [name, job] : jobs_) {
    job.tasks.clear();
    job.parts = 0;
  }
  Recount();
}

void GroupUsage::Open(const QuotaRequest& request) {
  if (IsOpen(request.id)) return;
  ForEachJobOf(request.job, [this](const std::string& name, const Job& job) { Count(name, job, false); });
  const AdmissionRequest& asked = request.asked;
  Request& made = requests_[request.id];
  made = {
      asked.group, asked.tier, request.job, asked.per_task.Times(asked.tasks).value_or(asked.per_task), {}};
  if (!request.job.empty()) by_job_[asked.group][request.job] = request.id;
  Change(tree_, UseOf(made), true);
  ForEachJobOf(request.job, [this](const std::string& name, const Job& job) { Count(name, job, true); });
}

void GroupUsage::Close(uint64_t id) {
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  const std::string job_name = found->second.job;
  ForEachJobOf(job_name, [this](const std::string& name, const Job& job) { Count(name, job, false); });
  Change(tree_, UseOf(found->second), false);
  const auto of_group = by_job_.find(found->second.group);
  if (of_group != by_job_.end()) {
    const auto same = of_group->second.find(job_name);
    if (same != of_group->second.end() && same->second == id) of_group->second.erase(same);
    if (of_group->second.empty()) by_job_.erase(of_group);
  }
  requests_.erase(found);
  ForEachJobOf(job_name, [this](const std::string& name, const Job& job) { Count(name, job, true); });
}

bool GroupUsage::IsMeasured(uint64_t id) const {
  const Request& request = requests_.at(id);
  bool is_measured = false;
  ForEachJobOf(request.job, [&](const std::string& name, const Job& job) {
    if (is_measured || !job.measured.has_value()) return;
    is_measured = OwnerOf({job.measured->group, job.measured->tier, {}}, name) == id;
  });
  return is_measured;
}

QuotaUse GroupUsage::UseOf(uint64_t id) const { return UseOf(requests_.at(id)); }

QuotaVector GroupUsage::InUse(std::string_view group, std::string_view tier) const {
  QuotaVector out;
  const int32_t node = *tree_.GroupNamed(group), of_tier = *tree_.TierNamed(tier);
  for (int32_t r = 0; r < static_cast<int32_t>(tree_.resources().size()); ++r)
    out.Set(tree_.resources()[static_cast<size_t>(r)], tree_.lane(of_tier, r).cell(node).held);
  return out;
}

bool GroupUsage::HasJobs(const AdmissionRequest& request, std::string_view job) const {
  bool has = false;
  ForEachJobOf(job, [&](const std::string&, const Job& of) {
    ForEachUse(of, [&](const QuotaUse& use) {
      has = has || (use.group == request.group && use.tier == request.tier);
    });
  });
  return has;
}

void GroupUsage::LeaveOutJobs(const AdmissionRequest& request, std::string_view job, QuotaTree& tree) const {
  ForEachJobOf(job, [&](const std::string& name, const Job& of) {
    ForEachUse(of, [&](const QuotaUse& use) {
      if (use.group == request.group && use.tier == request.tier && OwnerOf(use, name) == 0)
        Change(tree, use, false);
    });
  });
}

QuotaTree GroupUsage::Without(std::span<const uint64_t> ids) const {
  QuotaTree out = tree_;
  for (const uint64_t id : ids) {
    const Request& request = requests_.at(id);
    Change(out, UseOf(request), false);
    // Jobs of an ended request continue to run, and their own use is counted.
    ForEachJobOf(request.job, [&](const std::string& name, const Job& job) {
      ForEachUse(job, [&](const QuotaUse& use) {
        if (OwnerOf(use, name) == id) Change(out, use, true);
      });
    });
  }
  return out;
}

}  // namespace taut::brain
