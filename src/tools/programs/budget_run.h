// tautd's budgets from its settings: the file, the ledger beside the store, and what is due.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/api/budgets.h"
#include "server/config/daemon_config.h"
#include "server/pool/budget_desk.h"
#include "server/store/request_log.h"

namespace taut::tools {

// The definition of budgets.file. InvalidArgument or NotFound with every error, a line each: also of a
// currency that is not that of the prices, and of a group that quota.file does not have.
absl::StatusOr<brain::BudgetDefinition> ReadBudgets(const server::DaemonConfig& config);

// What each business and group with money has spent, for BudgetWatch: as budgets of the open period.
server::BudgetStates StatesOf(const server::BudgetView& view, int64_t now_s);

class BudgetRun {
 public:
  // Without log.
  using Options = server::BudgetDesk::Options;
  // REQUIRES: config.budgets.file is not empty. `options`: without definition, price, source, log and
  // on_entry. Errors as ReadBudgets, or of the log.
  static absl::StatusOr<std::unique_ptr<BudgetRun>> Open(const server::DaemonConfig& config, Options options);

  server::BudgetDesk* desk() { return desk_.get(); }
  // From the loop: what is due by the time, at most once a second. Failures are logged once.
  void Step(double steady_s);
  // Another file. Not OK: all stays as it was.
  absl::Status Reload(const server::DaemonConfig& config);
  // As StatesOf; none before the first window, or if the account cannot be read.
  server::BudgetStates states();

 private:
  BudgetRun() = default;

  std::unique_ptr<server::RequestLog> log_;
  std::unique_ptr<server::BudgetDesk> desk_;
  double next_s_ = 0;
  void SayHolds();

  brain::GroupHolds held_;  // that were logged
  std::string said_;        // the failure that was logged last
};

}  // namespace taut::tools
