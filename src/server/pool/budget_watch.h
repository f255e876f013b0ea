// Notices about budgets: each is returned once per month, or per period of the budget.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "server/pool/budgets.h"

namespace taut::server {

struct BudgetNotice {
  std::string budget;  // name of the budget
  double share = 0;    // spent share of the budget that was reached; 0: the forecast exceeds the budget
  BudgetState state;
};
// Returns a sentence such as "team=shop: 80 % of the month's budget of 500 EUR are spent (412.30 EUR)".
// `prices_currency`: used for a budget without a currency.
std::string Describe(const BudgetNotice& notice, const std::string& prices_currency);

// Not thread-safe.
class BudgetWatch {
 public:
  // `shares` are above 0 and ascending.
  explicit BudgetWatch(std::vector<double> shares) : shares_(std::move(shares)) {}
  // Returns new notices since the last call: per budget, the highest share reached. The first call returns
  // none, because a previous start has already reported what is reached.
  std::vector<BudgetNotice> Look(const BudgetStates& states);

 private:
  struct Said {
    int64_t month_from_s = 0;
    double share = 0;  // highest one
    bool forecast = false;
  };
  std::vector<double> shares_;
  std::map<std::string, Said> said_;  // by budget
};

// Watches several accounts of budgets separately, so that equal names do not collide. Not thread-safe.
class BudgetNews {
 public:
  // Returns the budgets of an account; empty if it is not available at present.
  using Account = std::function<BudgetStates()>;
  // `shares`: as in BudgetWatch.
  BudgetNews(const std::vector<double>& shares, std::vector<Account> accounts);
  // Returns the new notices of each account, in order. One account takes about 0.1 s with 100,000 jobs.
  std::vector<BudgetNotice> operator()();

 private:
  std::vector<Account> accounts_;
  std::vector<BudgetWatch> watches_;  // of each
};

}  // namespace taut::server
