#include "api/budgets.h"

#include <algorithm>

#include "absl/time/time.h"

namespace taut {
namespace {

constexpr int64_t kRateDays = 7;

bool Fits(const Budget& budget, const CostJob& job) {
  return budget.label.empty() || CostKeyOf(job, budget.label) == budget.value;
}

double BilledOf(const Budget& budget, const CostReport& report, const Prices& prices) {
  AccountEntry sums;
  for (const CostJob& job : report.jobs) {
    if (Fits(budget, job)) sums.Add(job.sums);
  }
  return CostsOf(sums, prices).billed;
}

}  // namespace

absl::StatusOr<BudgetStates> StatesOf(const std::vector<Budget>& budgets, History& history,
                                      const FleetView& view, const Prices& prices, int64_t now_s) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  const absl::CivilMonth month(absl::ToCivilSecond(absl::FromUnixSeconds(now_s), utc));
  const auto seconds = [&](absl::CivilMonth m) {
    return absl::ToUnixSeconds(absl::FromCivil(absl::CivilSecond(m), utc));
  };
  BudgetStates out;
  out.month_from_s = seconds(month);
  out.month_to_s = seconds(month + 1);
  out.now_s = now_s;
  const absl::StatusOr<CostReport> so_far = ReadCosts(history, view, out.month_from_s, now_s, kWindowsPerDay);
  if (!so_far.ok()) return so_far.status();
  const absl::StatusOr<CostReport> recent =
      ReadCosts(history, view, now_s - kRateDays * kDaySeconds, now_s, kWindowsPerDay);
  if (!recent.ok()) return recent.status();
  // A young account has fewer days.
  const int64_t since_s = recent->steps.empty() ? now_s : recent->steps.front().first.start_s();
  const auto left_s = static_cast<double>(out.month_to_s - now_s);
  for (const Budget& budget : budgets) {
    BudgetState& state = out.budgets.emplace_back(BudgetState{budget, BilledOf(budget, *so_far, prices), 0});
    const double rate =
        now_s > since_s ? BilledOf(budget, *recent, prices) / static_cast<double>(now_s - since_s) : 0;
    state.forecast = state.spent + rate * left_s;
  }
  return out;
}

absl::StatusOr<std::shared_ptr<const BudgetStates>> BudgetBook::States(History& history,
                                                                       const FleetView& view,
                                                                       const Prices& prices, int64_t now_s) {
  const std::lock_guard lock(mutex_);
  if (states_ != nullptr && window_ == view.window) return states_;
  absl::StatusOr<BudgetStates> states = StatesOf(budgets_, history, view, prices, now_s);
  if (!states.ok()) return states.status();
  states_ = std::make_shared<const BudgetStates>(*std::move(states));
  window_ = view.window;
  return states_;
}

}  // namespace taut
