#include "tools/sim/tier_simulation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr std::string_view kEvents[] = {"admitted", "queued", "refused", "reclaimed", "resumed"};
constexpr int32_t kStillRuns = std::numeric_limits<int32_t>::max();

bool Within(const PoolAmounts& a, const PoolAmounts& most) { return a[0] <= most[0] && a[1] <= most[1]; }
PoolAmounts Sum(PoolAmounts a, const PoolAmounts& b) {
  Plus(a, b);
  return a;
}

double PartOf(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 1;
}

}  // namespace

std::string_view Name(SaleEvent event) { return kEvents[static_cast<size_t>(event)]; }

bool SoldJob::RunsAt(int32_t step) const {
  const auto after = std::ranges::upper_bound(runs, step, {}, &StepSpan::first);
  return after != runs.begin() && step < std::prev(after)->end;
}

const PeriodAvailability* SoldJob::In(int32_t period) const {
  const auto at = std::ranges::find(periods, period, &PeriodAvailability::period);
  return at != periods.end() ? &*at : nullptr;
}

double TierTotals::obtained_share() const {
  return PartOf(static_cast<int64_t>(at_once), static_cast<int64_t>(jobs));
}
double TierTotals::available_share() const { return PartOf(ran_steps, wanted_steps); }

TierSimulation::TierSimulation(const TierSimulationOptions& options, std::span<const PoolJob> jobs,
                               std::unique_ptr<TierSeller> seller, std::unique_ptr<TierQuota> quota)
    : options_(options),
      jobs_(jobs),
      seller_(std::move(seller)),
      quota_(std::move(quota)),
      window_(AllOf(brain::ReclaimWindow(options.reclaim_steps, brain::ReclaimReading::kKept))),
      index_of_job_(jobs.size(), -1) {}

absl::Status TierSimulation::Step(const TierStep& step, PoolLines& lines,
                                  std::vector<SaleDecision>* decisions) {
  decisions_ = decisions;
  PerResource<double> available;
  PoolAmounts free = {};
  bool measured = true;
  for (size_t i = 0; i < kNumResources; ++i) {
    const double left = static_cast<double>(options_.capacity[i]) - step.higher_use[i];
    available[i] = window_[i].Add(left < 0 ? 0 : left);
    measured = measured && !std::isnan(available[i]);
    if (measured) free[i] = static_cast<int64_t>(available[i]);
  }
  lines = {};
  if (step_ >= options_.sale_from) {
    // Release ended jobs first, so that requests of this step may use the released amounts. Record usage before
    // Admit(), because held_sum_ must contain this step's requests.
    if (absl::Status s = ReleaseEnded(); !s.ok()) return s;
    if (absl::Status s = TakeUsage(step); !s.ok()) return s;
    if (absl::Status s = Admit(step); !s.ok()) return s;
    if (options_.reclaimable && measured) Fit(free);
    Account(lines);
  }
  // Observe the step after Admit(), because a seller must decide from earlier steps only.
  seller_->Observe(step.higher_use, available);
  ++step_;
  return absl::OkStatus();
}

absl::Status TierSimulation::ReleaseEnded() {
  absl::Status status;
  const auto ended = [&](size_t i) { return jobs_[sold_[i].job].last_step < step_; };
  std::erase_if(waiting_, [&](size_t i) {
    if (!ended(i)) return false;
    const int64_t waited_s = int64_t{step_ - sold_[i].asked_step} * kWindowSeconds;
    Say(i, SaleEvent::kRefused, StrCat("it ended after ", FormatDuration(waited_s), " of waiting"));
    return true;
  });
  std::erase_if(held_, [&](size_t i) {
    if (!ended(i)) return false;
    Plus(held_sum_, state_[i].ask, -1);
    if (quota_ != nullptr) status.Update(quota_->Change(jobs_[sold_[i].job].group, state_[i].ask, {}));
    if (state_[i].runs) Stop(i);
    return true;
  });
  return status;
}

absl::Status TierSimulation::TakeUsage(const TierStep& step) {
  for (const PoolJobStep& job : step.jobs) {
    int32_t& index = index_of_job_[job.job];
    if (index < 0) {
      index = static_cast<int32_t>(sold_.size());
      sold_.push_back({job.job, step_, -1, 0, {}, {}});
      state_.emplace_back();
      waiting_.push_back(static_cast<size_t>(index));
    }
    State& state = state_[static_cast<size_t>(index)];
    if (sold_[static_cast<size_t>(index)].granted_step >= 0) {
      Plus(held_sum_, state.ask, -1);
      Plus(held_sum_, job.ask);
      if (quota_ != nullptr) {
        const absl::Status s = quota_->Change(jobs_[job.job].group, state.ask, job.ask);
        if (!s.ok()) return s;
      }
    }
    state.ask = job.ask;
    state.use = job.use;
    state.seen_step = step_;
  }
  return absl::OkStatus();
}

absl::Status TierSimulation::Admit(const TierStep& step) {
  std::vector<size_t> still;
  for (const size_t i : waiting_) {
    const PoolJob& job = jobs_[sold_[i].job];
    const State& state = state_[i];
    bool waits = true;
    if (SeenNow(i)) {
      const SaleRequest request = {step_, job.last_step, sold_[i].job, state.ask, held_sum_, step.bought};
      const bool in_quota = quota_ == nullptr || quota_->Fits(job.group, state.ask);
      if (in_quota && seller_->Grants(request)) {
        if (quota_ != nullptr) {
          if (absl::Status s = quota_->Change(job.group, {}, state.ask); !s.ok()) return s;
        }
        // Query the reason before Sold(), because the reason must exclude this sale.
        Say(i, SaleEvent::kAdmitted, decisions_ != nullptr ? seller_->Why(request) : "");
        seller_->Sold(request);
        Plus(held_sum_, state.ask);
        sold_[i].granted_step = step_;
        held_.push_back(i);
        Start(i);
        waits = false;
      } else if (sold_[i].asked_step == step_) {
        if (absl::Status s = Refuse(i, request, in_quota, waits); !s.ok()) return s;
      }
    }
    if (waits) still.push_back(i);
  }
  waiting_ = std::move(still);
  return absl::OkStatus();
}

// Handles the first request that is not granted. A request that exceeds the quota of the group on its own is
// refused and does not wait.
absl::Status TierSimulation::Refuse(size_t i, const SaleRequest& request, bool in_quota, bool& waits) {
  if (in_quota) {
    Say(i, SaleEvent::kQueued, decisions_ != nullptr ? seller_->Why(request) : "");
    return absl::OkStatus();
  }
  const absl::StatusOr<brain::AdmissionVerdict> verdict =
      quota_->Decide(jobs_[request.job].group, request.ask);
  if (!verdict.ok()) return verdict.status();
  waits = verdict->outcome != brain::AdmissionOutcome::kRefused;
  Say(i, waits ? SaleEvent::kQueued : SaleEvent::kRefused,
      verdict->reasons.empty() ? "beyond the quota" : verdict->reasons.front().text);
  return absl::OkStatus();
}

void TierSimulation::Fit(const PoolAmounts& free) {
  PoolAmounts asked = {}, kept = {};
  bool together = true;               // true while the job fits on top of all jobs granted before
  std::vector<size_t> running, rest;  // jobs that do not fit: running or stopped in the previous step
  for (const size_t i : held_) {
    if (!SeenNow(i)) continue;
    const State& state = state_[i];
    if (state.runs) Plus(asked, state.ask);
    together = together && Within(Sum(kept, state.ask), free);
    if (together) Plus(kept, state.ask);
    if (together && !state.runs) Resume(i);
    if (!together) (state.runs ? running : rest).push_back(i);
  }
  // Next, keep running jobs before stopped jobs, so that resuming a job never displaces a running job.
  for (const size_t i : running) {
    if (Within(Sum(kept, state_[i].ask), free)) {
      Plus(kept, state_[i].ask);
      continue;
    }
    Stop(i);
    ++sold_[i].reclaims;
    totals_.reclaims += step_ >= options_.count_from ? 1 : 0;
    Say(i, SaleEvent::kReclaimed, decisions_ != nullptr ? WhyReclaimed(free, asked) : "");
  }
  for (const size_t i : rest) {
    if (!Within(Sum(kept, state_[i].ask), free)) continue;
    Plus(kept, state_[i].ask);
    Resume(i);
  }
}

void TierSimulation::Resume(size_t i) {
  Start(i);
  Say(i, SaleEvent::kResumed, "it fits again");
}

std::string TierSimulation::WhyReclaimed(const PoolAmounts& free, const PoolAmounts& asked) const {
  if (Within(asked, free)) return "an older job that was reclaimed fits again";
  const size_t i = asked[0] > free[0] ? 0 : 1;
  const double unit = static_cast<double>(kWindowSeconds) * (i == 0 ? 1000 : 1024);
  return fmt::format("higher tiers leave {:.6g} {}, and what runs asks for {:.6g}",
                     static_cast<double>(free[i]) / unit, i == 0 ? "cores" : "GiB of memory",
                     static_cast<double>(asked[i]) / unit);
}

void TierSimulation::Account(PoolLines& lines) {
  const bool counts = step_ >= options_.count_from;
  const int32_t period = options_.period[static_cast<size_t>(step_)];
  for (const size_t i : held_) {
    const State& state = state_[i];
    Plus(lines.reservation, state.ask);
    if (!SeenNow(i)) continue;
    if (state.runs) {
      Plus(lines.allocation, state.ask);
      Plus(lines.usage, state.use);
    }
    if (!counts) continue;
    Plus(totals_.wanted, state.ask);
    std::vector<PeriodAvailability>& periods = sold_[i].periods;
    if (periods.empty() || periods.back().period != period) periods.push_back({period, 0, 0});
    ++periods.back().wanted;
    periods.back().ran += state.runs ? 1 : 0;
  }
  if (!counts) return;
  Plus(totals_.sums.usage, lines.usage);
  Plus(totals_.sums.allocation, lines.allocation);
  Plus(totals_.sums.reservation, lines.reservation);
}

void TierSimulation::Start(size_t i) {
  state_[i].runs = true;
  sold_[i].runs.push_back({step_, kStillRuns});
}

void TierSimulation::Stop(size_t i) {
  state_[i].runs = false;
  std::vector<StepSpan>& runs = sold_[i].runs;
  runs.back().end = step_;
  // Discard a run that started in this step: a job that is stopped in the same step did not run.
  if (runs.back().first == step_) runs.pop_back();
}

void TierSimulation::Say(size_t i, SaleEvent event, std::string reason) {
  if (decisions_ == nullptr) return;
  decisions_->push_back({step_, sold_[i].job, event, state_[i].ask, std::move(reason)});
}

void TierSimulation::Finish() {
  for (const size_t i : held_) {
    if (state_[i].runs) Stop(i);
  }
}

TierTotals TierSimulation::Totals() const {
  TierTotals out = totals_;
  for (const SoldJob& job : sold_) {
    if (jobs_[job.job].last_step < options_.count_from) continue;
    ++out.jobs;
    if (job.granted_step < 0) {
      ++out.never;
    } else {
      ++(job.granted_step - job.asked_step <= options_.patience_steps ? out.at_once : out.later);
    }
    for (const PeriodAvailability& p : job.periods) {
      ++out.job_periods;
      out.job_periods_kept += p.Kept(options_.availability_ppm) ? 1 : 0;
      out.wanted_steps += p.wanted;
      out.ran_steps += p.ran;
    }
  }
  return out;
}

}  // namespace taut::tools
