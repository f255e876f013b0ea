// The daemon's budgets: their file and the setting prices.budgets, the ledger in the store, and periodic work.
//
// Each budget in prices.budgets is a business that pays for one group: the jobs with a value of a label.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/component.h"
#include "server/pool/budget_service.h"
#include "server/pool/budget_watch.h"
#include "server/pool/quota_component.h"

namespace taut::server {

// Returns the groups of the setting prices.budgets, in the order of its lines. Returns InvalidArgument if a line
// is invalid.
absl::StatusOr<std::vector<LabelGroup>> LabelGroupsOf(const PricesConfig& prices);

// Returns the name of a label group in texts: "team=shop", or "all".
std::string TextOf(const LabelGroup& group);

// Returns the spending of each holder with a budget in the open period, for BudgetWatch. A budget of `labels` has
// the name that it has in the setting.
BudgetStates StatesOf(const BudgetView& view, std::span<const LabelGroup> labels, int64_t now_s);

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
  // `options` must have a budgets file or a budget of the setting. `quota` is null without quota.file, which a
  // budgets file requires. `quota` and `context` must outlive this object.
  BudgetComponent(Options options, const QuotaComponent* quota, History* history,
                  const DaemonContext& context);

  std::string_view name() const override { return "budgets"; }
  // Returns the quota component, which must start first, because its groups have the budgets.
  std::span<const std::string_view> after() const override;
  // Returns the service; null before Start().
  BudgetService* service() { return service_.get(); }
  // Returns the reason why a group with a spent budget may not get more quota; "" if the group may. Thread-safe.
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
  brain::GroupHolds held_;  // last logged holds
  std::string said_;        // last logged failure
};

// Returns the definition in budgets.file and prices.budgets. InvalidArgument or NotFound with all errors, one per
// line. The file must use the currency of the prices, and its groups must be in quota.file.
absl::StatusOr<brain::BudgetDefinition> ReadBudgets(const BudgetComponent::Options& options);

}  // namespace taut::server
