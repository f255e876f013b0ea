#include "brain/economy/reclaim.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr int64_t kMaxGraceSeconds = 365 * kDaySeconds;

// A requested resource. `lane` is its quota lane without the jobs chosen so far, `before` the lane with all jobs.
struct Lack {
  std::string_view resource;
  int64_t amount = 0;
  QuotaLane lane;
  const QuotaLane* before = nullptr;
};

// A job that the policy allows to end.
struct Candidate {
  size_t job = 0;
  int32_t group = 0;
  std::vector<int64_t> amounts;  // amount of each row of lacks_
};

class Reclaim {
 public:
  Reclaim(const QuotaTree& tree, std::span<const HeldJob> jobs, const AdmissionRequest& request,
          const ReclaimOptions& options)
      : tree_(tree), jobs_(jobs), request_(request), options_(options) {}

  absl::StatusOr<ReclaimPlan> Run() {
    if (options_.grace_s < 0 || options_.grace_s > kMaxGraceSeconds) {
      return absl::InvalidArgumentError(
          StrCat("invalid grace ", options_.grace_s, " s: expected 0 to ", kMaxGraceSeconds, " s"));
    }
    absl::StatusOr<AdmissionVerdict> verdict = DecideAdmission(tree_, request_);
    if (!verdict.ok()) return verdict.status();
    if (verdict->outcome == AdmissionOutcome::kAdmitted) {
      plan_.enough = true;
      return std::move(plan_);
    }
    if (!Entitled(*verdict)) return std::move(plan_);
    if (const absl::Status status = FindCandidates(); !status.ok()) return status;
    Choose();
    if (!Fits()) {
      NotEnough();
      return std::move(plan_);
    }
    Spare();
    plan_.enough = true;
    Report();
    return std::move(plan_);
  }

 private:
  // Fills lacks_. Returns false, after adding the reasons, if the request may reclaim nothing.
  bool Entitled(const AdmissionVerdict& verdict) {
    group_ = *tree_.GroupNamed(request_.group);
    tier_ = *tree_.TierNamed(request_.tier);
    if (verdict.outcome == AdmissionOutcome::kRefused) {
      for (const AdmissionReason& r : verdict.reasons) {
        if (r.never) plan_.why_not.push_back(r.text);
      }
      return false;
    }
    for (const QuotaAmount& a : verdict.use.amounts.amounts()) {
      const QuotaLane& lane = tree_.lane(tier_, *tree_.ResourceNamed(a.resource));
      const QuotaCell& c = lane.cell(group_);
      lacks_.push_back({a.resource, a.amount, lane, &lane});
      if (lane.Fits(group_, a.amount) || c.use + a.amount <= c.nominal) continue;
      plan_.why_not.push_back(StrCat("The request takes \"", request_.group, "\" to ",
                                     QuotaText(a.resource, c.use + a.amount),
                                     ", beyond its nominal quota of ", QuotaText(a.resource, c.nominal),
                                     ": only what is within it is reclaimed."));
    }
    if (options_.policy == ReclaimPolicy::kNever)
      plan_.why_not.emplace_back("The policy is never to reclaim.");
    return plan_.why_not.empty();
  }

  absl::Status FindCandidates() {
    std::vector<QuotaLane> left;  // use that remains after the jobs so far have ended
    for (const Lack& l : lacks_) left.push_back(l.lane);
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const HeldJob& job = jobs_[i];
      if (job.use.tier != request_.tier) continue;
      const absl::StatusOr<int32_t> group = tree_.GroupNamed(job.use.group);
      if (!group.ok()) return group.status();
      Candidate c{i, *group, {}};
      for (size_t k = 0; k < lacks_.size(); ++k) {
        const int64_t amount = job.use.amounts.Get(lacks_[k].resource);
        const int64_t held = left[k].cell(*group).held;
        if (amount < 0 || amount > held) {
          return absl::InvalidArgumentError(StrCat("the jobs of group \"", job.use.group, "\" use more ",
                                                   lacks_[k].resource, " than its account has, at job \"",
                                                   job.id, "\": ", amount, ", expected 0 to ", held));
        }
        left[k].Add(*group, -amount);
        c.amounts.push_back(amount);
      }
      if (*group == group_) continue;
      if (options_.policy == ReclaimPolicy::kLowerPriority && job.priority >= request_.priority) {
        spared_by_priority_ = true;
        continue;
      }
      candidates_.push_back(std::move(c));
    }
    std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
      const HeldJob &x = jobs_[a.job], &y = jobs_[b.job];
      return std::tie(x.priority, y.since, x.id) < std::tie(y.priority, x.since, y.id);
    });
    return absl::OkStatus();
  }

  bool Lacks(const Lack& l) const { return !l.lane.Fits(group_, l.amount); }
  bool FitsBefore(const Lack& l) const { return l.before->Fits(group_, l.amount); }
  bool Fits() const {
    return std::none_of(lacks_.begin(), lacks_.end(), [&](const Lack& l) { return Lacks(l); });
  }

  // Returns true if the group and all cohorts up to the lowest cohort that contains the request's group use more
  // than their quota.
  bool Borrows(const QuotaLane& lane, int32_t group) const {
    for (; !Contains(lane, group); group = lane.cell(group).parent) {
      if (lane.cell(group).use <= lane.cell(group).quota) return false;
      if (lane.cell(group).parent < 0) return false;  // the group belongs to a different tree
    }
    return true;
  }
  bool Contains(const QuotaLane& lane, int32_t cohort) const {
    int32_t at = group_;
    while (at >= 0 && at != cohort) at = lane.cell(at).parent;
    return at == cohort;
  }

  // One pass over the candidates suffices, because borrowed amounts and the request's lack only shrink.
  void Choose() {
    for (size_t i = 0; i < candidates_.size() && !Fits(); ++i) {
      const Candidate& c = candidates_[i];
      bool helps = false;
      for (size_t k = 0; k < lacks_.size() && !helps; ++k)
        helps = c.amounts[k] > 0 && Lacks(lacks_[k]) && Borrows(lacks_[k].lane, c.group);
      if (!helps) continue;
      Count(c, -1);
      chosen_.push_back(i);
    }
  }
  void Count(const Candidate& c, int64_t sign) {
    for (size_t k = 0; k < lacks_.size(); ++k) {
      if (c.amounts[k] > 0) lacks_[k].lane.Add(c.group, sign * c.amounts[k]);
    }
  }

  void Spare() {
    for (size_t i = chosen_.size(); i-- > 0;) {
      Count(candidates_[chosen_[i]], 1);
      if (Fits()) {
        chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        Count(candidates_[chosen_[i]], -1);
      }
    }
  }

  void NotEnough() {
    for (const Lack& l : lacks_) {
      if (!Lacks(l)) continue;
      plan_.why_not.push_back(
          StrCat("With all that may be reclaimed, ", QuotaText(l.resource, l.lane.Available(group_)),
                 " of the ", QuotaText(l.resource, l.amount), " asked for would be free",
                 spared_by_priority_ ? "; other jobs have the request's priority or a higher one." : "."));
    }
  }

  void Report() {
    for (const size_t i : chosen_) {
      const Candidate& c = candidates_[i];
      std::string borrows;
      for (size_t k = 0; k < lacks_.size(); ++k) {
        const QuotaCell& cell = lacks_[k].before->cell(c.group);
        if (c.amounts[k] == 0 || cell.use <= cell.nominal || FitsBefore(lacks_[k])) continue;
        StrAppend(&borrows, borrows.empty() ? "" : " and ", QuotaText(lacks_[k].resource, cell.use),
                  " of a quota of ", QuotaText(lacks_[k].resource, cell.nominal));
      }
      plan_.victims.push_back(
          {c.job, Timestamp{request_.now.us + options_.grace_s * kMicrosPerSecond},
           StrCat("\"", request_.group, "\" takes back its quota of tier \"", request_.tier, "\"; \"",
                  tree_.NameOf(c.group), "\" uses ", borrows, ".")});
    }
  }

  const QuotaTree& tree_;
  std::span<const HeldJob> jobs_;
  const AdmissionRequest& request_;
  const ReclaimOptions& options_;
  int32_t group_ = 0, tier_ = 0;
  std::vector<Lack> lacks_;  // all requested resources, because a resource that fits now must still fit
  std::vector<Candidate> candidates_;
  std::vector<size_t> chosen_;
  bool spared_by_priority_ = false;
  ReclaimPlan plan_;
};

constexpr std::pair<ReclaimPolicy, std::string_view> kPolicies[] = {
    {ReclaimPolicy::kNever, "never"},
    {ReclaimPolicy::kLowerPriority, "lower-priority"},
    {ReclaimPolicy::kAny, "any"},
};

}  // namespace

std::string_view Name(ReclaimPolicy policy) { return kPolicies[static_cast<size_t>(policy)].second; }

std::optional<ReclaimPolicy> ReclaimPolicyNamed(std::string_view name) {
  for (const auto& [policy, of] : kPolicies) {
    if (of == name) return policy;
  }
  return std::nullopt;
}

absl::StatusOr<ReclaimPlan> PlanReclaim(const QuotaTree& tree, std::span<const HeldJob> jobs,
                                        const AdmissionRequest& request, const ReclaimOptions& options) {
  return Reclaim(tree, jobs, request, options).Run();
}

}  // namespace taut::brain
