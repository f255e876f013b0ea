#include "brain/economy/admission.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr int64_t kMaxDurationSeconds = 100 * 365 * kDaySeconds;

// A requested resource and its lane, which is null if the tree does not have the resource.
struct Want {
  std::string_view resource;
  int64_t amount = 0, per_task = 0;
  const QuotaLane* lane = nullptr;
  int64_t available = 0;
};

class Decision {
 public:
  Decision(const QuotaTree& tree, const AdmissionRequest& request) : tree_(tree), request_(request) {}

  absl::StatusOr<AdmissionVerdict> Run(std::span<const ExpectedRelease> releases,
                                       const AdmissionOptions& options) {
    if (const absl::Status status = Read(); !status.ok()) return status;
    wants_ = WantsIn(tier_);
    if (FitsNow(wants_)) {
      out_.outcome = AdmissionOutcome::kAdmitted;
      for (const Want& w : wants_) Borrowed(w);
      return std::move(out_);
    }
    out_.outcome = AdmissionOutcome::kQueued;
    for (const Want& w : wants_) Reasons(w);
    Nearest();
    if (out_.outcome == AdmissionOutcome::kRefused) return std::move(out_);
    // Reclaiming can help only if the request is within the nominal quota of every lacking resource.
    out_.reclaimable = std::all_of(wants_.begin(), wants_.end(), [&](const Want& w) {
      const QuotaCell& c = w.lane->cell(group_);
      return w.amount <= w.available || c.use + w.amount <= c.nominal;
    });
    if (const absl::Status status = WaitFor(releases, options); !status.ok()) return status;
    return std::move(out_);
  }

 private:
  absl::Status Read() {
    const absl::StatusOr<int32_t> group = tree_.GroupNamed(request_.group);
    if (!group.ok()) return group.status();
    const absl::StatusOr<int32_t> tier = tree_.TierOrError(request_.tier);
    if (!tier.ok()) return tier.status();
    group_ = *group;
    tier_ = *tier;
    if (request_.per_task.empty()) return absl::InvalidArgumentError("the request asks for nothing");
    if (request_.tasks < 1)
      return absl::InvalidArgumentError(
          StrCat("invalid number of tasks ", request_.tasks, ": expected at least 1"));
    const int64_t duration_s = request_.duration_s.value_or(0);
    if (duration_s < 0 || duration_s > kMaxDurationSeconds) {
      return absl::InvalidArgumentError(
          StrCat("invalid duration ", duration_s, " s: expected 0 to ", kMaxDurationSeconds, " s"));
    }
    std::optional<QuotaVector> all = request_.per_task.Times(request_.tasks);
    if (!all.has_value()) {
      return absl::InvalidArgumentError(StrCat("invalid amount in ", request_.tasks, " times ",
                                               QuotaText(request_.per_task), ": expected 0 to ",
                                               kMaxQuotaAmount, " in all"));
    }
    out_.use = {request_.group, request_.tier, *std::move(all)};
    return absl::OkStatus();
  }

  std::vector<Want> WantsIn(int32_t tier) const {
    std::vector<Want> out;
    out.reserve(out_.use.amounts.amounts().size());
    for (size_t i = 0; i < out_.use.amounts.amounts().size(); ++i) {
      const QuotaAmount& a = out_.use.amounts.amounts()[i];
      Want w{a.resource, a.amount, request_.per_task.amounts()[i].amount, nullptr, 0};
      if (const std::optional<int32_t> resource = tree_.ResourceNamed(a.resource); resource.has_value()) {
        w.lane = &tree_.lane(tier, *resource);
        w.available = w.lane->Available(group_);
      }
      out.push_back(w);
    }
    return out;
  }
  static bool FitsNow(const std::vector<Want>& wants) {
    return std::all_of(wants.begin(), wants.end(), [](const Want& w) { return w.amount <= w.available; });
  }

  void Borrowed(const Want& w) {
    const QuotaCell& c = w.lane->cell(group_);
    const int64_t beyond = c.use + w.amount - std::max(c.use, c.nominal);
    if (beyond > 0) {
      out_.borrowed.push_back(
          {std::string(w.resource), beyond, tree_.NameOf(w.lane->LenderOf(group_, w.amount))});
    }
  }

  void Reasons(const Want& w) {
    const bool listed = w.lane != nullptr && w.lane->cell(group_).listed;
    if (!listed && w.available == 0) {
      out_.outcome = AdmissionOutcome::kRefused;
      out_.reasons.push_back({AdmissionReason::Kind::kNoQuota, true, std::string(w.resource), request_.group,
                              w.amount, 0,
                              StrCat("Group \"", request_.group, "\" has no quota of ", w.resource,
                                     " in tier \"", request_.tier, "\".")});
      return;
    }
    const bool never = w.amount > w.lane->Maximum(group_);
    if (never) out_.outcome = AdmissionOutcome::kRefused;
    if (w.amount <= w.available) return;
    // A resource that could never fit has the reasons of an unused tree, because current use is not the cause.
    for (const QuotaBind& bind : w.lane->Binds(group_, w.amount, !never)) {
      AdmissionReason r;
      r.kind = bind.what == QuotaBind::What::kCohort ? AdmissionReason::Kind::kCohort
                                                     : AdmissionReason::Kind::kBorrowingLimit;
      r.never = never;
      r.resource = w.resource;
      r.level = tree_.NameOf(bind.node);
      r.asked = bind.asked;
      r.available = std::max(int64_t{0}, bind.available);
      r.text = TextOf(w, bind, r);
      out_.reasons.push_back(std::move(r));
    }
  }

  std::string TextOf(const Want& w, const QuotaBind& bind, const AdmissionReason& r) const {
    const QuotaCell& c = w.lane->cell(bind.node);
    const auto amount = [&](int64_t n) { return QuotaText(w.resource, n); };
    std::string out = StrCat("\"", r.level, "\" ", r.never ? "could have " : "has ", amount(r.available),
                             r.never ? "" : " left", " of the ", amount(r.asked), " asked for: ");
    if (bind.what == QuotaBind::What::kBorrowingLimit) {
      StrAppend(&out, "its quota is ", amount(c.quota), " and it may borrow ",
                c.borrow == 0 ? "nothing" : amount(c.borrow));
    } else {
      StrAppend(&out, "its quota", c.parent < 0 && tree_.IsCohort(bind.node) ? " to share" : "", " is ",
                amount(c.quota));
    }
    if (!r.never) StrAppend(&out, "; in use: ", amount(c.use));
    const int64_t unlent = r.never || bind.what != QuotaBind::What::kCohort ? 0 : w.lane->UnlentTo(group_);
    if (unlent > 0) StrAppend(&out, "; unused and not lent: ", amount(unlent));
    return out + ".";
  }

  // Sets the nearest alternatives. Amounts of different resources are independent, so that each amount is the
  // maximum of its own lane.
  void Nearest() {
    out_.fitting_tasks = request_.tasks;
    for (const Want& w : wants_) {
      out_.fitting_tasks = std::min(out_.fitting_tasks, w.available / w.per_task);
      out_.fitting.Set(w.resource, w.available);
    }
    for (int32_t t = 0; t < static_cast<int32_t>(tree_.tiers().size()); ++t) {
      if (t != tier_ && FitsNow(WantsIn(t)))
        out_.other_tiers.push_back(tree_.tiers()[static_cast<size_t>(t)]);
    }
  }

  absl::Status WaitFor(std::span<const ExpectedRelease> releases, const AdmissionOptions& options) {
    if (releases.size() > options.max_releases) releases = releases.first(options.max_releases);
    if (releases.empty()) return absl::OkStatus();
    std::vector<QuotaLane> later;
    for (const Want& w : wants_) later.push_back(*w.lane);
    const auto fits = [&] {
      for (size_t k = 0; k < wants_.size(); ++k) {
        if (!later[k].Fits(group_, wants_[k].amount)) return false;
      }
      return true;
    };
    for (size_t i = 0; i < releases.size(); ++i) {
      const ExpectedRelease& r = releases[i];
      if (i > 0 && r.at < releases[i - 1].at) {
        return absl::InvalidArgumentError(
            StrCat("expected releases out of order: number ", i + 1, " is before number ", i));
      }
      if (r.use.tier != request_.tier) continue;
      const absl::StatusOr<int32_t> group = tree_.GroupNamed(r.use.group);
      if (!group.ok()) return group.status();
      bool changed = false;
      for (size_t k = 0; k < wants_.size(); ++k) {
        // A release that exceeds the use releases the whole use.
        const int64_t amount = std::min(r.use.amounts.Get(wants_[k].resource), later[k].cell(*group).held);
        if (amount < 0) {
          return absl::InvalidArgumentError(StrCat("negative release of ", wants_[k].resource, " by group \"",
                                                   r.use.group, "\": ", amount));
        }
        if (amount > 0) later[k].Add(*group, -amount);
        changed = changed || amount > 0;
      }
      if (!changed || !fits()) continue;
      out_.probably_at = std::max(r.at, request_.now);
      out_.after_release = r.use;
      break;
    }
    return absl::OkStatus();
  }

  const QuotaTree& tree_;
  const AdmissionRequest& request_;
  int32_t group_ = 0, tier_ = 0;
  std::vector<Want> wants_;
  AdmissionVerdict out_;
};

}  // namespace

std::string_view Name(AdmissionOutcome outcome) {
  switch (outcome) {
    case AdmissionOutcome::kAdmitted:
      return "admitted";
    case AdmissionOutcome::kQueued:
      return "queued";
    case AdmissionOutcome::kRefused:
      break;
  }
  return "refused";
}

absl::StatusOr<AdmissionVerdict> DecideAdmission(const QuotaTree& tree, const AdmissionRequest& request,
                                                 std::span<const ExpectedRelease> releases,
                                                 const AdmissionOptions& options) {
  return Decision(tree, request).Run(releases, options);
}

AdmissionVerdict Held(AdmissionVerdict verdict, std::string why) {
  AdmissionVerdict out;
  out.use = std::move(verdict.use);
  out.reasons = std::move(verdict.reasons);
  AdmissionReason reason;
  reason.kind = AdmissionReason::Kind::kBudget;
  reason.level = out.use.group;
  reason.text = std::move(why);
  out.reasons.insert(out.reasons.begin(), std::move(reason));
  return out;
}

std::string Explain(const AdmissionVerdict& v) {
  std::string out =
      StrCat(QuotaText(v.use.amounts), " for \"", v.use.group, "\" in tier \"", v.use.tier, "\": ");
  if (v.outcome == AdmissionOutcome::kAdmitted) {
    if (v.borrowed.empty()) return out + "admitted within the group's own quota.";
    std::string from;
    for (const AdmissionBorrowing& b : v.borrowed) {
      StrAppend(&from, from.empty() ? "" : " and ", QuotaText(b.resource, b.amount), " borrowed from \"",
                b.cohort, "\"");
    }
    return StrCat(out, "admitted, ", from, ".");
  }
  const bool queued = v.outcome == AdmissionOutcome::kQueued;
  const bool held = !v.reasons.empty() && v.reasons.front().kind == AdmissionReason::Kind::kBudget;
  StrAppend(&out, queued ? "queued." : held ? "refused." : "refused, it can never fit.");
  for (const AdmissionReason& r : v.reasons) StrAppend(&out, " ", r.text);
  if (held) return out;
  if (v.reclaimable) out += " It is within the group's nominal quota, which others borrow.";
  if (v.probably_at.has_value()) {
    StrAppend(&out, " It probably fits at ", FormatTime(v.probably_at->seconds()), ", when \"",
              v.after_release.group, "\" releases ", QuotaText(v.after_release.amounts), ".");
  } else if (queued) {
    out += " No expected release makes it fit.";
  }
  StrAppend(&out, " What fits now: ", v.fitting_tasks, v.fitting_tasks == 1 ? " task" : " tasks",
            "; at most ", QuotaText(v.fitting), ".");
  if (!v.other_tiers.empty())
    StrAppend(&out, " It would fit in tier \"", Join(v.other_tiers, "\", \""), "\".");
  return out;
}

}  // namespace taut::brain
