// The daemon's budgets: their file, their ledger in the store, and periodic work.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/component.h"
#include "server/pool/budget_service.h"
#include "server/pool/budgets.h"
#include "server/pool/quota_component.h"

namespace taut::server {

// Returns the spending in the open period of each business and group with a budget, for BudgetWatch.
BudgetStates StatesOf(const BudgetView& view, int64_t now_s);

class BudgetComponent final : public Component {
 public:
  struct Options {
    BudgetsConfig config;
    PricesConfig prices;
    QuotaConfig quota;  // quota whose groups have budgets
    int keep_days = 0;  // retention of the account in days, from which spending is computed

    static Options Of(const DaemonConfig& config) {
      return {config.budgets, config.prices, config.quota, config.store.decision_days};
    }
  };
  // `quota` and `context` must outlive this object. REQUIRES: `options` has a budgets file.
  BudgetComponent(Options options, const QuotaComponent* quota, History* history,
                  const DaemonContext& context);

  std::string_view name() const override { return "budgets"; }
  // Returns the quota component, which must start first, because its groups have the budgets.
  std::span<const std::string_view> after() const override;
  // Returns the service; null before Start().
  BudgetService* service() { return service_.get(); }
  // Returns the reason why a group may not get more quota, because its budget is spent; "" if it may. Thread-safe.
  std::string WhyHeld(std::string_view group) const;
  // Starts the service. Returns errors of ReadBudgets() and of the log.
  absl::Status Start() override;
  // Calls BudgetService::Step() at most once a second. Logs each failure once.
  void Tick(const LoopTurn& turn) override;
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  // Returns StatesOf(current view). Returns an empty value before the first window, or if the account cannot be
  // read.
  BudgetStates states();

 private:
  void SayHolds();
  void SayEntry(const brain::BudgetEntry& entry, const std::string& text) const;

  const Options options_;
  const QuotaComponent* const quota_;
  History* const history_;
  const DaemonContext& context_;
  std::unique_ptr<BudgetService> service_;
  double next_s_ = 0;
  brain::GroupHolds held_;  // holds as last logged
  std::string said_;        // last logged failure
};

// Returns the definition in budgets.file. Returns InvalidArgument or NotFound with all errors, one per line. The
// currency must equal the prices' currency, and the groups must be in quota.file.
absl::StatusOr<brain::BudgetDefinition> ReadBudgets(const BudgetComponent::Options& options);

}  // namespace taut::server
