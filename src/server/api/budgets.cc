#include "server/api/budgets.h"

#include <algorithm>

#include "absl/time/time.h"

namespace taut::server {
namespace {

constexpr int64_t kRateDays = 7;

// The labels of all budgets, each once.
std::vector<std::string> LabelsOf(const std::vector<Budget>& budgets) {
  std::vector<std::string> labels;
  for (const Budget& b : budgets) {
    if (!b.label.empty() && std::ranges::find(labels, b.label) == labels.end()) labels.push_back(b.label);
  }
  return labels;
}

// `labels`: that the report is grouped by.
double BilledOf(const Budget& budget, const std::vector<std::string>& labels, const CostReport& report,
                const Prices& prices) {
  const auto at = static_cast<size_t>(std::ranges::find(labels, budget.label) - labels.begin());
  AccountEntry sums;
  for (const CostGroup& group : report.groups) {
    if (budget.label.empty() || group.values[at] == budget.value) sums.Add(group.sums);
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
  CostQuery query{.from_s = out.month_from_s, .to_s = now_s, .by = LabelsOf(budgets)};
  const absl::StatusOr<CostReport> so_far = ReadCosts(history, view, query);
  if (!so_far.ok()) return so_far.status();
  query.from_s = now_s - kRateDays * kDaySeconds;
  const absl::StatusOr<CostReport> recent = ReadCosts(history, view, query);
  if (!recent.ok()) return recent.status();
  // A young account has fewer days.
  const int64_t since_s = recent->steps.empty() ? now_s : recent->steps.front().first.start_s();
  const auto left_s = static_cast<double>(out.month_to_s - now_s);
  for (const Budget& budget : budgets) {
    BudgetState& state =
        out.budgets.emplace_back(BudgetState{budget, BilledOf(budget, query.by, *so_far, prices), 0});
    const double rate =
        now_s > since_s ? BilledOf(budget, query.by, *recent, prices) / static_cast<double>(now_s - since_s)
                        : 0;
    state.forecast = state.spent + rate * left_s;
  }
  return out;
}

absl::StatusOr<std::shared_ptr<const BudgetStates>> LabelBudgets::States(History& history,
                                                                         const FleetView& view,
                                                                         const Prices& prices,
                                                                         int64_t now_s) {
  const std::lock_guard lock(mutex_);
  if (states_ != nullptr && window_ == view.window) return states_;
  absl::StatusOr<BudgetStates> states = StatesOf(budgets_, history, view, prices, now_s);
  if (!states.ok()) return states.status();
  states_ = std::make_shared<const BudgetStates>(*std::move(states));
  window_ = view.window;
  return states_;
}

}  // namespace taut::server
