// The daemon's budgets: their file, the ledger in the store, and periodic work.
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

// Returns the spending of each business and group with a budget in the open period, for BudgetWatch.
BudgetStates StatesOf(const BudgetView& view, int64_t now_s);

class BudgetComponent final : public Component {
 public:
  struct Options {
    BudgetsConfig config;
    PricesConfig prices;
    QuotaConfig quota;  // quota whose groups have budgets
    int keep_days = 0;  // retention of the account, from which spending is computed

    static Options Of(const DaemonConfig& config) {
      return {config.budgets, config.prices, config.quota, config.store.decision_days};
    }
  };
  // `options` must have a budgets file. `quota` and `context` must outlive this object.
  BudgetComponent(Options options, const QuotaComponent* quota, History* history,
                  const DaemonContext& context);

  std::string_view name() const override { return "budgets"; }
  // Returns the quota component: budgets start after it, because its groups have the budgets.
  std::span<const std::string_view> after() const override;
  // Returns the service; null before Start.
  BudgetService* service() { return service_.get(); }
  // Returns the reason why a group may not get more quota at present, because its budget is spent; "" if the
  // group may get more. Thread-safe.
  std::string WhyHeld(std::string_view group) const;
  // Starts the service. Errors as ReadBudgets; errors of the log.
  absl::Status Start() override;
  // Calls BudgetService::Step, at most once a second. Logs each failure once.
  void Tick(const LoopTurn& turn) override;
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  // Returns StatesOf the present view; empty before the first window, or if the account cannot be read.
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
  brain::GroupHolds held_;  // holds that were logged last
  std::string said_;        // last failure that was logged
};

// Returns the definition in budgets.file. InvalidArgument or NotFound with all errors, one per line. The
// definition's currency must equal the prices' currency, and its groups must be in quota.file.
absl::StatusOr<brain::BudgetDefinition> ReadBudgets(const BudgetComponent::Options& options);

}  // namespace taut::server
