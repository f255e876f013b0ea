// Notices about budgets. Each notice is returned once per month, or once per period of its budget.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "server/pool/budgets.h"

namespace taut::server {

struct BudgetNotice {
  std::string budget;  // name of the budget
  double share = 0;    // spent share of the budget; 0: the forecast exceeds the budget
  BudgetState state;
};
// Returns a sentence such as "team=shop: 80 % of the month's budget of 500 EUR are spent (412.30 EUR)".
// `prices_currency` is the currency of a budget without a currency of its own.
std::string Describe(const BudgetNotice& notice, const std::string& prices_currency);

// Finds the shares of budgets that were reached since the last call. Not thread-safe.
class BudgetWatch {
 public:
  // `shares` contains the shares of a budget that cause a notice, above 0 and ascending.
  explicit BudgetWatch(std::vector<double> shares) : shares_(std::move(shares)) {}
  // Returns the new notices since the last call: for each budget, the highest share that was reached. The first
  // call returns none, because an earlier start has already reported the current shares.
  std::vector<BudgetNotice> Look(const BudgetStates& states);

 private:
  struct Said {
    int64_t month_from_s = 0;
    double share = 0;  // highest share in a notice
    bool forecast = false;
  };
  std::vector<double> shares_;
  std::map<std::string, Said> said_;  // key: name of the budget
};

// Watches several sources of budgets separately, so that budgets with equal names do not collide. Not thread-safe.
class BudgetNews {
 public:
  // Returns the budgets of one source; empty if the source is not available.
  using Account = std::function<BudgetStates()>;
  // `shares` is as in BudgetWatch.
  BudgetNews(const std::vector<double>& shares, std::vector<Account> accounts);
  // Returns the new notices of each source, in the order of the sources. Cost per source: about 0.1 s with 100,000
  // jobs.
  std::vector<BudgetNotice> operator()();

 private:
  std::vector<Account> accounts_;
  std::vector<BudgetWatch> watches_;  // watches, one per source
};

}  // namespace taut::server
