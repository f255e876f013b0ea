// Settings of the pool: prices, quota, budgets and machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::server {

// What a core and a GiB of memory cost for an hour; 0: not known, and no money is shown.
struct PricesConfig {
  double core_hour = 0, gib_hour = 0;
  std::string currency = "EUR";
  std::vector<std::string> budgets;                          // "LABEL=VALUE: AMOUNT"
  std::vector<std::string> alerts = {"50%", "80%", "100%"};  // shares of a budget that are notified
  std::string file = {};                                     // price file (price_file.h); "": no bills
};
// Money for a calendar month: of jobs with this value of a label, or of all.
struct BudgetLine {
  std::string label, value;  // "": all jobs
  double per_month = 0;
};
// The error says what is wanted.
absl::StatusOr<BudgetLine> ParseBudget(std::string_view text);

// Shares, ascending: "80%" is 0.8. The error says what is wanted.
absl::StatusOr<std::vector<double>> ParseBudgetAlerts(std::span<const std::string> texts);

// Who may use how much (src/server/pool/): the quota file and the rules by which jobs find their group.
struct QuotaConfig {
  std::string file;  // "": no quota
  std::string group = "{namespace}", tier;
  std::string default_tier = "production";
  int64_t start_within_s = 3600, gone_after_s = 900;
  size_t max_requests = 1000;  // of a group, waiting or holding quota, where the file does not say it
};

// Money of businesses and groups (src/server/pool/budget_service.h).
struct BudgetsConfig {
  std::string file;  // "": none
  int entries_per_day = 500;
};

// The machines of the cell (src/server/pool/).
struct MachinesConfig {
  double risk = 0.01;
};

// Where requests for quota come to by gRPC (src/server/pool/admission_server.h).
struct QuotaGrpcConfig {
  std::vector<std::string> listen;  // empty: off
  std::string certificate_file, key_file, client_ca_file;
};

}  // namespace taut::server
