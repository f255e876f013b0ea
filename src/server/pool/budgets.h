// What the jobs of a budget cost in this calendar month, and what the month will end with.
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

// Money for a calendar month of UTC.
struct Budget {
  std::string label, value;  // of its jobs; label "": all jobs
  double per_month = 0;      // > 0

  std::string name() const { return label.empty() ? "all" : label + "=" + value; }
};

struct BudgetState {
  Budget budget;
  double spent = 0;              // since the month began
  double forecast = 0;           // at the month's end: spent, and the rest of the month as the last 7 days
  std::string currency = {};     // "": that of the prices
  std::string period = "month";  // in texts: "the quarter's budget"
};
struct BudgetStates {
  int64_t month_from_s = 0, month_to_s = 0;
  int64_t now_s = 0;  // up to where is counted
  std::vector<BudgetState> budgets;
};

// As the account has it up to `now_s`. O(account of the month and of the last 7 days).
absl::StatusOr<BudgetStates> StatesOf(const std::vector<Budget>& budgets, History& history,
                                      const FleetView& view, const Prices& prices, int64_t now_s);

// Budgets of labels, by the prices of the configuration. Keeps what was computed until another window has closed.
class LabelBudgets final : public Component {
 public:
  // Without budgets it has no states and no metrics. `context` outlives it.
  LabelBudgets(PricesConfig config, const DaemonContext& context)
      : config_(std::move(config)), context_(context) {}

  std::string_view name() const override { return "prices.budgets"; }
  // InvalidArgument as ParseBudget.
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  bool empty() const { return budgets_.empty(); }
  // Up to the end of the last window. Errors of the account's store. Thread-safe.
  absl::StatusOr<std::shared_ptr<const BudgetStates>> States() const;

 private:
  const PricesConfig config_;
  const DaemonContext& context_;
  std::vector<Budget> budgets_;
  mutable std::mutex mutex_;
  mutable std::optional<WindowId> window_;  // that states_ are of
  mutable std::shared_ptr<const BudgetStates> states_;
};

}  // namespace taut::server
