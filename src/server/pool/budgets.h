// Budgets of labels: their costs in the current calendar month, and a forecast for the whole month.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/component.h"
#include "server/pool/costs.h"

namespace taut::server {

// A budget for each calendar month (UTC).
struct Budget {
  std::string label, value;  // label of the budget's jobs; "": all jobs
  double per_month = 0;      // amount above 0

  std::string name() const { return label.empty() ? "all" : label + "=" + value; }
};

struct BudgetState {
  Budget budget;
  double spent = 0;              // costs since the start of the month
  double forecast = 0;           // costs of the whole month if the rest is like the last 7 days
  std::string currency = {};     // currency; "": currency of the prices
  std::string period = "month";  // name of the period in texts: "the quarter's budget"
};
struct BudgetStates {
  int64_t month_from_s = 0, month_to_s = 0;
  int64_t now_s = 0;  // end of the time whose costs are included, Unix time
  std::vector<BudgetState> budgets;
};

// Computes the states from the account up to `now_s`. Returns errors of the history. O(account of the month and of
// the last 7 days).
absl::StatusOr<BudgetStates> StatesOf(const std::vector<Budget>& budgets, History& history,
                                      const FleetView& view, const Prices& prices, int64_t now_s);

// Budgets of labels at the prices of the configuration. Results are cached until the next window closes.
class LabelBudgets final : public Component {
 public:
  // `context` must outlive this object. Without budgets, there are no states and no metrics.
  LabelBudgets(PricesConfig config, const DaemonContext& context)
      : config_(std::move(config)), context_(context) {}

  std::string_view name() const override { return "prices.budgets"; }
  // Parses the budgets. Returns errors of ParseBudget().
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  bool empty() const { return budgets_.empty(); }
  // Returns the states at the end of the last window. Returns errors of the history. Thread-safe.
  absl::StatusOr<std::shared_ptr<const BudgetStates>> States() const;

 private:
  const PricesConfig config_;
  const DaemonContext& context_;
  std::vector<Budget> budgets_;
  mutable std::mutex mutex_;
  mutable std::optional<WindowId> window_;  // last window that states_ includes
  mutable std::shared_ptr<const BudgetStates> states_;
};

}  // namespace taut::server
