// The daemon's budgets: the file, the ledger beside the store, and what is due.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/component.h"
#include "server/pool/budget_service.h"
#include "server/pool/budgets.h"
#include "server/pool/quota_component.h"
#include "server/store/request_log.h"

namespace taut::server {

// What each business and group with money has spent, for BudgetWatch: as budgets of the open period.
BudgetStates StatesOf(const BudgetView& view, int64_t now_s);

class BudgetComponent final : public Component {
 public:
  struct Options {
    BudgetsConfig config;
    PricesConfig prices;
    QuotaConfig quota;  // whose groups have budgets
    int keep_days = 0;  // of the account that spending is read from

    static Options Of(const DaemonConfig& config) {
      return {config.budgets, config.prices, config.quota, config.store.decision_days};
    }
  };
  // `options`: with a budgets file. `quota` and `context` outlive it.
  BudgetComponent(Options options, const QuotaComponent* quota, History* history,
                  const DaemonContext& context);

  std::string_view name() const override { return "budgets"; }
  // The groups of the quota are paid for.
  std::span<const std::string_view> after() const override;
  // Null before Start.
  BudgetService* service() { return service_.get(); }
  // Returns why a group may not get more now: its budget is spent. "": it may. Thread-safe.
  std::string WhyHeld(std::string_view group) const;
  // Errors as ReadBudgets, or of the log.
  absl::Status Start() override;
  // What is due by the time, at most once a second. Failures are logged once.
  void Tick(const LoopTurn& turn) override;
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  // As StatesOf; none before the first window, or if the account cannot be read.
  BudgetStates states();

 private:
  void SayHolds();
  void SayEntry(const brain::BudgetEntry& entry, const std::string& text) const;

  const Options options_;
  const QuotaComponent* const quota_;
  History* const history_;
  const DaemonContext& context_;
  std::unique_ptr<RequestLog> log_;
  std::unique_ptr<BudgetService> service_;
  double next_s_ = 0;
  brain::GroupHolds held_;  // that were logged
  std::string said_;        // the failure that was logged last
};

// The definition of budgets.file. InvalidArgument or NotFound with every error, a line each: also of a
// currency that is not that of the prices, and of a group that quota.file does not have.
absl::StatusOr<brain::BudgetDefinition> ReadBudgets(const BudgetComponent::Options& options);

}  // namespace taut::server
