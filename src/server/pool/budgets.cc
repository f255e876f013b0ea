#include "server/pool/budgets.h"

#include <algorithm>

#include "absl/time/time.h"

namespace taut::server {
namespace {

constexpr int64_t kForecastDays = 7;

// Returns the labels of all budgets without duplicates.
std::vector<std::string> LabelsOf(const std::vector<Budget>& budgets) {
  std::vector<std::string> labels;
  for (const Budget& b : budgets) {
    if (!b.label.empty() && std::ranges::find(labels, b.label) == labels.end()) labels.push_back(b.label);
  }
  return labels;
}

// Returns the billed costs of the budget's jobs. `labels` are the labels by which the report is grouped.
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
  query.from_s = now_s - kForecastDays * kDaySeconds;
  const absl::StatusOr<CostReport> recent = ReadCosts(history, view, query);
  if (!recent.ok()) return recent.status();
  // A young account covers fewer days.
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

absl::Status LabelBudgets::Start() {
  for (const std::string& text : config_.budgets) {
    absl::StatusOr<BudgetLine> line = ParseBudget(text);
    if (!line.ok()) return line.status();
    budgets_.push_back({std::move(line->label), std::move(line->value), line->per_month});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const BudgetStates>> LabelBudgets::States() const {
  const std::shared_ptr<const FleetView> view = context_.control->view();
  const std::lock_guard lock(mutex_);
  if (states_ != nullptr && window_ == view->window) return states_;
  const int64_t now_s = view->window.has_value() ? view->window->next().start_s() : context_.now().seconds();
  absl::StatusOr<BudgetStates> states =
      StatesOf(budgets_, context_.control->history(), *view, PricesOf(config_), now_s);
  if (!states.ok()) return states.status();
  states_ = std::make_shared<const BudgetStates>(*std::move(states));
  window_ = view->window;
  return states_;
}

void LabelBudgets::Collect(MetricsText& out) const {
  if (budgets_.empty()) return;
  const absl::StatusOr<std::shared_ptr<const BudgetStates>> states = States();
  if (!states.ok()) return;  // the store's metrics report the error
  for (const BudgetState& state : (*states)->budgets) {
    const std::string name = state.budget.name();
    out.Gauge("tautd_budget_per_month", "Money of a budget for a calendar month.", state.budget.per_month,
              {{"budget", name}});
    out.Gauge("tautd_budget_spent", "Cost of its jobs since the month began.", state.spent,
              {{"budget", name}});
    out.Gauge("tautd_budget_forecast",
              "Forecast of the cost at the month's end, at the rate of the last 7 days.", state.forecast,
              {{"budget", name}});
  }
}

}  // namespace taut::server
