// Settings of the pool: prices, quota, budgets and machines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/resource.h"

namespace taut::server {

// Prices per hour of each resource's unit: a core, a GiB of memory. 0: the price is unknown.
struct PricesConfig {
  PerResource<double> per_hour{};
  // Returns true if a price is above 0; otherwise no costs are shown.
  bool any() const {
    return std::ranges::any_of(per_hour, [](double price) { return price > 0; });
  }
  std::string currency = "EUR";
  std::vector<std::string> budgets;  // budgets in the form "LABEL=VALUE: AMOUNT"
  // Shares of a budget at which a notification is sent.
  std::vector<std::string> alerts = {"50%", "80%", "100%"};
  std::string file = {};  // path of the price file (price_file.h); "": no bills
};
// Budget of a calendar month for the jobs with one value of a label, or for all jobs.
struct BudgetLine {
  std::string label, value;  // label of the jobs and its value; "": all jobs
  double per_month = 0;
};
// Parses a line such as "LABEL=VALUE: AMOUNT". Returns InvalidArgument if the line is malformed.
absl::StatusOr<BudgetLine> ParseBudget(std::string_view text);

// Parses shares, ascending: "80%" is 0.8. Returns InvalidArgument if a share is malformed.
absl::StatusOr<std::vector<double>> ParseBudgetAlerts(std::span<const std::string> texts);

// The quota file, and rules that assign jobs to groups (src/server/pool/).
struct QuotaConfig {
  std::string file;  // path of the quota file; "": no quota
  std::string group = "{namespace}", tier;
  std::string default_tier = "production";
  int64_t start_within_s = 3600, gone_after_s = 900;
  // Maximum number of a group's requests that wait for quota or hold quota, unless the quota file sets another
  // number.
  size_t max_requests = 1000;
};

// Budgets of businesses and groups (src/server/pool/budget_service.h).
struct BudgetsConfig {
  std::string file;  // path of the budgets file; "": disabled
  int entries_per_day = 500;
};

// Machines of the cell (src/server/pool/).
struct MachinesConfig {
  double risk = 0.01;
};

// gRPC listener for requests for quota (src/server/pool/admission_server.h).
struct QuotaGrpcConfig {
  std::vector<std::string> listen;  // listen addresses; empty: disabled
  std::string certificate_file, key_file, client_ca_file;
};

}  // namespace taut::server
